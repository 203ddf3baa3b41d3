"""Words to pick from and parts of a page's picture, through the API."""

import io

import pytest
from django.core.files.base import ContentFile
from PIL import Image
from rest_framework.test import APIClient

from review.models import Document
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import picture
from tests.review.page_reads import read_as


def path(document: Document, what: str, number: int = 1) -> str:
    return f"/api/v1/projects/receipts/documents/{document.pk}/pages/{number}/{what}/"


@pytest.fixture
def document(cast: Cast) -> Document:
    document = factories.make_routed(cast.document_type)
    document.pages.get().image.save("page.jpg", ContentFile(picture(size=(200, 300))))
    return document


def test_the_words_of_a_page_come_with_their_boxes(document: Document, as_viewer: APIClient) -> None:
    read_as(document.pages.get(), "TOTAL 9.00")
    answer = as_viewer.get(path(document, "words"))
    assert answer.status_code == 200
    found = answer.json()
    assert (found["page_number"], found["width"], found["height"], found["is_read"]) == (1, 800, 1600, True)
    assert [word["text"] for word in found["words"]] == ["TOTAL", "9.00"]
    assert found["words"][0]["bbox"] == [0.1, 0.0, 0.30000000000000004, 0.05]
    assert found["words"][0]["score"] == 0.9


def test_an_unread_page_says_so(document: Document, as_viewer: APIClient) -> None:
    found = as_viewer.get(path(document, "words")).json()
    assert (found["is_read"], found["words"]) == (False, [])


def test_words_are_sent_once_until_the_page_is_read_again(document: Document, as_viewer: APIClient) -> None:
    page = document.pages.get()
    read_as(page, "old")
    first = as_viewer.get(path(document, "words"))
    assert first["Cache-Control"] == "private, no-cache"
    again = as_viewer.get(path(document, "words"), HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    read_as(page, "new", name="other")
    changed = as_viewer.get(path(document, "words"), HTTP_IF_NONE_MATCH=first["ETag"])
    assert [word["text"] for word in changed.json()["words"]] == ["new"]


def test_a_crop_is_a_picture_that_may_be_kept(document: Document, as_viewer: APIClient) -> None:
    answer = as_viewer.get(path(document, "crop"), {"bbox": "0.25,0.5,0.75,0.75"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert "immutable" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    with Image.open(io.BytesIO(answer.content)) as crop:
        assert crop.size == (100, 75)
    again = as_viewer.get(path(document, "crop"), {"bbox": "0.25,0.5,0.75,0.75"}, HTTP_IF_NONE_MATCH=answer["ETag"])
    assert again.status_code == 304
    other = as_viewer.get(path(document, "crop"), {"bbox": "0.25,0.5,0.75,0.8"}, HTTP_IF_NONE_MATCH=answer["ETag"])
    assert other.status_code == 200


@pytest.mark.parametrize(
    "bbox",
    ["", "0,0,1", "0,0,1,1,1", "a,b,c,d", "0.5,0,0.5,1", "0,0.9,1,0.1", "0,0,1,1.1", "-0.1,0,1,1", "0,0,nan,inf"],
)
def test_what_is_no_box_is_refused_with_its_place(bbox: str, document: Document, as_viewer: APIClient) -> None:
    answer = as_viewer.get(path(document, "crop"), {"bbox": bbox})
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]] == ["/bbox"]


@pytest.mark.parametrize("what", ["words", "crop"])
def test_a_page_that_does_not_exist_is_not_found(what: str, document: Document, as_viewer: APIClient) -> None:
    assert as_viewer.get(path(document, what, 2), {"bbox": "0,0,1,1"}).status_code == 404


@pytest.mark.parametrize("what", ["words", "crop"])
def test_strangers_see_no_page(what: str, document: Document, as_stranger: APIClient) -> None:
    assert as_stranger.get(path(document, what), {"bbox": "0,0,1,1"}).status_code == 404


def test_a_duplicate_shows_the_words_of_the_first(cast: Cast, document: Document, as_viewer: APIClient) -> None:
    read_as(document.pages.get(), "first")
    copy = factories.make_document(cast.document_type, duplicate_of=document)
    found = as_viewer.get(path(copy, "words")).json()
    assert [word["text"] for word in found["words"]] == ["first"]
