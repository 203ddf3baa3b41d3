"""Files come in whole or not at all, once, and are promised to the workers in the same transaction."""

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from django.core.files.base import ContentFile, File
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.utils import translation
from PIL import Image
from pytest_django import Settings

from inference.errors import EngineUnavailableError, UnreadableFileError
from inference.imaging.limits import Limits
from review.actions import intake
from review.actions._refusals import refusal
from review.actions.intake import ReceivedDocument, file_limits, original_name, receive_document
from review.exceptions import InvalidInputError, RefusedFileError
from review.models import AuditEntry, Document, DocumentStatus, Event
from review.selectors.access import SYSTEM, Actor
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import queued, work_off


def send(cast: Cast, data: bytes, filename: str = "scan.jpg", **values: Any) -> ReceivedDocument:
    ours = {"actor": Actor(cast.reviewer), "project": cast.project, "document_type": cast.document_type}
    values = {**ours, **values}
    return receive_document(file=ContentFile(data), filename=filename, **values)


def stored_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_original_is_kept_byte_for_byte(cast: Cast, script: Script) -> None:
    data = picture()
    document = send(cast, data).document
    assert Path(document.original.path).read_bytes() == data
    assert document.original.name == original_name(cast.project.pk, hashlib.sha256(data).hexdigest())
    assert (document.sha256, document.n_bytes) == (hashlib.sha256(data).hexdigest(), len(data))


def test_a_received_document_is_queued_audited_and_heard_of(cast: Cast, script: Script) -> None:
    received = send(cast, picture(), priority=7)
    document = received.document
    assert not received.is_duplicate
    assert (document.status, document.priority, document.uploaded_by) == ("received", 7, cast.reviewer)
    assert queued() == [("open_document", document.pk)]
    entry = AuditEntry.objects.get(action="document.received")
    assert (entry.actor, entry.object_id) == (cast.reviewer, str(document.pk))
    event = Event.objects.get(name="document.received")
    assert event.payload["document_id"] == document.pk


@pytest.mark.parametrize(("kind", "media_type"), [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("TIFF", "image/tiff")])
def test_the_type_is_told_by_content_not_by_name(cast: Cast, script: Script, kind: str, media_type: str) -> None:
    assert send(cast, picture(kind=kind), "letter.pdf").document.media_type == media_type


def test_the_number_of_pages_is_known_from_the_start(cast: Cast, script: Script) -> None:
    assert send(cast, picture(kind="TIFF", n_pages=3)).document.n_pages == 3


def encrypted_pdf() -> bytes:
    return b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n" + (
        b"3 0 obj<</Filter/Standard/V 1/R 2/O<28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>"
        b"/U<28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A>/P -44>>endobj\n"
        b"trailer<</Root 1 0 R/Encrypt 3 0 R/Size 4/ID[<00><00>]>>\n%%EOF\n"
    )


