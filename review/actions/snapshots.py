"""Snapshots are asked for, taken in the background, and frozen."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._enqueue import EXPORT_TIMEOUT_SECONDS, TAKE_SNAPSHOT, enqueue
from review.actions._storing import minding_space
from review.exceptions import ConflictError, InvalidInputError
from review.exports.manifest import manifest_text
from review.live.events import SnapshotEvent, SnapshotEventName, publish
from review.models import ExportState, Holding, Personal, Project, Snapshot, SnapshotItem
from review.selectors.access import SYSTEM, Actor
from review.selectors.snapshots import records_of_moment

__all__ = [
    "ClaimedSnapshot",
    "add_to_snapshot",
    "cancel_snapshot",
    "claim_snapshot",
    "fail_snapshot",
    "finish_snapshot",
    "minding_space",
    "note_snapshot_progress",
    "request_snapshot",
]

UNFINISHED = (ExportState.QUEUED, ExportState.RUNNING)
DEFAULT_SHARE = 0.1
DEFAULT_SEED = "stet"
_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ClaimedSnapshot:
    """A snapshot that this process takes now; whoever takes it over has a higher `attempt`."""

    snapshot: Snapshot
    attempt: int


def request_snapshot(
    *,
    actor: Actor,
    project: Project,
    holding: str = Holding.REVIEWED,
    personal: str = Personal.KEPT,
    seed: str = DEFAULT_SEED,
    validation_share: float = DEFAULT_SHARE,
    test_share: float = DEFAULT_SHARE,
    is_queued: bool = True,
) -> Snapshot:
    """Ask for a snapshot of the records as they stand now; `is_queued` false leaves the taking to the caller.

    Raise InvalidInputError at /holding, /personal, /seed, /validation_share or /test_share.
    """
    _refuse_unknown("/holding", holding, Holding.values)
    _refuse_unknown("/personal", personal, Personal.values)
    if not 0 < len(seed) <= 64:
        raise InvalidInputError.at("/seed", _("Give a seed of 1 to 64 characters."))
    for name, share in (("/validation_share", validation_share), ("/test_share", test_share)):
        if not 0 <= share < 1:
            raise InvalidInputError.at(name, _("The share must be at least 0 and below 1."))
    if validation_share + test_share >= 1:
        raise InvalidInputError.at("/test_share", _("Validation and test together must leave something to train on."))
    with transaction.atomic(durable=True):
        snapshot = Snapshot.objects.create(
            project=project,
            holding=holding,
            personal=personal,
            seed=seed,
            validation_share=validation_share,
            test_share=test_share,
            requested_by=actor.user,
        )
        if is_queued:
            enqueue(TAKE_SNAPSHOT, snapshot.pk, timeout_seconds=EXPORT_TIMEOUT_SECONDS)
        detail = {"holding": holding, "personal": personal, "seed": seed}
        record_audit(actor, "snapshot.requested", snapshot, project=project, detail=detail)
        _publish(snapshot, "snapshot.requested")
    return snapshot


def cancel_snapshot(*, actor: Actor, snapshot: Snapshot) -> Snapshot:
    """Stop a snapshot that is not taken yet; cancelling twice is cancelling once. Raise ConflictError if it is."""
    with transaction.atomic(durable=True):
        now = timezone.now()
        mine = _snapshot(snapshot.pk).filter(state__in=UNFINISHED)
        is_cancelled = mine.update(state=ExportState.CANCELLED, finished_at=now, touched_at=now)
        snapshot.refresh_from_db()
        if is_cancelled:
            record_audit(actor, "snapshot.cancelled", snapshot, project=snapshot.project_id)
            _publish(snapshot, "snapshot.cancelled")
        elif snapshot.state != ExportState.CANCELLED:
            raise ConflictError(_("This snapshot is taken already: it is frozen."))
    return snapshot


def claim_snapshot(*, snapshot_id: int) -> ClaimedSnapshot | None:
    """Claim a snapshot for this process and count the attempt; None when there is nothing to do.

    One that is being taken may be taken over once its taker has not been heard of for STET_CLAIM_SECONDS; one that
    has ended STET_MAX_ATTEMPTS takers fails. No audit row: nothing has happened yet.
    """
    found = Snapshot.objects.select_related("project__engine_version").filter(pk=snapshot_id, state__in=UNFINISHED)
    snapshot = found.first()
    if snapshot is None or (snapshot.state == ExportState.RUNNING and snapshot.touched_at > _stale_before()):
        return None
    if snapshot.n_attempts >= settings.STET_MAX_ATTEMPTS:
        fail_snapshot(claim=ClaimedSnapshot(snapshot, snapshot.n_attempts), code="gave_up")
        return None
    n_records = records_of_moment(snapshot).count()
    with transaction.atomic(durable=True):
        seen = _snapshot(snapshot_id).filter(state=snapshot.state, n_attempts=snapshot.n_attempts)
        mine = seen.filter(touched_at=snapshot.touched_at).update(
            state=ExportState.RUNNING,
            n_attempts=F("n_attempts") + 1,
            n_records=n_records,
            n_done=0,
            touched_at=timezone.now(),
        )
        if not mine:
            return None
        # What an earlier attempt wrote down before it was killed.
        SnapshotItem.objects.filter(snapshot=snapshot).delete()
        snapshot.refresh_from_db()
        _publish(snapshot, "snapshot.progressed")
    return ClaimedSnapshot(snapshot, snapshot.n_attempts)


def note_snapshot_progress(*, claim: ClaimedSnapshot, n_done: int) -> bool:
    """Tell how far it is; false when it was cancelled or taken over, and the taker must stop. No audit row."""
    return add_to_snapshot(claim=claim, items=(), n_done=n_done)


def add_to_snapshot(*, claim: ClaimedSnapshot, items: Sequence[SnapshotItem], n_done: int) -> bool:
    """Write down a part of what the snapshot holds; false when it is no longer ours, and nothing is kept.

    No audit row: nothing counts before `finish_snapshot`.
    """
    with transaction.atomic(durable=True):
        if not _claimed(claim).update(n_done=n_done, touched_at=timezone.now()):
            return False
        SnapshotItem.objects.bulk_create(items, batch_size=_ROWS_AT_ONCE)
        claim.snapshot.n_done = n_done
        _publish(claim.snapshot, "snapshot.progressed")
    return True


def finish_snapshot(*, claim: ClaimedSnapshot, manifest: Mapping[str, Any]) -> bool:
    """Freeze what was written down; false when the snapshot is no longer ours."""
    snapshot = claim.snapshot
    sha256 = hashlib.sha256(manifest_text(manifest)).hexdigest()
    n_records = manifest["counts"]["documents"]
    with transaction.atomic(durable=True):
        now = timezone.now()
        mine = _claimed(claim).update(
            state=ExportState.DONE,
            manifest=dict(manifest),
            sha256=sha256,
            n_records=n_records,
            n_done=n_records,
            touched_at=now,
            finished_at=now,
        )
        if mine:
            snapshot.refresh_from_db()
            detail = {"sha256": sha256, "n_records": n_records}
            record_audit(SYSTEM, "snapshot.done", snapshot, project=snapshot.project_id, detail=detail)
            _publish(snapshot, "snapshot.done")
    return bool(mine)


def fail_snapshot(*, claim: ClaimedSnapshot, code: str) -> bool:
    """Close a snapshot that cannot be taken; `code` says why ("held_out_unknown", "gave_up", "snapshot_failed")."""
    with transaction.atomic(durable=True):
        now = timezone.now()
        own = _snapshot(claim.snapshot.pk).filter(state__in=UNFINISHED, n_attempts=claim.attempt)
        mine = own.update(state=ExportState.FAILED, error_code=code, touched_at=now, finished_at=now)
        if mine:
            snapshot = claim.snapshot
            snapshot.refresh_from_db()
            record_audit(SYSTEM, "snapshot.failed", snapshot, project=snapshot.project_id, detail={"error": code})
            _publish(snapshot, "snapshot.failed")
    return bool(mine)


def _refuse_unknown(name: str, value: str, known: list[str]) -> None:
    if value not in known:
        message = _("There is no such choice. Choose one of: %(known)s.") % {"known": ", ".join(known)}
        raise InvalidInputError.at(name, message)


def _snapshot(snapshot_id: int) -> QuerySet[Snapshot]:
    return Snapshot.objects.filter(pk=snapshot_id)


def _claimed(claim: ClaimedSnapshot) -> QuerySet[Snapshot]:
    return _snapshot(claim.snapshot.pk).filter(state=ExportState.RUNNING, n_attempts=claim.attempt)


def _stale_before() -> datetime:
    return timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS)


def _publish(snapshot: Snapshot, name: SnapshotEventName) -> None:
    publish(
        SnapshotEvent(
            name=name,
            project_id=snapshot.project_id,
            snapshot_id=snapshot.pk,
            state=snapshot.state,
            n_done=snapshot.n_done,
            n_records=snapshot.n_records,
        )
    )
