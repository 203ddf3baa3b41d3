"""A version goes on only through the gate, one audited act a stage; rolled back, what was live before is live again."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from review.actions.rollouts import promote_rollout, roll_back, start_rollout
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    AuditEntry,
    EngineVersion,
    EvaluationComparison,
    Event,
    Record,
    Rollout,
    RolloutStage,
    TrainedModel,
)
from review.selectors.access import SYSTEM, Actor
from review.selectors.gate import gate_of
from review.selectors.rollouts import access_rollout, champion_of, version_for
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.factories import make_document_type, make_engine_version
from tests.review.conftest import Script
from tests.review.queueing import queued, work_off
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send, worse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(script: Script, cast: Cast) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})
    send(cast, "read before")


def start(cast: Cast, version: EngineVersion, **shares: float) -> Rollout:
    rollout = start_rollout(
        actor=Actor(cast.manager), document_type=cast.document_type, engine_version=version, **shares
    )
    return access_rollout(cast.document_type, rollout.pk)


def promote(cast: Cast, rollout: Rollout) -> Rollout:
    return promote_rollout(actor=Actor(cast.manager), rollout=access_rollout(cast.document_type, rollout.pk))


def live(cast: Cast, version: EngineVersion) -> Rollout:
    """A version that went the whole way."""
    rollout = start(cast, version)
    work_off()
    promote(cast, rollout)
    return promote(cast, rollout)


def test_a_roll_out_begins_in_shadow_beside_who_reads_now_and_has_both_compared(cast: Cast) -> None:
    rollout = start(cast, as_good(cast), shadow_share=0.5)
    assert (rollout.stage, rollout.champion, rollout.started_by) == ("shadow", champion(), cast.manager)
    assert (rollout.shadow_share, rollout.disagreement_share, rollout.canary_share) == (0.5, 0.02, 0.05)
    assert len(rollout.salt) == 32
    assert queued() == [("compare_rollout", rollout.pk)]
    entry = AuditEntry.objects.get(action="rollout.started")
    assert (entry.actor, entry.detail["stage"]) == (cast.manager, "shadow")
    event = Event.objects.get(name="rollout.started")
    assert event.payload == {"document_type": "receipt", "rollout_id": rollout.pk, "stage": "shadow"}


def test_while_one_is_on_its_way_no_other_may_start(cast: Cast) -> None:
    start(cast, as_good(cast))
    with pytest.raises(ConflictError):
        start(cast, worse(cast))
    assert Rollout.objects.count() == 1
    assert AuditEntry.objects.filter(action="rollout.started").count() == 1


def test_who_reads_already_cannot_be_rolled_out(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    live(cast, as_good(cast))
    with pytest.raises(ConflictError):
        start(cast, as_good(cast))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["shadow_share", "disagreement_share", "canary_share"])
def test_a_share_is_a_share(cast: Cast, name: str, share: float) -> None:
    with pytest.raises(InvalidInputError) as raised:
        start(cast, as_good(cast), **{name: share})
    assert [problem["pointer"] for problem in raised.value.details["problems"]] == [f"/{name}"]


def test_what_is_installed_and_what_was_learned_for_another_type_is_refused(cast: Cast) -> None:
    with pytest.raises(InvalidInputError):
        start(cast, make_engine_version("rapidocr"))
    learned = as_good(cast)
    other = make_document_type(cast.project, "invoice")
    with pytest.raises(InvalidInputError):
        start_rollout(actor=Actor(cast.manager), document_type=other, engine_version=learned)
    assert not Rollout.objects.exists()


def test_a_version_that_learned_shuffled_labels_is_refused_by_the_gate(cast: Cast, tmp_path: Path) -> None:
    """Twenty documents suffice here; one wrong of 200 would be let through, two would not."""
    freeze(cast, tmp_path / "set", n=20)
    rollout = start(cast, worse(cast))
    work_off()
    with pytest.raises(ConflictError) as raised:
        promote(cast, rollout)
    assert raised.value.code == "falls"
    assert "total" in str(raised.value.message)
    assert Rollout.objects.get().stage == RolloutStage.SHADOW
    assert not AuditEntry.objects.filter(action="rollout.promoted").exists()
    assert EvaluationComparison.objects.get().results["fields"]["/total"]["n_lost"] == 20


def test_nobody_overrules_the_gate(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    rollout = start(cast, worse(cast))
    work_off()
    for actor in (SYSTEM, Actor(cast.admin), Actor(cast.manager)):
        with pytest.raises(ConflictError):
            promote_rollout(actor=actor, rollout=access_rollout(cast.document_type, rollout.pk))


def test_from_shadow_to_canary_to_live_one_audited_act_each(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    rollout = start(cast, as_good(cast))
    work_off()
    assert promote(cast, rollout).stage == RolloutStage.CANARY
    done = promote(cast, rollout)
    assert (done.stage, done.replaced) == (RolloutStage.LIVE, None)
    entries = AuditEntry.objects.filter(action="rollout.promoted").order_by("pk")
    comparison = EvaluationComparison.objects.get().pk
    assert [(entry.detail["stage"], entry.detail["comparison"]) for entry in entries] == [
        ("canary", comparison),
        ("live", comparison),
    ]
    assert Event.objects.filter(name="rollout.promoted").count() == 2
    assert champion_of(cast.document_type) == as_good(cast)
    with pytest.raises(ConflictError) as raised:
        promote(cast, rollout)
    assert raised.value.code == "no_next_stage"


def test_of_two_who_promote_at_once_one_does(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    rollout = start(cast, as_good(cast))
    work_off()
    seen_by_both = access_rollout(cast.document_type, rollout.pk)
    promote(cast, rollout)
    with pytest.raises(ConflictError):
        promote_rollout(actor=Actor(cast.admin), rollout=seen_by_both)
    assert Rollout.objects.get().stage == RolloutStage.CANARY


def test_without_a_set_or_a_comparison_nothing_goes_on(cast: Cast, tmp_path: Path) -> None:
    rollout = start(cast, as_good(cast))
    with pytest.raises(ConflictError) as raised:
        promote(cast, rollout)
    assert raised.value.code == "no_set"
    freeze(cast, tmp_path / "set")
    with pytest.raises(ConflictError) as raised:
        promote(cast, rollout)
    assert raised.value.code == "no_comparison"
    work_off()
    assert promote(cast, rollout).stage == RolloutStage.CANARY


def test_a_set_that_has_grown_since_asks_for_a_comparison_again(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    rollout = start(cast, as_good(cast))
    work_off()
    freeze(cast, tmp_path / "set", name="newer")
    with pytest.raises(ConflictError) as raised:
        promote(cast, rollout)
    assert raised.value.code == "no_comparison"


def test_what_a_version_may_have_learned_from_does_not_judge_it(cast: Cast, tmp_path: Path) -> None:
    document = send(cast, "test 0")
    freeze(cast, tmp_path / "set")
    rollout = start(cast, as_good(cast))
    work_off()
    assert gate_of(access_rollout(cast.document_type, rollout.pk)).is_open
    # The set was frozen after the training had begun, with a document that was there before.
    TrainedModel.objects.update(created_at=document.received_at + timedelta(microseconds=1))
    with pytest.raises(ConflictError) as raised:
        promote(cast, rollout)
    assert raised.value.code == "taught_by_set"
    assert "1" in str(raised.value.message)


def test_a_live_version_that_is_rolled_back_leaves_the_place_to_who_was_live_before(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    first = live(cast, as_good(cast))
    second = rolled_out(cast, worse(cast), RolloutStage.CANARY)
    Rollout.objects.filter(pk=first.pk).update(stage=RolloutStage.RETIRED)
    Rollout.objects.filter(pk=second.pk).update(stage=RolloutStage.LIVE, replaced=first)
    document = send(cast, "another")
    assert version_for(document) == worse(cast)
    roll_back(actor=SYSTEM, rollout=access_rollout(cast.document_type, second.pk), reason="the monitor tripped")
    assert version_for(document) == as_good(cast)
    stages = dict(Rollout.objects.values_list("pk", "stage"))
    assert stages == {first.pk: "live", second.pk: "retired"}
    entry = AuditEntry.objects.get(action="rollout.rolled_back")
    assert (entry.actor, entry.detail["reason"]) == (None, "the monitor tripped")
    assert entry.detail["from_stage"] == "live"


def test_going_live_retires_who_was_live(cast: Cast, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    first = live(cast, as_good(cast, 2.0))
    second = live(cast, as_good(cast))
    first.refresh_from_db()
    assert (first.stage, second.stage, second.replaced) == ("retired", "live", first)
    assert first.ended_because == ""


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_rolling_back_needs_a_reason(cast: Cast, reason: str) -> None:
    rollout = start(cast, as_good(cast))
    with pytest.raises(InvalidInputError):
        roll_back(actor=Actor(cast.manager), rollout=rollout, reason=reason)
    assert Rollout.objects.get().stage == RolloutStage.SHADOW


def test_what_has_ended_is_not_ended_again_and_makes_room(cast: Cast) -> None:
    rollout = start(cast, as_good(cast))
    roll_back(actor=Actor(cast.manager), rollout=access_rollout(cast.document_type, rollout.pk), reason="not now")
    assert Rollout.objects.get().ended_because == "not now"
    with pytest.raises(ConflictError):
        roll_back(actor=Actor(cast.manager), rollout=rollout, reason="twice")
    with pytest.raises(ConflictError):
        roll_back(actor=Actor(cast.manager), rollout=access_rollout(cast.document_type, rollout.pk), reason="and again")
    assert AuditEntry.objects.filter(action="rollout.rolled_back").count() == 1
    assert start(cast, worse(cast)).stage == RolloutStage.SHADOW


def test_what_a_version_has_stored_stays_when_it_is_rolled_back(cast: Cast) -> None:
    policy = cast.document_type.policies.get()
    policy.rules = policy.rules | {"default": {"auto": 0.0, "review": 0.0}}
    policy.save()
    rollout = rolled_out(cast, worse(cast), RolloutStage.LIVE)
    document = send(cast, "stored")
    before = Record.objects.get(document=document)
    roll_back(actor=SYSTEM, rollout=access_rollout(cast.document_type, rollout.pk), reason="wrong")
    work_off()
    assert list(Record.objects.filter(document=document)) == [before]
    assert before.values["/total"] == "10.00"
    assert timezone.now() >= Rollout.objects.get().stage_since
