"""Files are streamed byte for byte, cached by content, and never run as anything else."""

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.base import ContentFile
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from django.test import AsyncClient, AsyncRequestFactory
from rest_framework.request import Request
from rest_framework.test import APIClient

from review.actions.tenancy import create_token
from review.api.files import CHUNK_BYTES, file_response, media_type_of, safe_filename
from review.models import Document, Page, Role
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast


def original(document: Document) -> str:
    return f"/api/v1/projects/receipts/documents/{document.pk}/original/"


def page_image(document: Document, number: object = 1) -> str:
    return f"/api/v1/projects/receipts/documents/{document.pk}/pages/{number}/image/"


def content_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def test_the_original_comes_back_byte_for_byte(cast: Cast, as_viewer: APIClient) -> None:
    content = bytes(range(256)) * 5000
    document = factories.make_document(
        cast.document_type,
        original=ContentFile(content, name="a.pdf"),
        media_type="application/pdf",
        sha256=hashlib.sha256(content).hexdigest(),
        filename="Rechnung März.pdf",
    )
    answer = as_viewer.get(original(document))
    assert content_of(answer) == content
    assert answer["Content-Length"] == str(len(content))
    assert answer["Content-Type"] == "application/pdf"
    assert answer["ETag"] == f'"{document.sha256}"'
    assert answer["Cache-Control"].startswith("private")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''Rechnung%20M%C3%A4rz.pdf"


def test_a_client_that_has_the_file_is_not_sent_it_again(cast: Cast, as_viewer: APIClient) -> None:
    document = factories.make_document(cast.document_type)
    tag = f'"{document.sha256}"'
    answer = as_viewer.get(original(document), HTTP_IF_NONE_MATCH=f'"other", {tag}')
    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag)
    stale = as_viewer.get(original(document), HTTP_IF_NONE_MATCH='"other"')
    assert stale.status_code == 200
    assert content_of(stale)


def test_knowing_the_etag_opens_nothing(cast: Cast, as_stranger: APIClient) -> None:
    document = factories.make_document(cast.document_type)
    answer = as_stranger.get(original(document), HTTP_IF_NONE_MATCH=f'"{document.sha256}"')
    assert answer.status_code == 404


def test_a_page_is_shown_in_place(cast: Cast, as_viewer: APIClient) -> None:
    document = factories.make_routed(cast.document_type)
    answer = as_viewer.get(page_image(document), HTTP_ACCEPT="image/webp")
    assert content_of(answer) == b"page"
    assert answer["Content-Type"] == "image/jpeg"
    assert answer["ETag"] == f'"{Page.objects.get().content_hash}"'
    assert answer["Content-Disposition"].startswith("inline")


@pytest.mark.parametrize("number", [0, 2, "x", "99999999999", -1])
def test_a_page_that_is_none_is_not_found(cast: Cast, as_viewer: APIClient, number: object) -> None:
    assert as_viewer.get(page_image(factories.make_routed(cast.document_type), number)).status_code == 404


def test_a_duplicate_shows_the_pages_of_what_it_repeats(cast: Cast, as_viewer: APIClient) -> None:
    first = factories.make_routed(cast.document_type)
    duplicate = factories.make_document(cast.document_type, duplicate_of=first)
    assert content_of(as_viewer.get(page_image(duplicate))) == b"page"


@pytest.mark.parametrize("is_named", [True, False])
def test_a_file_that_the_storage_lost_is_missing_not_broken(cast: Cast, as_viewer: APIClient, is_named: bool) -> None:
    document = factories.make_document(cast.document_type)
    document.original.storage.delete(document.original.name or "")
    if not is_named:
        Document.objects.update(original="")
    answer = as_viewer.get(original(document))
    assert (answer.status_code, answer.json()["code"]) == (404, "file_missing")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.jpg", "a.jpg"),
        ("../../etc/passwd", "passwd"),
        ("C:\\scans\\a.jpg", "a.jpg"),
        ("a\r\nX-Evil: 1.jpg", "aX-Evil: 1.jpg"),
        ("invoice\u202egpj.exe", "invoicegpj.exe"),
        ("收据.jpg", "收据.jpg"),
        ("...", "file"),
        ("", "file"),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_file_name_cannot_do_harm(name: str, safe: str) -> None:
    assert safe_filename(name) == safe


def test_a_hostile_name_reaches_no_header(cast: Cast, as_viewer: APIClient) -> None:
    document = factories.make_document(cast.document_type, filename='a"\r\nSet-Cookie: x=1; b.html')
    answer = as_viewer.get(original(document))
    assert content_of(answer)
    assert "\n" not in answer["Content-Disposition"]
    assert "Set-Cookie" not in answer.headers
    assert answer["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("name", "media_type"), [("a.webp", "image/webp"), ("a.png", "image/png"), ("a", "application/octet-stream")]
)
def test_a_media_type_follows_our_name(name: str, media_type: str) -> None:
    assert media_type_of(name) == media_type


async def test_under_asgi_a_file_is_read_piece_by_piece_and_closed(tmp_path: Any) -> None:
    class Opened:
        def __init__(self) -> None:
            self.sizes: list[int] = []
            self.is_closed = False

        def read(self, size: int) -> bytes:
            self.sizes.append(size)
            return b"x" if len(self.sizes) < 4 else b""

        def close(self) -> None:
            self.is_closed = True

    opened = Opened()

    class Storage:
        def exists(self, name: str) -> bool:
            return True

        def open(self, name: str, mode: str) -> Opened:
            return opened

    class Stored:
        name, size, storage = "a.jpg", 3, Storage()

    request = Request(AsyncRequestFactory().get("/"))
    assert isinstance(request._request, ASGIRequest)
    response: Any = file_response(
        request,
        Stored(),  # type: ignore[arg-type]
        etag="e",
        media_type="image/jpeg",
        filename="a.jpg",
        is_attachment=True,
    )
    assert response.is_async
    stream: AsyncIterator[bytes] = response.streaming_content
    assert [part async for part in stream] == [b"x", b"x", b"x"]
    assert opened.sizes == [CHUNK_BYTES] * 4
    assert opened.is_closed
    assert response["Content-Length"] == "3"


@pytest.mark.django_db(transaction=True)
async def test_the_whole_way_under_asgi_streams_without_a_warning(cast: Cast) -> None:
    content = b"page" * CHUNK_BYTES

    def prepare() -> tuple[str, str]:
        document = factories.make_document(cast.document_type, original=ContentFile(content, name="a.jpg"))
        token = create_token(actor=SYSTEM, project=cast.project, user=cast.viewer, role=Role.VIEWER)
        return original(document), token.secret

    path, secret = await sync_to_async(prepare)()
    answer: Any = await AsyncClient().get(path, headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, answer["Content-Length"]) == (200, str(len(content)))
    parts = [part async for part in answer.streaming_content]
    # The thread that answered keeps a connection, in the way of whoever drops the test database.
    await sync_to_async(connections.close_all)()
    assert b"".join(parts) == content
    assert len(parts) == 4
