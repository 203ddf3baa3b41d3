from typing import Any

import pytest
from pytest_django import Settings

from review.actions.exports import request_snapshot_export
from review.actions.recovery import requeue_work
from review.actions.snapshots import (
    add_to_snapshot,
    cancel_snapshot,
    claim_snapshot,
    fail_snapshot,
    finish_snapshot,
    note_snapshot_progress,
    request_snapshot,
)
from review.exceptions import ConflictError, InvalidInputError
from review.models import AuditEntry, DatasetExport, Event, Snapshot, SnapshotItem, WorkState
from review.selectors.access import SYSTEM, Actor
from tests.conftest import Cast
from tests.review.labels import add_record
from tests.review.queueing import queued


def asked(cast: Cast, **wishes: Any) -> Snapshot:
    return request_snapshot(actor=Actor(cast.manager), project=cast.project, **wishes)


def told(snapshot: Snapshot) -> list[str]:
    found = Event.objects.filter(name__startswith="snapshot.", payload__snapshot_id=snapshot.pk).order_by("id")
    return list(found.values_list("name", flat=True))


def test_a_snapshot_is_queued_with_one_audit_row_and_one_event(cast: Cast) -> None:
    snapshot = asked(cast, holding="settled", seed="2026")
    assert (snapshot.state, snapshot.requested_by) == (WorkState.QUEUED, cast.manager)
    assert queued() == [("take_snapshot", snapshot.pk)]
    entry = AuditEntry.objects.get(action="snapshot.requested")
    assert entry.detail == {"holding": "settled", "personal": "kept", "seed": "2026"}
    assert told(snapshot) == ["snapshot.requested"]


@pytest.mark.parametrize(
    ("wishes", "pointer"),
    [
        ({"holding": "most"}, "/holding"),
        ({"personal": "gone"}, "/personal"),
        ({"seed": ""}, "/seed"),
        ({"seed": "s" * 65}, "/seed"),
        ({"validation_share": -0.1}, "/validation_share"),
        ({"test_share": 1.0}, "/test_share"),
        ({"test_share": float("nan")}, "/test_share"),
        ({"validation_share": 0.5, "test_share": 0.5}, "/test_share"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_by_name(cast: Cast, wishes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        asked(cast, **wishes)
    assert refused.value.details["problems"][0]["pointer"] == pointer
    assert not Snapshot.objects.exists()


def test_cancelling_twice_is_cancelling_once(cast: Cast) -> None:
    snapshot = asked(cast)
    for _ in range(2):
        cancel_snapshot(actor=Actor(cast.manager), snapshot=snapshot)
    assert snapshot.state == WorkState.CANCELLED
    assert AuditEntry.objects.filter(action="snapshot.cancelled").count() == 1
    assert claim_snapshot(snapshot_id=snapshot.pk) is None


def test_a_taken_snapshot_cannot_be_cancelled(cast: Cast) -> None:
    snapshot = asked(cast)
    claim = claim_snapshot(snapshot_id=snapshot.pk)
    assert claim is not None
    assert finish_snapshot(claim=claim, manifest={"counts": {"documents": 0}})
    with pytest.raises(ConflictError):
        cancel_snapshot(actor=SYSTEM, snapshot=snapshot)


def test_of_two_takers_one_goes_on(cast: Cast) -> None:
    snapshot = asked(cast)
    assert claim_snapshot(snapshot_id=snapshot.pk) is not None
    assert claim_snapshot(snapshot_id=snapshot.pk) is None


def test_who_was_overtaken_writes_nothing_more(cast: Cast, settings: Settings) -> None:
    record = add_record(cast.document_type)
    snapshot = asked(cast)
    settings.STET_CLAIM_SECONDS = 0
    first = claim_snapshot(snapshot_id=snapshot.pk)
    second = claim_snapshot(snapshot_id=snapshot.pk)
    assert first is not None
    assert second is not None
    item = SnapshotItem(snapshot=snapshot, record=record, split="train", group="g", row="{}")
    assert not add_to_snapshot(claim=first, items=[item], n_done=1)
    assert not finish_snapshot(claim=first, manifest={"counts": {"documents": 1}})
    assert not fail_snapshot(claim=first, code="snapshot_failed")
    assert not SnapshotItem.objects.exists()
    assert note_snapshot_progress(claim=second, n_done=1)


def test_a_snapshot_that_kills_its_takers_fails(cast: Cast, settings: Settings) -> None:
    snapshot = asked(cast)
    settings.STET_CLAIM_SECONDS, settings.STET_MAX_ATTEMPTS = 0, 2
    claims = [claim_snapshot(snapshot_id=snapshot.pk) for _ in range(3)]
    assert [claim is not None for claim in claims] == [True, True, False]
    snapshot.refresh_from_db()
    assert (snapshot.state, snapshot.error_code) == (WorkState.FAILED, "gave_up")
    assert told(snapshot)[-1] == "snapshot.failed"


def test_the_sweep_queues_a_silent_one_again(cast: Cast, settings: Settings) -> None:
    snapshot = asked(cast)
    assert requeue_work() == {}
    claim_snapshot(snapshot_id=snapshot.pk)
    settings.STET_CLAIM_SECONDS = -1
    assert requeue_work() == {"snapshot": 1}
    snapshot.refresh_from_db()
    assert snapshot.state == WorkState.QUEUED
    assert len(queued()) == 2


def test_a_snapshot_is_written_in_the_formats_of_trainers(cast: Cast) -> None:
    snapshot = asked(cast)
    with pytest.raises(ConflictError):
        request_snapshot_export(actor=SYSTEM, snapshot=snapshot, format="coco")
    snapshot.state = WorkState.DONE
    snapshot.save()
    export = request_snapshot_export(actor=Actor(cast.manager), snapshot=snapshot, format="coco", archive="tar")
    assert (export.snapshot, export.extension, export.state) == (snapshot, "tar", WorkState.QUEUED)
    assert AuditEntry.objects.get(action="export.requested").detail["snapshot"] == snapshot.pk
    assert ("write_export", export.pk) in queued()


@pytest.mark.parametrize(
    ("wishes", "pointer"), [({"format": "xml"}, "/format"), ({"format": "coco", "archive": "rar"}, "/archive")]
)
def test_an_unknown_format_is_refused_with_those_that_are_known(
    cast: Cast, wishes: dict[str, Any], pointer: str
) -> None:
    snapshot = asked(cast)
    with pytest.raises(InvalidInputError) as refused:
        request_snapshot_export(actor=SYSTEM, snapshot=snapshot, **wishes)
    assert refused.value.details["problems"][0]["pointer"] == pointer
    assert not DatasetExport.objects.exists()
