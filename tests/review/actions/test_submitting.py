from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from review.actions._records import store_record
from review.actions.leasing import Lease, lease_task
from review.actions.submitting import FieldVerdict, submit_task
from review.exceptions import ConflictError, InvalidInputError, LeaseLostError
from review.models import (
    AuditEntry,
    Document,
    DocumentStatus,
    Event,
    ExtractionRun,
    FieldReview,
    Record,
    ReviewTask,
    TaskState,
)
from review.selectors.records import current_record
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.actions.review_room import actor, announced, let_lease_lapse, task_of
from tests.review.actions.submitting_room import TOTAL, save, submit
from tests.review.invoices import INVOICE, make_invoice


def test_a_submit_makes_a_record_that_says_where_each_value_came_from(
    cast: Cast, lease: Lease, task: ReviewTask
) -> None:
    record = submit(cast, lease, TOTAL)
    assert record.values == {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "8.00"}
    assert record.provenance["/company"] == {
        "source": "model",
        "engine_version": factories.make_engine_version().digest,
        "policy": 1,
        "confidence": 0.97,
        "band": "auto",
    }
    assert record.provenance["/total"] == {
        "source": "person",
        "reviewer": "rui",
        "verdict": "corrected",
        "task": task.pk,
    }
    assert (record.revision, record.is_current, record.reviewer) == (1, True, cast.reviewer)


