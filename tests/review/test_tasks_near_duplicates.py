"""A page that looks the same as one that was read is not read again; one that differs in a digit always is."""

import io
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from PIL import Image, ImageDraw
from pytest_django import Settings

from review.actions.intake import receive_document
from review.models import AuditEntry, Document, DocumentType, ExtractionRun, Page, PageRead, Reading, Record
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.queueing import work_off
from tests.review.vlm import answering, read_with_vlm


def receipt(total: str = "13.80", quality: int = 95) -> bytes:
    """A page of print, through JPEG at that quality."""
    page = Image.new("L", (400, 640), 250)
    draw = ImageDraw.Draw(page)
    for row in range(18):
        draw.text((24 + row % 3 * 20, 20 + 30 * row), f"ITEM {row:02} x{row % 4 + 1}    RM {row * 7 % 50}.50", fill=40)
    draw.text((200, 590), f"TOTAL {total}", fill=30)
    buffer = io.BytesIO()
    page.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def send(document_type: DocumentType, data: bytes) -> Document:
    document = receive_document(
        actor=SYSTEM, project=document_type.project, document_type=document_type, file=ContentFile(data), filename="x"
    ).document
    work_off()
    document.refresh_from_db()
    return document


def reads() -> list[tuple[bool, bool]]:
    return list(PageRead.objects.order_by("pk").values_list("is_cached", "is_near_duplicate"))


READ, FOUND = (False, False), (True, True)


def test_a_copy_that_was_encoded_anew_takes_the_reading_over(cast: Cast, script: Script) -> None:
    for data in (receipt(), receipt(quality=90), receipt(quality=93)):
        assert send(cast.document_type, data).status == "stored"
    assert reads() == [READ, FOUND, FOUND]
    assert Reading.objects.count() == 1
    assert Record.objects.count() == 3
    assert list(ExtractionRun.objects.order_by("pk").values_list("cpu_seconds", flat=True))[1:] == [0.0, 0.0]


def test_a_hit_is_marked_told_and_counted(cast: Cast, script: Script) -> None:
    for quality in (95, 90):
        send(cast.document_type, receipt(quality=quality))
    details = [entry.detail for entry in AuditEntry.objects.filter(action="document.page_read").order_by("pk")]
    assert [detail.get("is_near_duplicate", False) for detail in details] == [False, True]
    assert "stet_pages_near_duplicate_total 1.0" in Client().get("/metrics").content.decode()


@pytest.mark.parametrize("total", ["18.80", "13.88", "13.30", "43.80"])
def test_a_receipt_that_differs_in_one_digit_is_read(cast: Cast, script: Script, total: str) -> None:
    for data in (receipt(), receipt(total)):
        send(cast.document_type, data)
    assert reads() == [READ, READ]


def test_another_project_is_never_looked_into(cast: Cast, script: Script) -> None:
    send(cast.document_type, receipt())
    send(cast.other_document_type, receipt(quality=90))
    assert reads() == [READ, READ]


def test_what_another_engine_version_read_is_not_taken_over(cast: Cast, script: Script) -> None:
    send(cast.document_type, receipt())
    script(default={"words": []})
    send(cast.document_type, receipt(quality=90))
    assert reads() == [READ, READ]


def test_an_answer_to_another_question_is_not_taken_over(cast: Cast, script: Script) -> None:
    read_with_vlm(cast.project)
    script(default=answering())
    other = factories.make_document_type(cast.project, "bill", factories.SCHEMA | {"x-label": {"en": "Bill"}})
    for document_type, quality in [(cast.document_type, 95), (other, 90), (cast.document_type, 92)]:
        send(document_type, receipt(quality=quality))
    assert reads() == [READ, READ, FOUND]


def test_none_is_looked_for_where_the_house_wants_none(cast: Cast, script: Script, settings: Settings) -> None:
    settings.STET_NEAR_DUPLICATE_PAGES = 0
    for quality in (95, 90):
        send(cast.document_type, receipt(quality=quality))
    assert reads() == [READ, READ]


def test_only_the_newest_pages_are_looked_at(cast: Cast, script: Script, settings: Settings) -> None:
    settings.STET_NEAR_DUPLICATE_PAGES = 1
    for data in (receipt(), receipt("99.99"), receipt(quality=90)):
        send(cast.document_type, data)
    assert reads() == [READ, READ, READ]


def test_a_page_whose_file_is_gone_proves_nothing(cast: Cast, script: Script) -> None:
    send(cast.document_type, receipt())
    Path(Page.objects.get().image.path).unlink()
    assert send(cast.document_type, receipt(quality=90)).status == "stored"
    assert reads() == [READ, READ]


def test_pages_keep_what_they_look_like(cast: Cast, script: Script) -> None:
    send(cast.document_type, receipt())
    page = Page.objects.get()
    assert len(page.perceptual_hash) == 16
    assert Reading.objects.get().perceptual_hash == page.perceptual_hash
