"""What is promised per field, the policy the labels carry, and a field that is turned on again."""

from typing import Any

import pytest

from review.actions.targets import draft_from_targets, remove_target, resume_field, set_target
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    AuditEntry,
    Event,
    FieldCertificate,
    FieldMonitor,
    FieldReview,
    FieldTarget,
    PolicyState,
    RoutingPolicy,
)
from review.routing.policy import PolicyRules, Thresholds
from review.routing.spending import share_of_attempt
from review.routing.targets import NOT_STORED, certify
from review.selectors.access import Actor
from tests import factories
from tests.conftest import Cast
from tests.review.targets_room import examine, promise, set_audits

pytestmark = pytest.mark.django_db


def draft(cast: Cast) -> RoutingPolicy:
    return draft_from_targets(actor=Actor(cast.manager), document_type=cast.document_type)


def certificate(policy: RoutingPolicy, path: str = "/total") -> FieldCertificate:
    return policy.certificates.get(field_path=path)


def rules_of(policy: RoutingPolicy) -> PolicyRules:
    return PolicyRules.from_json(policy.rules)


def good(n: int, confidence: float = 0.97) -> list[tuple[float, bool]]:
    return [(confidence, True)] * n


def test_a_target_is_kept_audited_announced_and_watched(cast: Cast) -> None:
    target = promise(cast.document_type, cast.manager)
    assert (target.wrong_share, target.confidence, target.most_per_document) == (0.01, 0.95, 1)
    assert target.set_by == cast.manager
    monitor = FieldMonitor.objects.get()
    assert (monitor.field_path, monitor.state["target"], monitor.tripped_at) == ("/total", 0.01, None)
    entry = AuditEntry.objects.get(action="field_target.set")
    assert (entry.actor, entry.detail["wrong_share"]) == (cast.manager, 0.01)
    event = Event.objects.get(name="field_target.set")
    assert event.payload == {"document_type": cast.document_type.slug, "field_path": "/total"}


def test_setting_the_same_target_twice_changes_nothing(cast: Cast) -> None:
    for _ in range(2):
        promise(cast.document_type, cast.manager)
    assert AuditEntry.objects.filter(action="field_target.set").count() == 1
    assert FieldMonitor.objects.count() == 1


def test_another_target_is_watched_anew(cast: Cast) -> None:
    promise(cast.document_type, cast.manager)
    FieldMonitor.objects.update(state=FieldMonitor.objects.get().state | {"n_documents": 7})
    promise(cast.document_type, cast.manager, 0.02)
    old, new = FieldMonitor.objects.order_by("id")
    assert (old.ended_at is None, old.ended_by) == (False, cast.manager)
    assert (new.ended_at, new.state["target"], new.state["n_documents"]) == (None, 0.02, 0)
    assert FieldTarget.objects.get().wrong_share == 0.02


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"field_path": "/nothing"}, "/field_path"),
        ({"wrong_share": 0.0}, "/wrong_share"),
        ({"wrong_share": 0.5}, "/wrong_share"),
        ({"wrong_share": float("nan")}, "/wrong_share"),
        ({"confidence": 1.0}, "/confidence"),
        ({"confidence": 0.0}, "/confidence"),
        ({"most_per_document": 0}, "/most_per_document"),
    ],
)
def test_a_target_that_cannot_be_is_refused_with_its_place(cast: Cast, changes: dict[str, Any], pointer: str) -> None:
    asked: dict[str, Any] = {"field_path": "/total", "wrong_share": 0.01} | changes
    with pytest.raises(InvalidInputError) as refused:
        set_target(actor=Actor(cast.manager), document_type=cast.document_type, **asked)
    assert [problem["pointer"] for problem in refused.value.details["problems"]] == [pointer]
    assert not FieldTarget.objects.exists()


def test_a_removed_target_is_watched_no_more_and_can_come_back(cast: Cast) -> None:
    target = promise(cast.document_type, cast.manager)
    for _ in range(2):
        remove_target(actor=Actor(cast.manager), target=target)
    assert not FieldMonitor.objects.filter(ended_at=None).exists()
    assert AuditEntry.objects.filter(action="field_target.removed").count() == 1
    assert promise(cast.document_type, cast.manager).pk == target.pk
    assert FieldMonitor.objects.filter(ended_at=None).count() == 1


def test_enough_right_values_carry_a_threshold_and_the_draft_has_it(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.05)
    # Everything at 0.9 is wrong: the limit must lie above it.
    examine(cast.document_type, [*good(140), *[(0.9, False)] * 20])
    policy = draft(cast)
    one = certificate(policy)
    assert (policy.state, policy.number, policy.created_by) == (PolicyState.DRAFT, 2, cast.manager)
    assert one.threshold == 0.97
    assert (one.n_trials, one.n_wrong, one.n_examined, one.n_frame, one.n_stored) == (140, 0, 160, 160, 140)
    assert one.upper_limit <= 0.05
    assert rules_of(policy).thresholds_for("/total") == Thresholds(auto=None, review=0.97)
    # Other fields and all shares are as in force.
    assert rules_of(policy).default == Thresholds(0.9, 0.6)
    assert policy.rules["audit_sampled_share"] == 0.2
    assert cast.document_type.policies.get(state=PolicyState.ACTIVE).number == 1


