"""Workers, sweeps and people at one piece of work at the same moment: one has it, and it has one end."""

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django_q.models import OrmQ

from inference.types import DocumentTypeSpec
from review.actions.exports import cancel_export, claim_export, finish_export, request_export
from review.actions.recovery import requeue_work
from review.actions.shadows import claim_shadow, complete_shadow
from review.actions.snapshots import cancel_snapshot, claim_snapshot, finish_snapshot, request_snapshot
from review.actions.training import cancel_training, claim_training, finish_training, request_training
from review.exceptions import ConflictError
from review.exports.formats import Written
from review.models import (
    AuditEntry,
    DocumentType,
    ExtractionRun,
    ModelKind,
    Rollout,
    RunRole,
    ShadowRead,
    TrainedModel,
    Work,
    WorkState,
)
from review.selectors.access import SYSTEM
from review.selectors.reading import reading_ids_of
from tests import factories
from tests.races.threads import all_at_once
from tests.review.dead_claims import DEAD
from tests.review.taught import with_reading

N_AT_ONCE = 6
ROUNDS = range(3)


@dataclass(frozen=True)
class Kind:
    """How one kind of work is asked for, claimed, finished and cancelled."""

    name: str
    ask: Callable[[DocumentType], Any]
    claim: Callable[[int], Any]
    finish: Callable[[Any, Path], object]
    cancel: Callable[[Any], object] | None = None


def ask_export(document_type: DocumentType) -> Work:
    return request_export(actor=SYSTEM, project=document_type.project, format="jsonl")


def finish_claimed_export(claim: Any, folder: Path) -> bool:
    path = folder / f"{claim.claim_token}.part"
    path.write_bytes(b"{}\n")
    return finish_export(claim=claim, path=path, written=Written(1, 0, 3, "ab" * 32))


def ask_training(document_type: DocumentType) -> Work:
    return request_training(actor=SYSTEM, project=document_type.project, document_type=None, kind=ModelKind.CLASSIFIER)


def ask_shadow(document_type: DocumentType) -> Work:
    run = with_reading(factories.make_routed(document_type), []).runs.get()
    version = factories.make_engine_version("challenger")
    rollout, _ = Rollout.objects.get_or_create(document_type=document_type, engine_version=version, salt="salt")
    return ShadowRead.objects.create(rollout=rollout, document=run.document, champion_run=run)


def finish_claimed_shadow(claim: Any, _folder: Path) -> bool:
    reading_ids = reading_ids_of(claim.champion_run)
    return complete_shadow(actor=SYSTEM, shadow=claim, spec=DocumentTypeSpec(()), fields=(), reading_ids=reading_ids)


EXPORT = Kind(
    "export",
    ask_export,
    lambda pk: claim_export(export_id=pk),
    finish_claimed_export,
    lambda export: cancel_export(actor=SYSTEM, export=export),
)
SNAPSHOT = Kind(
    "snapshot",
    lambda document_type: request_snapshot(actor=SYSTEM, project=document_type.project),
    lambda pk: claim_snapshot(snapshot_id=pk),
    lambda claim, _: finish_snapshot(claim=claim, manifest={"counts": {"documents": 0}}),
    lambda snapshot: cancel_snapshot(actor=SYSTEM, snapshot=snapshot),
)
TRAINING = Kind(
    "training",
    ask_training,
    lambda pk: claim_training(training_run_id=pk),
    lambda claim, _: finish_training(claim=claim, payload=b"{}", format_name="json", metrics={}) is not None,
    lambda run: cancel_training(actor=SYSTEM, run=run),
)
SHADOW = Kind("shadow", ask_shadow, lambda pk: claim_shadow(shadow_id=pk), finish_claimed_shadow)

each_kind = pytest.mark.parametrize("kind", [EXPORT, SNAPSHOT, TRAINING, SHADOW], ids=lambda kind: kind.name)
each_of_people = pytest.mark.parametrize("kind", [EXPORT, SNAPSHOT, TRAINING], ids=lambda kind: kind.name)


def stored(work: Any) -> Any:
    return type(work).objects.get(pk=work.pk)


def die(work: Any) -> None:
    """The process that has it is gone."""
    type(work).objects.filter(pk=work.pk).update(claim_token=DEAD)


@each_kind
def test_of_workers_that_come_at_once_one_has_it(kind: Kind, document_type: DocumentType) -> None:
    work = kind.ask(document_type)
    for n_attempts in (1, 2):
        answers = all_at_once([functools.partial(kind.claim, work.pk)] * N_AT_ONCE)
        (claim,) = (answer for answer in answers if answer is not None)
        assert isinstance(claim, Work)
        found = stored(work)
        assert (found.state, found.n_attempts) == (WorkState.RUNNING, n_attempts)
        assert found.claim_token == claim.claim_token
        # The second time they find it left by a dead one.
        die(work)


@each_kind
def test_sweeps_at_once_queue_what_was_left_once(kind: Kind, document_type: DocumentType) -> None:
    work = kind.ask(document_type)
    assert kind.claim(work.pk) is not None
    die(work)
    OrmQ.objects.all().delete()
    answers = all_at_once([requeue_work] * N_AT_ONCE)
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert sum(sum(answer.values()) for answer in answers if isinstance(answer, Counter)) == 1
    assert (stored(work).state, OrmQ.objects.count()) == (WorkState.QUEUED, 1)


@each_of_people
@pytest.mark.parametrize("round_number", ROUNDS)
def test_cancelled_and_finished_at_once_it_has_one_end(
    kind: Kind, document_type: DocumentType, tmp_path: Path, round_number: int
) -> None:
    work = kind.ask(document_type)
    claim = kind.claim(work.pk)
    assert kind.cancel is not None
    is_done, cancelled = all_at_once(
        [functools.partial(kind.finish, claim, tmp_path), functools.partial(kind.cancel, stored(work))]
    )
    found = stored(work)
    assert found.state == (WorkState.DONE if is_done is True else WorkState.CANCELLED)
    assert isinstance(cancelled, ConflictError) is (is_done is True)
    ends = AuditEntry.objects.filter(object_id=str(work.pk), action__in=[f"{kind.name}.done", f"{kind.name}.cancelled"])
    assert [entry.action for entry in ends] == [f"{kind.name}.{found.state}"]
    assert TrainedModel.objects.exists() is (kind is TRAINING and is_done is True)
    if kind is EXPORT:
        kept = default_storage.listdir(f"projects/{work.project_id}/exports")[1]
        assert len(kept) == (1 if is_done is True else 0)


@each_kind
@pytest.mark.parametrize("round_number", ROUNDS)
def test_finished_and_taken_over_at_once_it_is_the_work_of_one(
    kind: Kind, document_type: DocumentType, tmp_path: Path, round_number: int
) -> None:
    work = kind.ask(document_type)
    claim = kind.claim(work.pk)
    type(work).objects.filter(pk=work.pk).update(touched_at=claim.touched_at.replace(year=2020))
    # The more who would take it over, the more often one of them is faster.
    takers = [functools.partial(kind.claim, work.pk)] * N_AT_ONCE
    *claims, is_done = all_at_once([*takers, functools.partial(kind.finish, claim, tmp_path)])
    taken = [answer for answer in claims if answer is not None]
    assert (is_done, len(taken)) in [(True, 0), (False, 1)]
    for taker in taken:
        assert kind.finish(taker, tmp_path) is True
    assert stored(work).state == WorkState.DONE
    if kind is SHADOW:
        assert ExtractionRun.objects.filter(role=RunRole.SHADOW).count() == 1
