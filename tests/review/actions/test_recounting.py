"""What an adjudication decides changes the count of the monitor: as if the first reviewer had said so."""

import pytest
from pytest_django import DjangoAssertNumQueries

from review.actions.leasing import lease_task
from review.models import (
    AuditEntry,
    Document,
    EngineVersion,
    FieldMonitor,
    FieldReview,
    Project,
    ReviewTask,
    RolloutStage,
    TaskKind,
    User,
)
from review.routing.monitor import Monitor, watch
from review.routing.paths import column_path
from review.routing.reasons import Reason
from review.routing.thinning import ExaminedValue
from review.selectors.access import Actor
from review.selectors.audits import audits_since
from review.selectors.targets import least_shares
from tests import factories
from tests.conftest import Cast
from tests.factories import SCHEMA, FieldPlan
from tests.review.actions.second_room import finish
from tests.review.rollout_room import rolled_out
from tests.review.targets_room import AUDIT_SHARE, TARGET, answer, audited, promise, set_audits

pytestmark = pytest.mark.django_db

RIGHT = ("/total", "confirmed", None)
WRONG = ("/total", "corrected", "7.77")
ILLEGIBLE = ("/total", "illegible", None)
Verdict = tuple[str, str, object]


@pytest.fixture(autouse=True)
def _promised(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)


def monitor() -> Monitor:
    return Monitor.from_json(FieldMonitor.objects.get(ended_at=None).state)


def submit(user: User, task: ReviewTask, *verdicts: Verdict) -> None:
    finish(user, lease_task(actor=Actor(user), task=task), *verdicts)


def settle(
    cast: Cast, second: User, first: Verdict, then: Verdict, decided: Verdict, by: EngineVersion | None = None
) -> Document:
    """An audit that two people answer; where they differ the manager decides."""
    Project.objects.update(second_review_share=1.0)
    document = audited(cast.document_type)
    document.runs.update(engine_version=by or factories.make_engine_version())
    task = ReviewTask.objects.get(document=document)
    submit(cast.reviewer, task, first)
    submit(second, ReviewTask.objects.get(first_task=task, kind=TaskKind.SECOND_REVIEW), then)
    submit(cast.manager, ReviewTask.objects.get(first_task=task, kind=TaskKind.ADJUDICATION), decided)
    Project.objects.update(second_review_share=0.0)
    return document


def count_of(is_wrong: list[bool]) -> Monitor:
    """The count of a monitor whose first reviewers said this."""
    values = ([ExaminedValue("d", "/total", 0.97, wrong, AUDIT_SHARE, AUDIT_SHARE)] for wrong in is_wrong)
    return watch(Monitor(TARGET), values)


def test_an_error_that_the_first_reviewer_missed_counts_in_its_own_place(cast: Cast, second: User) -> None:
    for is_right in (True, False):
        answer(audited(cast.document_type), cast.reviewer, is_right=is_right)
    settle(cast, second, RIGHT, WRONG, WRONG)
    assert monitor() == count_of([False, True, True])
    answer(audited(cast.document_type), cast.reviewer, is_right=True)
    assert monitor() == count_of([False, True, True, False])


def test_a_place_in_the_middle_stays_a_place_in_the_middle(cast: Cast, second: User) -> None:
    Project.objects.update(second_review_share=1.0)
    documents = [audited(cast.document_type) for _ in range(3)]
    tasks = [ReviewTask.objects.get(document=one) for one in documents]
    for task in tasks:
        submit(cast.reviewer, task, RIGHT)
    assert monitor() == count_of([False] * 3)
    submit(second, ReviewTask.objects.get(first_task=tasks[0], kind=TaskKind.SECOND_REVIEW), WRONG)
    assert monitor() == count_of([False] * 3), "two who differ are not settled"
    submit(cast.manager, ReviewTask.objects.get(first_task=tasks[0], kind=TaskKind.ADJUDICATION), WRONG)
    assert monitor() == count_of([True, False, False])


def test_an_error_that_was_none_counts_no_more(cast: Cast, second: User) -> None:
    settle(cast, second, WRONG, RIGHT, RIGHT)
    assert monitor() == count_of([False])


