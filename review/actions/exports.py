"""Exports are asked for, written in the background step by step, and kept as frozen files."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._storing import keep_file, minding_space
from review.actions._work import GAVE_UP, cancel, end, find_free, is_worn_out, queue, step, take
from review.exceptions import ConflictError, InvalidInputError
from review.exports import snapshot_formats
from review.exports.archive import ARCHIVES
from review.exports.formats import FORMATS, Written
from review.live.events import ExportEvent, ExportEventName, publish
from review.models import DatasetExport, Project, Snapshot, WorkState
from review.selectors.access import SYSTEM, Actor
from review.selectors.exports import records_to_export

__all__ = [
    "ARCHIVES",
    "FORMAT_NAMES",
    "SNAPSHOT_FORMAT_NAMES",
    "cancel_export",
    "claim_export",
    "fail_export",
    "finish_export",
    "media_type_of",
    "minding_space",
    "note_export_progress",
    "request_export",
    "request_snapshot_export",
]

FORMAT_NAMES = tuple(FORMATS)
SNAPSHOT_FORMAT_NAMES = tuple(snapshot_formats.FORMATS)
_ARCHIVE_TYPES = {"zip": "application/zip", "tar": "application/x-tar"}


def request_export(*, actor: Actor, project: Project, format: str, since: datetime | None = None) -> DatasetExport:  # noqa: A002 - the name it has in the API
    """Queue an export of the records as they stand now, of those only the revisions made since `since`.

    Raise InvalidInputError at /format or /since.
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise InvalidInputError.at(
            "/format", _("There is no such format. Choose one of: %(known)s.") % {"known": known}
        )
    if since is not None and timezone.is_naive(since):
        raise InvalidInputError.at("/since", _("Give the time with its zone, as in 2026-01-31T08:00:00Z."))
    with transaction.atomic(durable=True):
        export = DatasetExport.objects.create(project=project, format=format, since=since, requested_by=actor.user)
        queue(export)
        detail = {"format": format, "since": since.isoformat() if since is not None else None}
        record_audit(actor, "export.requested", export, project=project, detail=detail)
        _publish(export, "export.requested")
    return export


def request_snapshot_export(
    *,
    actor: Actor,
    snapshot: Snapshot,
    format: str,  # noqa: A002 - the name it has in the API
    archive: str = snapshot_formats.DEFAULT_ARCHIVE,
) -> DatasetExport:
    """Queue an archive of what a snapshot holds, in one of the formats of trainers.

    Raise InvalidInputError at /format or /archive, ConflictError while the snapshot is not taken.
    """
    for name, value, known in (("/format", format, SNAPSHOT_FORMAT_NAMES), ("/archive", archive, ARCHIVES)):
        if value not in known:
            message = _("There is no such choice. Choose one of: %(known)s.") % {"known": ", ".join(known)}
            raise InvalidInputError.at(name, message)
    if snapshot.state != WorkState.DONE:
        raise ConflictError(_("This snapshot is not taken. Wait until it is, or take another."))
    with transaction.atomic(durable=True):
        export = DatasetExport.objects.create(
            project_id=snapshot.project_id, snapshot=snapshot, format=format, archive=archive, requested_by=actor.user
        )
        queue(export)
        detail = {"format": format, "archive": archive, "snapshot": snapshot.pk}
        record_audit(actor, "export.requested", export, project=snapshot.project_id, detail=detail)
        _publish(export, "export.requested")
    return export


def media_type_of(export: DatasetExport) -> str:
    """Return the media type of an export's file."""
    return _ARCHIVE_TYPES[export.archive] if export.archive else FORMATS[export.format].media_type


def cancel_export(*, actor: Actor, export: DatasetExport) -> DatasetExport:
    """Stop an export that is not finished; cancelling twice is cancelling once. Raise ConflictError if it is."""
    with transaction.atomic(durable=True):
        if cancel(export):
            record_audit(actor, "export.cancelled", export, project=export.project_id)
            _publish(export, "export.cancelled")
        elif export.state != WorkState.CANCELLED:
            raise ConflictError(_("This export is finished already and cannot be cancelled."))
    return export


def claim_export(*, export_id: int) -> DatasetExport | None:
    """Claim an export for this process and count the attempt; None when there is nothing to do.

    One that has ended STET_MAX_ATTEMPTS writers fails. No audit row: nothing has happened yet.
    """
    export = find_free(DatasetExport.objects.select_related("project", "snapshot__project"), export_id)
    if export is None:
        return None
    if is_worn_out(export):
        fail_export(claim=export, code=GAVE_UP)
        return None
    if export.snapshot is not None:
        n_records = export.snapshot.n_records
    else:
        n_records = records_to_export(export.project, snapshot_at=export.snapshot_at, since=export.since).count()
    with transaction.atomic(durable=True):
        if not take(export, n_records=n_records, n_written=0):
            return None
        _publish(export, "export.progressed")
    return export


def note_export_progress(*, claim: DatasetExport, n_written: int) -> bool:
    """Tell how far it is; false when it was cancelled or taken over, and the writer must stop. No audit row."""
    with transaction.atomic(durable=True):
        if not step(claim, n_written=n_written):
            return False
        _publish(claim, "export.progressed")
    return True


def finish_export(*, claim: DatasetExport, path: Path, written: Written) -> bool:
    """Keep the file at `path` (it may be moved away) and close the export; false when it is no longer ours.

    Raise StorageFullError. The attempt stands in the file's name: a writer that was overtaken takes away its own
    file and no other.
    """
    attempt = f"{claim.pk}-{claim.n_attempts}-{written.sha256[:16]}"
    name = f"projects/{claim.project_id}/exports/{attempt}.{claim.extension}"
    keep_file(name, path, written.n_bytes)
    n_records = written.n_records
    with transaction.atomic(durable=True):
        values = {"file": name, "sha256": written.sha256, "n_records": n_records, "n_written": n_records}
        mine = end(claim, WorkState.DONE, **values)
        if mine:
            detail = {"sha256": written.sha256, "n_records": n_records}
            record_audit(SYSTEM, "export.done", claim, project=claim.project_id, detail=detail)
            _publish(claim, "export.done")
    if not mine:
        default_storage.delete(name)
    return mine


def fail_export(*, claim: DatasetExport, code: str, detail: Mapping[str, int] | None = None) -> bool:
    """Close an export that cannot be written; `code` says why ("storage_full", GAVE_UP, "snapshot_changed" …).

    `detail` says on what: {"document_id", "page_number"}.
    """
    place = dict(detail or {})
    with transaction.atomic(durable=True):
        mine = end(claim, WorkState.FAILED, error_code=code, error_detail=place)
        if mine:
            said = {"error": code, **place}
            record_audit(SYSTEM, "export.failed", claim, project=claim.project_id, detail=said)
            _publish(claim, "export.failed")
    return mine


def _publish(export: DatasetExport, name: ExportEventName) -> None:
    publish(
        ExportEvent(
            name=name,
            project_id=export.project_id,
            export_id=export.pk,
            state=export.state,
            n_written=export.n_written,
            n_records=export.n_records,
        )
    )
