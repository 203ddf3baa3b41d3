"""Exports are written outside of requests: to a file beside the storage, kept under its final name once it is whole."""

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import structlog
from django.conf import settings
from django.utils import timezone

from review.actions.exports import (
    claim_export,
    fail_export,
    finish_export,
    minding_space,
    note_export_progress,
)
from review.exceptions import StorageFullError
from review.exports.formats import FORMATS, Written, write_records
from review.exports.samples import PageChangedError
from review.exports.snapshot_formats import DEFAULT_ARCHIVE, SnapshotChangedError, write_snapshot
from review.models import DatasetExport, Project, Snapshot
from review.tasks import NoLongerOursError, task

__all__ = ["PageChangedError", "SnapshotChangedError", "Written", "write_archive", "write_export", "write_file"]

PROGRESS_SECONDS = 1.0
log = structlog.get_logger(__name__)


@task
def write_export(export_id: int) -> None:
    """Write an export that was asked for, from the beginning; delivered again, it does nothing that is done."""
    claim = claim_export(export_id=export_id)
    if claim is None:
        return
    try:
        with minding_space(), _scratch_file(claim) as path:
            if not finish_export(claim=claim, path=path, written=_write_claimed(claim, path)):
                raise NoLongerOursError
    except NoLongerOursError:
        log.info("export given up: cancelled or taken over")
    except StorageFullError as error:
        log.warning("export failed", reason=error.code)
        fail_export(claim=claim, code=error.code)
    except SnapshotChangedError:
        log.warning("export failed", reason="snapshot_changed")
        fail_export(claim=claim, code="snapshot_changed")
    except PageChangedError as changed:
        log.warning("export failed", reason="page_changed", document_id=changed.document_id, page=changed.page_number)
        detail = {"document_id": changed.document_id, "page_number": changed.page_number}
        fail_export(claim=claim, code="page_changed", detail=detail)
    except Exception:
        fail_export(claim=claim, code="export_failed")
        raise


def write_file(project: Project, format_name: str, path: Path, *, since: datetime | None = None) -> Written:
    """Write the records as they stand now to a local file, in the foreground, and return what it holds.

    The file appears whole under its name or not at all; one that is there already is replaced. Raise KeyError for an
    unknown format, StorageFullError, OSError.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with minding_space():
            written = _write(project, format_name, partial, snapshot_at=timezone.now(), since=since)
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return written


def write_archive(snapshot: Snapshot, format_name: str, path: Path, *, archive: str = DEFAULT_ARCHIVE) -> Written:
    """Write what a taken snapshot holds to a local file, in the foreground, as `write_file` does.

    Raise SnapshotChangedError, PageChangedError beside what that raises.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with minding_space():
            written = _write_archive(snapshot, format_name, partial, archive)
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return written


def _write_claimed(claim: DatasetExport, path: Path) -> Written:
    """Write the export's file, telling how far it is about once a second; raise NoLongerOursError."""
    last = time.monotonic()

    def tell(written: Written) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_SECONDS:
            last = time.monotonic()
            if not note_export_progress(claim=claim, n_written=written.n_records):
                raise NoLongerOursError

    if claim.snapshot is not None:
        return _write_archive(claim.snapshot, claim.format, path, claim.archive, tell=tell)
    return _write(claim.project, claim.format, path, snapshot_at=claim.snapshot_at, since=claim.since, tell=tell)


def _write(
    project: Project,
    format_name: str,
    path: Path,
    *,
    snapshot_at: datetime,
    since: datetime | None,
    tell: Callable[[Written], None] = lambda _: None,
) -> Written:
    written = Written()
    with path.open("xb") as target:
        records = write_records(target, project, FORMATS[format_name], snapshot_at=snapshot_at, since=since)
        for written in records:
            tell(written)
        target.flush()
        os.fsync(target.fileno())
    return written


def _write_archive(
    snapshot: Snapshot,
    format_name: str,
    path: Path,
    archive: str,
    *,
    tell: Callable[[Written], None] = lambda _: None,
) -> Written:
    written = Written(n_labels=snapshot.manifest["counts"]["labels"])
    with path.open("xb") as target:
        for n_records in write_snapshot(target, snapshot, format_name, scratch=path.parent, archive_kind=archive):
            written.n_records = n_records
            tell(written)
        target.flush()
        os.fsync(target.fileno())
    with path.open("rb") as source:
        written.sha256 = hashlib.file_digest(source, "sha256").hexdigest()
    written.n_bytes = path.stat().st_size
    return written


@contextmanager
def _scratch_file(claim: DatasetExport) -> Iterator[Path]:
    """Yield where to write; what an earlier attempt left there when it was killed goes first."""
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    for left in folder.glob(f"export-{claim.pk}-*.part"):
        left.unlink(missing_ok=True)
    path = folder / f"export-{claim.pk}-{claim.n_attempts}.part"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