def test_too_few_values_automate_nothing_and_say_how_many_more(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)
    examine(cast.document_type, good(20))
    policy = draft(cast)
    one = certificate(policy)
    assert (one.threshold, one.n_stored) == (None, 0)
    # At 1 % and the level of a first look it takes 321 in all.
    assert one.n_more_needed == 301
    assert not one.could_pass
    assert rules_of(policy).thresholds_for("/total") == NOT_STORED


def test_a_target_without_any_label_automates_nothing(cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    promise(cast.document_type, cast.manager)
    one = certificate(draft(cast))
    assert (one.threshold, one.n_examined) == (None, 0)
    assert one.n_more_needed is not None


def test_nothing_to_certify_is_said(cast: Cast) -> None:
    with pytest.raises(ConflictError) as refused:
        draft(cast)
    assert "Set one first" in str(refused.value.message)
    promise(cast.document_type, cast.manager)
    with pytest.raises(ConflictError) as refused:
        draft(cast)
    assert "No document" in str(refused.value.message)


def test_each_attempt_on_new_labels_is_a_look_and_the_same_labels_are_none(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.2)
    # Enough to pass had nothing been wrong.
    examine(cast.document_type, [*good(30), *[(0.97, False)] * 10])
    assert [certificate(draft(cast)).look for _ in range(2)] == [1, 1]
    assert FieldCertificate.objects.filter(could_pass=True, threshold=None).count() == 2
    examine(cast.document_type, good(1))
    assert certificate(draft(cast)).look == 2
    promise(cast.document_type, cast.manager, 0.25)
    # Another question to the same labels is another look; so is how many values of a document count.
    assert certificate(draft(cast)).look == 3
    set_target(
        actor=Actor(cast.manager),
        document_type=cast.document_type,
        field_path="/total",
        wrong_share=0.25,
        most_per_document=2,
    )
    assert certificate(draft(cast)).look == 4


def test_an_attempt_that_could_not_have_passed_spends_nothing(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.2)
    for _ in range(3):
        examine(cast.document_type, good(4))
        attempt = certificate(draft(cast))
        assert (attempt.look, attempt.could_pass, attempt.threshold) == (1, False, None)
    examine(cast.document_type, good(3))
    # 0.8 ** 15 <= 0.05 * 0.8 < 0.8 ** 14: with the first look spent, it would have taken more.
    attempt = certificate(draft(cast))
    assert (attempt.look, attempt.could_pass, attempt.threshold) == (1, True, 0.97)


def test_a_later_look_demands_more(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)
    examine(cast.document_type, good(5))
    first = certificate(draft(cast))
    FieldCertificate.objects.update(look=20, examined_digest="other", could_pass=True)
    later = certificate(draft(cast))
    assert later.look == 21
    assert share_of_attempt(21) < share_of_attempt(1)
    assert first.n_more_needed is not None
    assert later.n_more_needed is not None
    assert later.n_more_needed > first.n_more_needed + 100


def test_of_two_who_draft_at_the_same_moment_one_is_refused(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.2)
    examine(cast.document_type, good(40))
    draft(cast)
    examine(cast.document_type, good(1))

    def while_another_drafts(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr("review.actions.targets.certify", certify)
        examine(cast.document_type, good(1))
        draft(cast)
        return certify(*arguments, **options)

    monkeypatch.setattr("review.actions.targets.certify", while_another_drafts)
    with pytest.raises(ConflictError):
        draft(cast)
    assert list(FieldCertificate.objects.order_by("id").values_list("look", flat=True)) == [1, 2]


def test_values_that_a_person_saw_for_another_reason_certify_nothing(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.05)
    examine(cast.document_type, good(140), reasons=["rule_failed", "low_confidence"])
    one = certificate(draft(cast))
    assert (one.threshold, one.n_examined, one.n_frame) == (None, 0, 0)


def test_labels_of_another_engine_version_certify_nothing(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.05)
    examine(cast.document_type, good(140))
    FieldReview.objects.update(engine_version=factories.make_engine_version("older"))
    assert certificate(draft(cast)).n_examined == 0


def test_values_drawn_more_often_than_others_count_less(cast: Cast) -> None:
    """A policy that hardly looks at sure documents leaves room for errors there, which doubtful ones say nothing of."""
    set_audits(cast.document_type)
    policy = cast.document_type.policies.get()
    policy.rules |= {"audit_auto_share": 0.01}
    policy.save()
    promise(cast.document_type, cast.manager, 0.05)
    examine(cast.document_type, good(140))
    one = certificate(draft(cast))
    assert one.n_examined == 140
    # One in twenty is kept: 0.01/0.2.
    assert one.n_trials < 30
    assert one.threshold is None


def test_a_stopped_field_stays_stopped_whatever_its_target_until_it_is_turned_on(cast: Cast) -> None:
    target = promise(cast.document_type, cast.manager)
    FieldMonitor.objects.update(tripped_at=target.set_at)
    promise(cast.document_type, cast.manager, 0.03)
    monitor = FieldMonitor.objects.get()
    assert (monitor.is_tripped, monitor.ended_at) == (True, None)
    with pytest.raises(ConflictError):
        remove_target(actor=Actor(cast.manager), target=FieldTarget.objects.get())
    begun = resume_field(actor=Actor(cast.manager), monitor=monitor)
    assert (begun.tripped_at, begun.state["target"]) == (None, 0.03)
    # Twice is once.
    assert resume_field(actor=Actor(cast.manager), monitor=monitor) == begun
    assert AuditEntry.objects.filter(action="field_monitor.resumed").count() == 1
    event = Event.objects.get(name="field_monitor.resumed")
    assert event.payload["field_path"] == "/total"