def test_a_decision_for_the_first_reviewer_changes_nothing(
    cast: Cast, second: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(*_: object) -> list[object]:
        raise AssertionError("all audits are gone through for nothing")

    monkeypatch.setattr("review.actions._monitors.audits_since", count)
    settle(cast, second, WRONG, RIGHT, WRONG)
    assert monitor() == count_of([True])


def test_what_was_looked_at_before_the_monitor_began_is_not_counted_for_a_dispute_that_ends_later(
    cast: Cast, second: User
) -> None:
    Project.objects.update(second_review_share=1.0)
    task = ReviewTask.objects.get(document=audited(cast.document_type))
    submit(cast.reviewer, task, RIGHT)
    promise(cast.document_type, cast.manager, 0.02)
    submit(second, ReviewTask.objects.get(first_task=task, kind=TaskKind.SECOND_REVIEW), WRONG)
    submit(cast.manager, ReviewTask.objects.get(first_task=task, kind=TaskKind.ADJUDICATION), WRONG)
    assert monitor() == Monitor(0.02)


def test_what_the_third_cannot_read_either_counts_nowhere(cast: Cast, second: User) -> None:
    answer(audited(cast.document_type), cast.reviewer, is_right=True)
    settle(cast, second, WRONG, RIGHT, ILLEGIBLE)
    assert monitor() == count_of([False])


def test_a_correction_may_be_the_last_drop(cast: Cast, second: User) -> None:
    n_wrong = next(n for n in range(1, 20) if count_of([True] * n).is_tripped)
    for _ in range(n_wrong - 1):
        answer(audited(cast.document_type), cast.reviewer, is_right=False)
    assert not monitor().is_tripped
    settle(cast, second, RIGHT, WRONG, WRONG)
    row = FieldMonitor.objects.get()
    assert row.is_tripped
    assert (row.policy, row.engine_version) == (cast.document_type.policies.get(), factories.make_engine_version())
    assert AuditEntry.objects.filter(action="field_monitor.tripped").count() == 1


def test_what_has_tripped_stays_so_until_a_manager_turns_it_on(cast: Cast, second: User) -> None:
    while not monitor().is_tripped:
        answer(audited(cast.document_type), cast.reviewer, is_right=False)
    tripped_at, n = monitor().tripped_at, monitor().n_documents
    settle(cast, second, WRONG, RIGHT, RIGHT)
    assert (monitor().tripped_at, monitor().n_documents, monitor().n_wrong) == (tripped_at, n + 1, n)
    assert FieldMonitor.objects.get().is_tripped


def test_what_tripped_by_an_error_that_was_none_stays_so_too(cast: Cast, second: User) -> None:
    n_wrong = next(n for n in range(1, 20) if count_of([True] * n).is_tripped)
    for _ in range(n_wrong - 1):
        answer(audited(cast.document_type), cast.reviewer, is_right=False)
    settle(cast, second, WRONG, RIGHT, RIGHT)
    assert not count_of([*[True] * (n_wrong - 1), False]).is_tripped
    assert (monitor().n_wrong, monitor().tripped_at) == (n_wrong - 1, n_wrong)
    assert FieldMonitor.objects.get().is_tripped


def test_only_what_was_looked_at_since_the_monitor_began_is_counted(cast: Cast, second: User) -> None:
    answer(audited(cast.document_type), cast.reviewer, is_right=False)
    promise(cast.document_type, cast.manager, 0.02)
    settle(cast, second, RIGHT, WRONG, WRONG)
    assert (monitor().n_documents, monitor().n_wrong) == (1, 1)


def held(cast: Cast) -> Document:
    """A value that only waits for a certificate: people see all such."""
    reasons = [str(Reason.NOT_CERTIFIED)]
    return factories.make_routed(
        cast.document_type, {"/total": FieldPlan(confidence=0.97, band="review", reasons=reasons)}
    )


def test_a_canary_is_judged_by_what_waits_for_its_certificate_and_counted_anew_too(cast: Cast, second: User) -> None:
    canary = rolled_out(cast, factories.make_engine_version(), RolloutStage.CANARY)
    answer(held(cast), cast.reviewer, is_right=True)
    assert monitor().n_documents == 0, "nothing of it was stored unseen"
    canary.refresh_from_db()
    assert Monitor.from_json(canary.monitors["/total"]) == full([False])
    Project.objects.update(second_review_share=1.0)
    task = ReviewTask.objects.get(document=held(cast))
    submit(cast.reviewer, task, RIGHT)
    submit(second, ReviewTask.objects.get(first_task=task, kind=TaskKind.SECOND_REVIEW), WRONG)
    submit(cast.manager, ReviewTask.objects.get(first_task=task, kind=TaskKind.ADJUDICATION), WRONG)
    canary.refresh_from_db()
    assert Monitor.from_json(canary.monitors["/total"]) == full([False, True])
    assert monitor().n_documents == 0


def test_a_canary_is_counted_anew_by_what_it_read_itself_since_it_is_one(cast: Cast, second: User) -> None:
    version = factories.make_engine_version("challenger")
    before = audited(cast.document_type)
    before.runs.update(engine_version=version)
    answer(before, cast.reviewer, is_right=False)
    canary = rolled_out(cast, version, RolloutStage.CANARY)
    answer(audited(cast.document_type), cast.reviewer, is_right=False)
    settle(cast, second, RIGHT, WRONG, WRONG, version)
    canary.refresh_from_db()
    assert Monitor.from_json(canary.monitors["/total"]) == count_of([True])
    assert monitor() == count_of([True] * 3)


def full(is_wrong: list[bool]) -> Monitor:
    """The count where every value is looked at: each counts in full."""
    return watch(Monitor(TARGET), ([ExaminedValue("d", "/total", 0.97, wrong)] for wrong in is_wrong))


def test_counting_anew_is_counting_as_it_went(cast: Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    """Rows of a table, values that were not stored, fields of a reviewed document: all as the monitor saw them."""
    column = "/items/*/price"
    plans = {f"/items/{row}/price": FieldPlan(confidence=0.97, band="sampled") for row in range(2)}
    documents = [
        audited(cast.document_type),
        factories.make_routed(cast.document_type, {"/total": FieldPlan(confidence=0.4, band="review")}),
        factories.make_routed(
            cast.document_type,
            {"/total": FieldPlan(confidence=0.97, band="review", reasons=["rule_failed"])},
        ),
        audited(cast.document_type, confidence=0.8),
    ]
    for document, is_right in zip(documents, (True, False, False, False), strict=True):
        answer(document, cast.reviewer, is_right=is_right)
    row, floors = FieldMonitor.objects.get(), least_shares(cast.document_type)
    with django_assert_num_queries(1):
        again = audits_since(cast.document_type, "/total", row.began_at, floors)
    assert watch(Monitor(TARGET), again) == monitor()
    assert [[one.is_wrong for one in values] for values in again] == [[False], [True]]
    document = factories.make_routed(cast.document_type, plans, band="sampled")
    for label in FieldReview.objects.filter(task__document=documents[0]):
        for path in plans:
            label.pk, label.task, label.document, label.field_path = (
                None,
                document.review_tasks.get(),
                document,
                path,
            )
            label.save(force_insert=True)
    (values,) = audits_since(cast.document_type, column, row.began_at, floors)
    assert {column_path(one.field_path) for one in values} == {column}
    assert len(values) == 2


def test_a_field_that_decides_only_since_then_is_counted_as_it_went(cast: Cast) -> None:
    """The chances of a value follow from the schema that it was read by."""
    document_type = cast.document_type
    first = document_type.schema_versions.create(number=2, schema=SCHEMA | {"required": ["date"]}, digest="2")
    second = document_type.active_version
    document_type.active_version = first
    document_type.save()
    policy = document_type.policies.get()
    policy.rules |= {"fields": {"/total": {"auto": None, "review": 0.6}}, "audit_auto_share": 0.02}
    policy.save()
    answer(audited(document_type), cast.reviewer, is_right=False)
    document_type.active_version = second
    document_type.save()
    row = FieldMonitor.objects.get()
    again = audits_since(document_type, "/total", row.began_at, least_shares(document_type))
    assert [[one.floor for one in values] for values in again] == [[0.02]]
    assert watch(Monitor(TARGET), again) == monitor()