def empty_pdf() -> bytes:
    buffer = io.BytesIO()
    pypdfium2.PdfDocument.new().save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"", "empty_file", "empty"),
        (b"hello, this is a letter\n" * 20, "unknown_type", "text file"),
        (b"PK\x03\x04" + b"\0" * 200, "unknown_type", "archive"),
        (picture()[:-200], "truncated", "cut short"),
        (encrypted_pdf(), "encrypted", "password"),
        (empty_pdf(), "no_pages", "no page"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_remedy(
    cast: Cast, script: Script, data: bytes, code: str, says: str
) -> None:
    with pytest.raises(RefusedFileError) as refused:
        send(cast, data)
    assert refused.value.code == code
    assert says in str(refused.value.message)
    assert not Document.objects.exists()
    assert queued() == []


def test_a_refused_file_leaves_nothing_on_disk(cast: Cast, script: Script, settings: Settings) -> None:
    with pytest.raises(RefusedFileError):
        send(cast, b"not a scan")
    assert stored_files(Path(settings.MEDIA_ROOT)) == []
    assert stored_files(Path(settings.FILE_UPLOAD_TEMP_DIR)) == []


def test_a_file_above_the_limit_is_refused_before_it_is_all_copied(
    cast: Cast, script: Script, settings: Settings
) -> None:
    settings.STET_MAX_BYTES = 3_000_000
    n_given = 0

    class Endless(File):  # type: ignore[type-arg]
        def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
            nonlocal n_given
            while True:
                n_given += 1
                yield b"\xff" * 1_000_000

    with pytest.raises(RefusedFileError) as refused:
        receive_document(
            actor=SYSTEM,
            project=cast.project,
            document_type=cast.document_type,
            file=Endless(io.BytesIO(), name="endless"),
            filename="endless",
        )
    assert refused.value.code == "too_many_bytes"
    assert "3 MB" in str(refused.value.message)
    assert n_given == 4
    assert stored_files(Path(settings.FILE_UPLOAD_TEMP_DIR)) == []


def test_a_bomb_is_refused_by_its_header(cast: Cast, script: Script, settings: Settings) -> None:
    settings.STET_MAX_PIXELS = 1_000_000
    buffer = io.BytesIO()
    Image.new("1", (2000, 2000)).save(buffer, "PNG")
    with pytest.raises(RefusedFileError) as refused:
        send(cast, buffer.getvalue())
    assert refused.value.code == "too_many_pixels"


def test_too_many_pages_are_refused(cast: Cast, script: Script, settings: Settings) -> None:
    settings.STET_MAX_PAGES = 2
    with pytest.raises(RefusedFileError) as refused:
        send(cast, picture(kind="TIFF", n_pages=3))
    assert refused.value.code == "too_many_pages"
    assert "2 pages" in str(refused.value.message)


def test_the_refusal_is_in_the_readers_language(cast: Cast, script: Script) -> None:
    with translation.override("en"), pytest.raises(RefusedFileError) as refused:
        send(cast, b"")
    assert isinstance(refused.value.message, str)


def test_a_second_copy_is_linked_and_not_read_again(cast: Cast, script: Script, settings: Settings) -> None:
    first = send(cast, picture()).document
    second = send(cast, picture(), "again.jpg")
    assert second.is_duplicate
    assert second.document.duplicate_of == first
    assert queued() == [("open_document", first.pk)]
    assert len(stored_files(Path(settings.MEDIA_ROOT))) == 1


def test_a_second_copy_of_a_finished_document_is_finished_at_once(cast: Cast, script: Script) -> None:
    first = send(cast, picture()).document
    work_off()
    first.refresh_from_db()
    second = send(cast, picture()).document
    assert first.status == "stored"
    assert (second.status, second.band, second.n_pages, second.n_pages_read) == (first.status, first.band, 1, 1)
    assert second.reasons[0] == "duplicate"
    assert second.finished_at == first.finished_at


def test_a_second_copy_that_waits_ends_with_the_first(cast: Cast, script: Script) -> None:
    send(cast, picture())
    second = send(cast, picture()).document
    work_off()
    second.refresh_from_db()
    assert second.status == "stored"
    assert Event.objects.filter(name="document.routed", payload__document_id=second.pk).exists()


def test_a_third_copy_repeats_the_first_not_the_second(cast: Cast, script: Script) -> None:
    first = send(cast, picture()).document
    send(cast, picture())
    assert send(cast, picture()).document.duplicate_of == first


def test_a_copy_of_an_unreadable_document_is_read_anew(cast: Cast, script: Script) -> None:
    first = send(cast, picture()).document
    Document.objects.filter(pk=first.pk).update(status=DocumentStatus.UNREADABLE)
    assert not send(cast, picture()).is_duplicate


def test_the_same_bytes_of_another_type_or_project_are_no_duplicate(cast: Cast, script: Script) -> None:
    send(cast, picture())
    other_type = factories.make_document_type(cast.project, "invoice")
    assert not send(cast, picture(), document_type=other_type).is_duplicate
    elsewhere: dict[str, Any] = {"project": cast.other_project, "document_type": cast.other_document_type}
    assert not send(cast, picture(), **elsewhere).is_duplicate


def test_tenants_share_no_file(cast: Cast, script: Script, settings: Settings) -> None:
    send(cast, picture())
    send(cast, picture(), project=cast.other_project, document_type=cast.other_document_type)
    assert len(stored_files(Path(settings.MEDIA_ROOT))) == 2


def test_a_callers_own_file_stays_where_it_is(cast: Cast, script: Script, tmp_path: Path) -> None:
    path = tmp_path / "scan.jpg"
    path.write_bytes(picture())
    with path.open("rb") as opened:
        receive_document(
            actor=SYSTEM,
            project=cast.project,
            document_type=cast.document_type,
            file=File(opened),
            filename=path.name,
        )
    assert path.read_bytes() == picture()


def test_an_upload_is_moved_not_copied(cast: Cast, script: Script, settings: Settings) -> None:
    upload = TemporaryUploadedFile("scan.jpg", "image/jpeg", 0, None)
    upload.write(picture())
    upload.flush()
    upload.seek(0)
    inode = Path(upload.temporary_file_path()).stat().st_ino
    document = receive_document(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, file=upload, filename="scan.jpg"
    ).document
    assert Path(document.original.path).stat().st_ino == inode
    upload.close()
    assert Path(document.original.path).read_bytes() == picture()
    assert stored_files(Path(settings.FILE_UPLOAD_TEMP_DIR)) == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("C:\\Scans\\März 1.jpg", "März 1.jpg"),
        ("../../etc/passwd", "passwd"),
        ("a\nb\x00c.jpg", "abc.jpg"),
        ("x" * 300 + ".jpeg", "x" * 250 + ".jpeg"),
        ("x" * 300, "x" * 255),
        ("", "unnamed"),
        ("收据 1.pdf", "收据 1.pdf"),
    ],
)
def test_names_are_kept_as_far_as_they_are_names(cast: Cast, script: Script, given: str, kept: str) -> None:
    assert send(cast, picture(), given).document.filename == kept