def test_a_submit_finishes_the_task_and_stores_the_document(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    record = submit(cast, lease, TOTAL)
    task.refresh_from_db()
    assert (task.state, task.finished_by, task.lease_expires_at) == (TaskState.DONE, cast.reviewer, None)
    assert task.finished_at is not None
    document = Document.objects.get(pk=task.document_id)
    assert (document.status, document.band) == (DocumentStatus.STORED, "review")
    assert document.finished_at is not None
    assert announced(task)[-1] == ("review_task.submitted", "")
    assert Event.objects.filter(name="document.reviewed", payload__document_id=document.pk).count() == 1
    entry = AuditEntry.objects.get(action="review_task.submitted")
    assert (entry.actor, entry.detail) == (cast.reviewer, {"revision": record.revision, "n_examined": 1})


def test_a_verdict_becomes_a_label_with_all_that_an_estimate_needs(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    submit(cast, lease, TOTAL)
    label = FieldReview.objects.get()
    assert (label.task, label.document, label.project, label.reviewer) == (
        task,
        task.document,
        cast.project,
        cast.reviewer,
    )
    assert (label.field_path, label.verdict, label.value, label.predicted_value) == (
        "/total",
        "corrected",
        "8.00",
        "9.00",
    )
    assert (label.is_correct, label.is_in_sample, label.inclusion_probability) == (False, True, 1.0)
    assert (label.document_type, label.engine_version) == (cast.document_type, factories.make_engine_version())
    assert (label.confidence, label.band, label.is_rolled_up) == (0.4, "review", False)


def test_a_field_looked_at_unasked_is_a_label_but_not_in_the_sample(cast: Cast, lease: Lease) -> None:
    submit(cast, lease, TOTAL, ("/company", "confirmed", None))
    label = FieldReview.objects.get(field_path="/company")
    assert (label.is_in_sample, label.is_correct, label.inclusion_probability) == (False, True, 0.1)
    assert (label.band, label.confidence) == ("auto", 0.97)


def test_a_field_that_nobody_looked_at_gets_no_verdict(cast: Cast, lease: Lease) -> None:
    submit(cast, lease, TOTAL)
    assert list(FieldReview.objects.values_list("field_path", flat=True)) == ["/total"]


@pytest.mark.parametrize(
    ("verdict", "value", "kept", "is_correct"),
    [
        ("confirmed", None, "9.00", True),
        ("corrected", "8.00", "8.00", False),
        ("spurious", None, None, False),
        ("illegible", None, None, None),
    ],
)
def test_every_verdict_leaves_its_value_and_whether_the_reader_was_right(
    cast: Cast, lease: Lease, verdict: str, value: object, kept: str | None, is_correct: bool | None
) -> None:
    record = submit(cast, lease, ("/total", verdict, value))
    label = FieldReview.objects.get()
    assert (label.verdict, label.value, label.is_correct) == (verdict, kept, is_correct)
    assert record.values["/total"] == kept
    assert record.provenance["/total"]["verdict"] == verdict


def test_what_was_saved_counts_at_the_submit_and_what_comes_with_it_wins(cast: Cast, lease: Lease) -> None:
    save(cast, lease, "/total", "corrected", "8.00")
    save(cast, lease, "/company", "corrected", "A shop")
    record = submit(cast, lease, ("/company", "corrected", "Another shop"))
    assert (record.values["/total"], record.values["/company"]) == ("8.00", "Another shop")
    assert FieldReview.objects.count() == 2


def test_what_was_taken_back_holds_the_submit_up_as_if_nobody_had_decided(cast: Cast, lease: Lease) -> None:
    save(cast, lease, *TOTAL)
    save(cast, lease, "/total", None, None, base_version=1)
    with pytest.raises(InvalidInputError) as caught:
        submit(cast, lease)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/total"]
    assert submit(cast, lease, TOTAL).values["/total"] == "8.00"


def test_a_submit_may_take_back_what_was_saved(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    save(cast, lease, "/company", "corrected", "A shop")
    record = submit(cast, lease, TOTAL, ("/company", None, None))
    assert record.provenance["/company"]["source"] == "model"
    assert set(FieldReview.objects.filter(task=task).values_list("field_path", flat=True)) == {"/total"}


def test_a_submit_cannot_take_back_the_only_verdict_on_what_it_asks_for(cast: Cast, lease: Lease) -> None:
    save(cast, lease, *TOTAL)
    with pytest.raises(InvalidInputError) as caught:
        submit(cast, lease, ("/total", None, None))
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/total"]


def test_a_field_to_examine_without_a_verdict_holds_the_submit_up(cast: Cast) -> None:
    plans = {path: FieldPlan(is_to_examine=path != "/date") for path in ("/company", "/date", "/total")}
    task = task_of(factories.make_routed(cast.document_type, plans))
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    with pytest.raises(InvalidInputError) as caught:
        submit(cast, lease)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/company", "/total"]
    save(cast, lease, "/company", "confirmed", None)
    with pytest.raises(InvalidInputError) as caught:
        submit(cast, lease)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/total"]
    task.refresh_from_db()
    assert task.state == TaskState.OPEN
    assert not Record.objects.exists()


def test_all_problems_of_a_submit_are_told_at_once(cast: Cast, lease: Lease) -> None:
    with pytest.raises(InvalidInputError) as caught:
        submit(
            cast,
            lease,
            ("/nothing", "confirmed", None),
            ("/date", "corrected", None),
            ("/company", "confirmed", None),
            ("/company", "illegible", None),
        )
    pointers = [problem["pointer"] for problem in caught.value.details["problems"]]
    assert pointers == ["/nothing", "/date", "/company", "/total"]


def test_a_bad_answer_for_a_field_is_told_once(cast: Cast, lease: Lease) -> None:
    with pytest.raises(InvalidInputError) as caught:
        submit(cast, lease, ("/total", "corrected", None))
    assert len(caught.value.details["problems"]) == 1


def test_submitting_twice_returns_the_first_record(cast: Cast, lease: Lease) -> None:
    first = submit(cast, lease, TOTAL)
    assert submit(cast, lease, ("/total", "corrected", "1.00")) == first
    assert submit(cast, lease) == first
    assert (Record.objects.count(), FieldReview.objects.count()) == (1, 1)


def test_a_repeated_submit_returns_its_own_record_even_after_a_later_revision(cast: Cast, lease: Lease) -> None:
    first = submit(cast, lease, TOTAL)
    later = store_record(lease.task.document, run=lease.task.run, values={}, provenance={}, reviewer=cast.reviewer)
    assert later.revision == 2
    assert submit(cast, lease, TOTAL) == first


def test_after_a_takeover_the_first_holder_cannot_submit(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    let_lease_lapse(task)
    lease_task(actor=actor(cast.manager), task=task)
    with pytest.raises(LeaseLostError) as caught:
        submit(cast, lease, TOTAL)
    assert caught.value.details == {"state": "open", "holder": "mia"}
    assert not Record.objects.exists()


def test_a_task_that_somebody_else_finished_cannot_be_submitted(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    let_lease_lapse(task)
    theirs = lease_task(actor=actor(cast.manager), task=task)
    submit_task(actor=actor(cast.manager), task=task, lease_token=theirs.token, verdicts=[FieldVerdict(*TOTAL)])
    with pytest.raises(LeaseLostError) as caught:
        submit(cast, lease, TOTAL)
    assert caught.value.details["state"] == "done"
    with pytest.raises(LeaseLostError):
        submit_task(actor=actor(cast.manager), task=task, lease_token="", verdicts=[])


def test_a_lapsed_lease_that_nobody_took_over_can_be_submitted(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    let_lease_lapse(task)
    assert submit(cast, lease, TOTAL).values["/total"] == "8.00"


def test_an_audit_adds_a_revision_and_the_band_stays(cast: Cast) -> None:
    plans = {path: FieldPlan(inclusion_probability=0.02) for path in ("/company", "/date", "/total")}
    document = factories.make_routed(cast.document_type, plans, band="auto")
    unseen = store_record(document, run=document.runs.get(), values={"/total": "9.00"}, provenance={})
    lease = lease_task(actor=actor(cast.reviewer), task=task_of(document))
    record = submit(cast, lease, TOTAL, ("/company", "confirmed", None), ("/date", "confirmed", None))
    assert (record.revision, record.values["/total"]) == (2, "8.00")
    assert list(Record.objects.filter(document=document, is_current=True)) == [record]
    assert not Record.objects.get(pk=unseen.pk).is_current
    document.refresh_from_db()
    assert (document.status, document.band) == (DocumentStatus.STORED, "auto")
    assert set(FieldReview.objects.values_list("inclusion_probability", "is_in_sample")) == {(0.02, True)}


def test_a_later_reading_never_touches_what_a_person_settled(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    first = submit(cast, lease, TOTAL, ("/company", "corrected", "A shop"))
    rerun = reread(task, {"/company": "Wrong", "/date": "2020-01-01", "/total": "5.00"})
    record = submit(cast, lease_task(actor=actor(cast.reviewer), task=rerun))
    assert record.values == {"/company": "A shop", "/date": "2020-01-01", "/total": "8.00"}
    assert record.provenance["/company"] == first.provenance["/company"]
    assert record.provenance["/date"]["source"] == "model"
    assert record.run == rerun.run


def test_a_person_may_change_what_a_person_said_before(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    submit(cast, lease, TOTAL)
    rerun = reread(task, {"/total": "5.00"})
    record = submit(cast, lease_task(actor=actor(cast.reviewer), task=rerun), ("/total", "confirmed", None))
    assert (record.values["/total"], record.provenance["/total"]["task"]) == ("5.00", rerun.pk)


def reread(task: ReviewTask, values: dict[str, str]) -> ReviewTask:
    """Another reading of the document, with a new task in which nothing must be examined."""
    task.document.runs.update(is_current=False)
    run = ExtractionRun.objects.create(
        document=task.document,
        engine_version=factories.make_engine_version("another"),
        schema_version=task.run.schema_version,
    )
    for path, value in values.items():
        run.predictions.create(field_path=path, value=value, confidence=0.99)
    return factories.make_task(task.document, run)


def test_a_task_of_a_failed_reading_can_be_keyed_in(cast: Cast) -> None:
    document = factories.make_document(cast.document_type, status=DocumentStatus.REVIEW, band="review")
    assert cast.document_type.active_version is not None
    run = ExtractionRun.objects.create(
        document=document,
        engine_version=factories.make_engine_version(),
        schema_version=cast.document_type.active_version,
    )
    lease = lease_task(actor=actor(cast.reviewer), task=factories.make_task(document, run))
    record = submit(cast, lease, ("/total", "missing", "8.00"))
    assert record.values == {"/total": "8.00"}
    label = FieldReview.objects.get()
    assert (label.verdict, label.predicted_value, label.confidence) == ("missing", None, None)
    assert (label.is_in_sample, label.inclusion_probability, label.band) == (False, 1.0, "review")


def test_rows_that_a_person_added_or_struck_out_are_in_the_record(cast: Cast) -> None:
    task = task_of(make_invoice(factories.make_document_type(cast.project, "invoice", INVOICE)))
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    save(cast, lease, "/line_items/3/amount", "missing", "3.00")
    record = submit(
        cast,
        lease,
        ("/number", "confirmed", None),
        ("/line_items/4/what", "missing", "Milk"),
        ("/line_items/10/amount", "spurious", None),
    )
    assert record.values == {
        "/number": "A-1",
        "/seller/name": "Acme",
        "/line_items/2/what": "Tea",
        "/line_items/2/amount": "2.00",
        "/line_items/3/amount": "3.00",
        "/line_items/4/what": "Milk",
        "/line_items/10/amount": None,
    }
    added = FieldReview.objects.get(field_path="/line_items/4/what")
    assert (added.is_in_sample, added.predicted_value, added.band) == (False, None, "review")


def test_duplicates_follow_the_document_that_was_reviewed(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    twin = factories.make_document(
        cast.document_type, duplicate_of=task.document, status=DocumentStatus.REVIEW, band="review"
    )
    record = submit(cast, lease, TOTAL)
    twin.refresh_from_db()
    assert twin.status == DocumentStatus.STORED
    assert current_record(twin) == record


def test_a_record_written_by_another_at_this_very_moment_is_a_conflict_and_loses_nothing(
    cast: Cast, lease: Lease, task: ReviewTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def store_first(document: Document, **values: Any) -> Record:
        values["run"].document.records.create(
            project_id=document.project_id, revision=1, run=values["run"], values={}, provenance={}
        )
        return Record.objects.create(
            project_id=document.project_id, document=document, revision=1, run=values["run"], values={}, provenance={}
        )

    save(cast, lease, "/total", "corrected", "8.00")
    monkeypatch.setattr("review.actions.submitting.store_record", store_first)
    with pytest.raises(ConflictError) as caught:
        submit(cast, lease)
    assert caught.value.code == "conflict"
    monkeypatch.undo()
    assert submit(cast, lease).values["/total"] == "8.00"


@pytest.mark.parametrize("n_rows", [1, 30])
def test_a_submit_costs_the_same_number_of_queries_with_many_fields(
    cast: Cast, n_rows: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    document_type = factories.make_document_type(cast.project, "invoice", INVOICE)
    plans = {f"/line_items/{row}/amount": FieldPlan() for row in range(n_rows)}
    lease = lease_task(actor=actor(cast.reviewer), task=task_of(factories.make_routed(document_type, plans)))
    with django_assert_num_queries(22):
        submit(cast, lease, *((path, "confirmed", None) for path in plans))
