"""Snapshots are asked for, taken in the background, and frozen."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._storing import minding_space
from review.actions._work import GAVE_UP, cancel, end, find_free, is_worn_out, queue, step, take
from review.exceptions import ConflictError, InvalidInputError
from review.exports.manifest import manifest_text
from review.live.events import SnapshotEvent, SnapshotEventName, publish
from review.models import Holding, Personal, Project, Snapshot, SnapshotItem, WorkState
from review.selectors.access import SYSTEM, Actor
from review.selectors.snapshots import records_of_moment

__all__ = [
    "add_to_snapshot",
    "cancel_snapshot",
    "claim_snapshot",
    "fail_snapshot",
    "finish_snapshot",
    "minding_space",
    "note_snapshot_progress",
    "request_snapshot",
]

DEFAULT_SHARE = 0.1
DEFAULT_SEED = "stet"
_ROWS_AT_ONCE = 500


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
            queue(snapshot)
        detail = {"holding": holding, "personal": personal, "seed": seed}
        record_audit(actor, "snapshot.requested", snapshot, project=project, detail=detail)
        _publish(snapshot, "snapshot.requested")
    return snapshot


def cancel_snapshot(*, actor: Actor, snapshot: Snapshot) -> Snapshot:
    """Stop a snapshot that is not taken yet; cancelling twice is cancelling once. Raise ConflictError if it is."""
    with transaction.atomic(durable=True):
        if cancel(snapshot):
            record_audit(actor, "snapshot.cancelled", snapshot, project=snapshot.project_id)
            _publish(snapshot, "snapshot.cancelled")
        elif snapshot.state != WorkState.CANCELLED:
            raise ConflictError(_("This snapshot is taken already: it is frozen."))
    return snapshot


def claim_snapshot(*, snapshot_id: int) -> Snapshot | None:
    """Claim a snapshot for this process and count the attempt; None when there is nothing to do.

    One that has ended STET_MAX_ATTEMPTS takers fails. No audit row: nothing has happened yet.
    """
    snapshot = find_free(Snapshot.objects.select_related("project__engine_version"), snapshot_id)
    if snapshot is None:
        return None
    if is_worn_out(snapshot):
        fail_snapshot(claim=snapshot, code=GAVE_UP)
        return None
    n_records = records_of_moment(snapshot).count()
    with transaction.atomic(durable=True):
        if not take(snapshot, n_records=n_records, n_done=0):
            return None
        # What an earlier attempt wrote down before it was killed.
        SnapshotItem.objects.filter(snapshot=snapshot).delete()
        _publish(snapshot, "snapshot.progressed")
    return snapshot


def note_snapshot_progress(*, claim: Snapshot, n_done: int) -> bool:
    """Tell how far it is; false when it was cancelled or taken over, and the taker must stop. No audit row."""
    return add_to_snapshot(claim=claim, items=(), n_done=n_done)


def add_to_snapshot(*, claim: Snapshot, items: Sequence[SnapshotItem], n_done: int) -> bool:
    """Write down a part of what the snapshot holds; false when it is no longer ours, and nothing is kept.

    No audit row: nothing counts before `finish_snapshot`.
    """
    with transaction.atomic(durable=True):
        if not step(claim, n_done=n_done):
            return False
        SnapshotItem.objects.bulk_create(items, batch_size=_ROWS_AT_ONCE)
        _publish(claim, "snapshot.progressed")
    return True


def finish_snapshot(*, claim: Snapshot, manifest: Mapping[str, Any]) -> bool:
    """Freeze what was written down; false when the snapshot is no longer ours."""
    sha256 = hashlib.sha256(manifest_text(manifest)).hexdigest()
    n_records = manifest["counts"]["documents"]
    with transaction.atomic(durable=True):
        values = {"manifest": dict(manifest), "sha256": sha256, "n_records": n_records, "n_done": n_records}
        mine = end(claim, WorkState.DONE, **values)
        if mine:
            detail = {"sha256": sha256, "n_records": n_records}
            record_audit(SYSTEM, "snapshot.done", claim, project=claim.project_id, detail=detail)
            _publish(claim, "snapshot.done")
    return mine


def fail_snapshot(*, claim: Snapshot, code: str) -> bool:
    """Close a snapshot that cannot be taken; `code` says why ("held_out_unknown", GAVE_UP, "snapshot_failed")."""
    with transaction.atomic(durable=True):
        mine = end(claim, WorkState.FAILED, error_code=code)
        if mine:
            record_audit(SYSTEM, "snapshot.failed", claim, project=claim.project_id, detail={"error": code})
            _publish(claim, "snapshot.failed")
    return mine


def _refuse_unknown(name: str, value: str, known: list[str]) -> None:
    if value not in known:
        message = _("There is no such choice. Choose one of: %(known)s.") % {"known": ", ".join(known)}
        raise InvalidInputError.at(name, message)


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