@pytest.mark.parametrize("priority", [-101, 101, 40_000])
def test_a_priority_out_of_range_is_refused(cast: Cast, script: Script, priority: int) -> None:
    with pytest.raises(InvalidInputError) as refused:
        send(cast, picture(), priority=priority)
    assert refused.value.details["problems"][0]["pointer"] == "/priority"


def test_a_type_without_a_schema_takes_no_documents(cast: Cast, script: Script) -> None:
    cast.document_type.active_version = None
    with pytest.raises(InvalidInputError):
        send(cast, picture())


def test_a_failure_in_the_transaction_takes_document_and_promise_back(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **values: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(intake, "publish_document", fail)
    with pytest.raises(RuntimeError):
        send(cast, picture())
    assert not Document.objects.exists()
    assert queued() == []


def test_a_retry_after_a_failure_leaves_one_file(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(intake, "record_audit", lambda *args, **values: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send(cast, picture())
    send(cast, picture())
    assert len(stored_files(Path(settings.MEDIA_ROOT))) == 1


def test_a_pdf_is_taken_when_it_cannot_be_looked_into_right_now(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(path: Path, limits: Limits) -> None:
        raise EngineUnavailableError

    monkeypatch.setattr(intake, "inspect_file", away)
    document = send(cast, empty_pdf()).document
    assert (document.media_type, document.n_pages) == ("application/pdf", 0)


def test_every_reason_to_refuse_has_words() -> None:
    limits = file_limits()
    messages = {code: refusal(UnreadableFileError(code), limits).message for code in UnreadableFileError.REASONS}
    assert len(set(messages.values())) == len(UnreadableFileError.REASONS)
    assert all(str(message).endswith(".") for message in messages.values())


def test_limits_come_from_the_settings(settings: Settings) -> None:
    settings.STET_MAX_BYTES, settings.STET_MAX_PIXELS, settings.STET_MAX_PAGES = 1, 2, 3
    settings.STET_PDF_SECONDS, settings.STET_PDF_MEMORY_BYTES = 4, 5
    limits = file_limits()
    assert (limits.max_bytes, limits.max_pixels, limits.max_pages) == (1, 2, 3)
    assert (limits.pdf_seconds, limits.pdf_memory_bytes) == (4, 5)
