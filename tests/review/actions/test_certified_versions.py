"""A certificate speaks of one engine version: what another one reads is not stored unseen before it has its own."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from review.actions._compositions import ensure_composed_version
from review.actions.policies import activate_policy, draft_policy
from review.actions.rollouts import promote_rollout, start_rollout
from review.actions.targets import draft_from_targets, remove_target
from review.models import (
    Document,
    DocumentStatus,
    EngineVersion,
    FieldDecision,
    FieldTarget,
    ReviewTask,
    RolloutStage,
    RoutingPolicy,
)
from review.routing.policy import PolicyRules
from review.routing.reasons import Reason
from review.selectors.access import SYSTEM, Actor
from review.selectors.rollouts import access_rollout
from review.selectors.targets import left_behind_in, uncertified_paths
from review.tasks_comparison import compare_versions
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.review.calibration_room import read_by
from tests.review.conftest import Script
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send
from tests.review.targets_room import examine, promise, set_audits
from tests.review.trained import make_calibrator

pytestmark = pytest.mark.django_db

TARGET = 0.02
ENOUGH = 170
"""So many right values carry 2 % at 95 %, also at a second look."""
LOW = 0.05
"""From this confidence on all was right: whatever is read is sure enough."""


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})


def certify(cast: Cast) -> RoutingPolicy:
    policy = draft_from_targets(actor=Actor(cast.manager), document_type=cast.document_type)
    return activate_policy(actor=Actor(cast.manager), policy=policy)


@pytest.fixture
def certified(cast: Cast) -> RoutingPolicy:
    """A total whose target is certified for the scripted engine, by a policy in force."""
    set_audits(cast.document_type)
    examine(cast.document_type, [(LOW, True)] * ENOUGH)
    read_by(cast.document_type, champion())
    promise(cast.document_type, cast.manager, TARGET)
    policy = certify(cast)
    assert policy.certificates.get().threshold == LOW
    return policy


def is_stored_unseen(document: Document) -> bool:
    return document.status == DocumentStatus.STORED and document.band != "review"


def rules(cast: Cast) -> PolicyRules:
    return PolicyRules.from_json(cast.document_type.policies.get(state="active").rules)


def behind(cast: Cast, version: EngineVersion) -> frozenset[str]:
    return uncertified_paths(cast.document_type, version.pk, rules(cast))


def take_live(cast: Cast, version: EngineVersion, tmp_path: Path) -> None:
    """Through the gate, stage by stage."""
    kept = freeze(cast, tmp_path / "set")
    rollout = start_rollout(actor=Actor(cast.manager), document_type=cast.document_type, engine_version=version)
    compare_versions(actor=SYSTEM, regression_set=kept, a=champion(), b=version)
    for stage in (RolloutStage.CANARY, RolloutStage.LIVE):
        rollout = access_rollout(cast.document_type, rollout.pk)
        assert promote_rollout(actor=Actor(cast.manager), rollout=rollout).stage == stage


def test_after_a_roll_out_nothing_of_the_field_is_stored_unseen_until_it_is_certified_anew(
    cast: Cast, certified: RoutingPolicy, client: Client, tmp_path: Path
) -> None:
    client.force_login(cast.manager)
    assert is_stored_unseen(send(cast, "before"))
    version = as_good(cast)
    take_live(cast, version, tmp_path)

    document = send(cast, "after")
    assert (document.band, document.reasons[0]) == ("review", Reason.NOT_CERTIFIED)
    decided = FieldDecision.objects.get(decision__document=document, field_path="/total")
    assert (decided.reasons, decided.inclusion_probability) == ([Reason.NOT_CERTIFIED], 1.0)
    assert ReviewTask.objects.filter(document=document).exists()
    shown = client.get(reverse("document", args=[cast.project.slug, document.pk])).content.decode()
    assert "its target is not certified for the engine version that read it" in shown
    assert "is certified of an earlier version than the one that reads now" in shown
    targets = client.get(reverse("type_targets", args=[cast.project.slug, cast.document_type.slug]))
    html = targets.content.decode()
    assert f"what is in force is not certified for {version}, which reads now" in html
    assert "carries <strong>0</strong> of 1 target" in html

    # What people see meanwhile counts in full, since they see all of it.
    examine(
        cast.document_type,
        [(LOW, True)] * ENOUGH,
        reasons=[Reason.NOT_CERTIFIED],
        engine_version=version,
        inclusion_probability=1.0,
    )
    certify(cast)
    assert is_stored_unseen(send(cast, "certified anew"))
    html = client.get(reverse("documents", args=[cast.project.slug])).content.decode()
    assert "is certified of an earlier version" not in html


def test_a_calibrator_makes_another_version_that_the_same_labels_may_certify(
    cast: Cast, certified: RoutingPolicy
) -> None:
    model = make_calibrator(cast.document_type, champion().digest, {"/total": 0.4})
    calibrated = ensure_composed_version(champion(), calibrator=model)
    rolled_out(cast, calibrated, RolloutStage.LIVE)
    # Its confidences are other numbers, though of the same evidence.
    document = send(cast)
    assert document.reasons[0] == Reason.NOT_CERTIFIED
    assert behind(cast, calibrated) == {"/total"}
    # Some labels are left to calibrators, so a few more are needed; nobody has to wait for what it reads itself.
    examine(cast.document_type, [(LOW, True)] * ENOUGH, engine_version=champion())
    certify(cast)
    assert behind(cast, calibrated) == frozenset()


def test_a_field_of_which_nothing_was_certified_goes_by_the_limits_set_by_hand(cast: Cast) -> None:
    send(cast)
    promise(cast.document_type, cast.manager, TARGET)
    assert behind(cast, champion()) == frozenset()
    # A draft that says what the labels do not carry is a draft: nothing changes before it is in force.
    policy = draft_from_targets(actor=Actor(cast.manager), document_type=cast.document_type)
    assert behind(cast, champion()) == frozenset()
    activate_policy(actor=Actor(cast.manager), policy=policy)
    assert behind(cast, champion()) == {"/total"}


def test_limits_looser_than_the_certified_are_certified_by_nothing(cast: Cast, certified: RoutingPolicy) -> None:
    for limit, held in ((LOW - 0.01, {"/total"}), (LOW + 0.01, set()), (float(f"{LOW - 1e-7:.6g}"), set())):
        changed = certified.rules | {"fields": {"/total": {"auto": None, "review": limit}}}
        policy = draft_policy(actor=Actor(cast.manager), document_type=cast.document_type, rules=changed)
        activate_policy(actor=Actor(cast.manager), policy=policy)
        assert behind(cast, champion()) == held


def test_what_could_not_be_certified_stays_with_people(cast: Cast, certified: RoutingPolicy) -> None:
    version = as_good(cast)
    rolled_out(cast, version, RolloutStage.LIVE)
    send(cast)
    # No label of the new version yet: a draft says so, and activating it automates nothing.
    policy = certify(cast)
    assert policy.certificates.get().threshold is None
    assert not is_stored_unseen(send(cast, "still"))


def test_a_target_that_was_removed_holds_nothing_back(cast: Cast, certified: RoutingPolicy) -> None:
    other = as_good(cast)
    assert behind(cast, other) == {"/total"}
    remove_target(actor=Actor(cast.manager), target=FieldTarget.objects.get())
    assert behind(cast, other) == frozenset()


def test_a_certificate_of_a_looser_target_certifies_no_version_that_comes_later(
    cast: Cast, certified: RoutingPolicy
) -> None:
    """The promise that the limits in force were drafted for goes on; another one has to be certified."""
    promise(cast.document_type, cast.manager, TARGET / 2)
    assert behind(cast, champion()) == frozenset(), "a target that was changed holds nothing back before the next draft"
    by_hand = draft_policy(
        actor=Actor(cast.manager),
        document_type=cast.document_type,
        rules=certified.rules | {"fields": {"/total": {"auto": None, "review": 0.9}}},
    )
    activate_policy(actor=Actor(cast.manager), policy=by_hand)
    assert behind(cast, champion()) == {"/total"}
    activate_policy(actor=Actor(cast.manager), policy=certified)
    assert behind(cast, champion()) == {"/total"}, "brought back, it was drafted for another promise"
    promise(cast.document_type, cast.manager, TARGET)
    activate_policy(actor=Actor(cast.manager), policy=by_hand)
    assert behind(cast, champion()) == frozenset()
    FieldTarget.objects.update(confidence=0.99)
    assert behind(cast, champion()) == {"/total"}


def test_managers_are_told_of_a_target_that_only_a_looser_certificate_is_there_for(
    cast: Cast, certified: RoutingPolicy
) -> None:
    rolled_out(cast, champion(), RolloutStage.LIVE)
    assert not left_behind_in(cast.project).exists()
    promise(cast.document_type, cast.manager, TARGET / 2)
    assert not left_behind_in(cast.project).exists()
    activate_policy(actor=Actor(cast.manager), policy=certified)
    assert left_behind_in(cast.project).exists()


def test_a_target_that_was_never_certified_is_of_no_earlier_version(cast: Cast, client: Client) -> None:
    set_audits(cast.document_type)
    examine(cast.document_type, [(LOW, True)])
    read_by(cast.document_type, champion())
    promise(cast.document_type, cast.manager, TARGET)
    assert certify(cast).certificates.get().threshold is None
    rolled_out(cast, as_good(cast), RolloutStage.LIVE)
    client.force_login(cast.manager)
    html = client.get(reverse("documents", args=[cast.project.slug])).content.decode()
    assert "is certified of an earlier version" not in html
