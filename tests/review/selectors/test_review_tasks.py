from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import (
    Document,
    DocumentType,
    ExtractionRun,
    FieldEdit,
    Project,
    ReviewTask,
    Role,
    TaskSkip,
    TaskState,
    User,
    Verdict,
)
from review.selectors.frame import frame_for
from review.selectors.review_tasks import (
    queue_summary,
    task_detail,
    task_field,
    tasks_for,
    tasks_held_by,
    waiting_tasks,
)
from tests import factories
from tests.conftest import Cast
from tests.review.actions.second_room import COMPANY, TOTAL, answer, draw_all, make_first_task
from tests.review.invoices import INVOICE, make_invoice


def task_of(document: Document) -> ReviewTask:
    return ReviewTask.objects.get(document=document)


def hold(task: ReviewTask, cast: Cast, *, seconds: float) -> None:
    end = timezone.now() + timedelta(seconds=seconds)
    ReviewTask.objects.filter(pk=task.pk).update(lease_holder=cast.reviewer, lease_token="t", lease_expires_at=end)


@pytest.fixture
def tasks(cast: Cast) -> list[ReviewTask]:
    """Four tasks: priorities 0, 5, 0, 5."""
    return [task_of(factories.make_routed(cast.document_type, priority=priority)) for priority in (0, 5, 0, 5)]


def test_the_most_important_then_the_oldest_comes_first(cast: Cast, tasks: list[ReviewTask]) -> None:
    expected = [tasks[1], tasks[3], tasks[0], tasks[2]]
    assert list(waiting_tasks(cast.project, cast.reviewer)) == expected
    assert list(tasks_for(cast.project)) == expected


def test_held_and_skipped_and_finished_tasks_do_not_wait(cast: Cast, tasks: list[ReviewTask]) -> None:
    hold(tasks[1], cast, seconds=60)
    TaskSkip.objects.create(task=tasks[3], reviewer=cast.reviewer, reason="upside down")
    ReviewTask.objects.filter(pk=tasks[0].pk).update(state=TaskState.DONE)
    assert list(waiting_tasks(cast.project, cast.reviewer)) == [tasks[2]]
    assert list(waiting_tasks(cast.project, cast.manager)) == [tasks[3], tasks[2]]


def test_a_lease_ends_by_time_alone(cast: Cast, tasks: list[ReviewTask]) -> None:
    hold(tasks[1], cast, seconds=60)
    now = timezone.now()
    assert waiting_tasks(cast.project, cast.manager, now=now).first() == tasks[3]
    assert waiting_tasks(cast.project, cast.manager, now=now + timedelta(seconds=61)).first() == tasks[1]


def test_tasks_of_another_type_and_of_another_tenant_stay_out(cast: Cast, tasks: list[ReviewTask]) -> None:
    other_type = factories.make_document_type(cast.project, "slip")
    slip = task_of(factories.make_routed(other_type))
    task_of(factories.make_routed(cast.other_document_type, priority=9))
    assert waiting_tasks(cast.project, cast.reviewer).count() == 5
    assert list(waiting_tasks(cast.project, cast.reviewer, document_type=other_type)) == [slip]
    assert list(tasks_for(cast.project, document_type=other_type)) == [slip]
    assert queue_summary(cast.project, document_type=other_type).n_open == 1


def test_tasks_are_listed_by_state(cast: Cast, tasks: list[ReviewTask]) -> None:
    ReviewTask.objects.filter(pk=tasks[0].pk).update(state=TaskState.UNUSABLE)
    assert list(tasks_for(cast.project, state=TaskState.UNUSABLE)) == [tasks[0]]
    assert tasks[0] not in tasks_for(cast.project)


def test_a_lapsed_lease_is_still_held_until_somebody_takes_the_task(cast: Cast, tasks: list[ReviewTask]) -> None:
    hold(tasks[0], cast, seconds=-60)
    hold(tasks[2], cast, seconds=60)
    assert list(tasks_held_by(cast.project, cast.reviewer)) == [tasks[2], tasks[0]]
    assert not tasks_held_by(cast.project, cast.manager).exists()
    assert not tasks_held_by(cast.project, cast.reviewer, document_type=cast.other_document_type).exists()


def test_an_empty_queue_has_no_ages(cast: Cast) -> None:
    summary = queue_summary(cast.project, reviewer=cast.reviewer)
    assert (summary.n_open, summary.n_leased, summary.n_skipped) == (0, 0, 0)
    assert summary.oldest_age_seconds is None
    assert summary.next_free_in_seconds is None


def test_the_queue_says_why_nothing_is_left_for_a_reviewer(cast: Cast, tasks: list[ReviewTask]) -> None:
    hold(tasks[0], cast, seconds=60)
    hold(tasks[1], cast, seconds=30)
    hold(tasks[2], cast, seconds=-1)
    TaskSkip.objects.create(task=tasks[3], reviewer=cast.manager, reason="no idea")
    ReviewTask.objects.filter(pk=tasks[0].pk).update(created_at=timezone.now() - timedelta(hours=2))
    summary = queue_summary(cast.project, reviewer=cast.manager)
    assert (summary.n_open, summary.n_leased, summary.n_skipped) == (4, 2, 1)
    assert summary.oldest_age_seconds == pytest.approx(7200, abs=60)
    assert summary.next_free_in_seconds == pytest.approx(30, abs=10)
    assert queue_summary(cast.project).n_skipped == 0
    assert queue_summary(cast.project, document_type=cast.document_type, reviewer=cast.manager).n_skipped == 1
    other_type = factories.make_document_type(cast.project, "slip")
    assert queue_summary(cast.project, document_type=other_type, reviewer=cast.manager).n_skipped == 0


def test_finished_tasks_and_their_skips_are_not_counted(cast: Cast, tasks: list[ReviewTask]) -> None:
    TaskSkip.objects.create(task=tasks[0], reviewer=cast.manager, reason="no idea")
    ReviewTask.objects.filter(pk=tasks[0].pk).update(state=TaskState.DONE)
    summary = queue_summary(cast.project, reviewer=cast.manager)
    assert (summary.n_open, summary.n_skipped) == (3, 0)


def n_waiting(project: Project, reviewer: User) -> int:
    return frame_for(reviewer, project).n_waiting


def test_who_reviews_nothing_waits_for_nothing(cast: Cast, tasks: list[ReviewTask]) -> None:
    assert (n_waiting(cast.project, cast.viewer), n_waiting(cast.project, cast.admin)) == (0, len(tasks))


def test_what_waits_for_one_is_what_they_may_be_given(cast: Cast, tasks: list[ReviewTask]) -> None:
    hold(tasks[0], cast, seconds=60)
    ReviewTask.objects.filter(pk=tasks[1].pk).update(assignee=cast.manager)
    ReviewTask.objects.filter(pk=tasks[2].pk).update(assignee=cast.reviewer)
    TaskSkip.objects.create(task=tasks[3], reviewer=cast.reviewer, reason="no idea")
    assert n_waiting(cast.project, cast.reviewer) == 3
    assert n_waiting(cast.project, cast.manager) == 3
    assert n_waiting(cast.other_project, cast.stranger) == 0


def test_a_second_look_at_ones_own_work_does_not_wait_for_one(cast: Cast, tasks: list[ReviewTask]) -> None:
    draw_all(cast)
    other = factories.make_member(cast.project, Role.REVIEWER, "ana")
    answer(cast.reviewer, make_first_task(cast), COMPANY, TOTAL)
    assert (n_waiting(cast.project, cast.reviewer), n_waiting(cast.project, other)) == (4, 5)
    # A seeded task that is kept for one is hidden from all others: it is left out once, not twice.
    ReviewTask.objects.filter(kind="second_review").update(kind="seeded", assignee=other)
    assert (n_waiting(cast.project, cast.reviewer), n_waiting(cast.project, other)) == (4, 5)


def test_what_waits_for_one_is_one_query(
    cast: Cast, tasks: list[ReviewTask], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        assert n_waiting(cast.project, cast.reviewer) == len(tasks)


def make_queue(document_type: DocumentType, n: int) -> None:
    """`n` open tasks in one go, on documents that share the bytes of nothing."""
    template = factories.make_document(document_type)
    documents = Document.objects.bulk_create(
        Document(
            project_id=template.project_id,
            document_type=document_type,
            schema_version=template.schema_version,
            filename="x.jpg",
            media_type="image/jpeg",
            n_bytes=1,
            sha256=f"{number:064x}",
        )
        for number in range(n)
    )
    engine_version = factories.make_engine_version()
    runs = ExtractionRun.objects.bulk_create(
        ExtractionRun(
            document=document, engine_version=engine_version, schema_version_id=document.schema_version_id or 0
        )
        for document in documents
    )
    ReviewTask.objects.bulk_create(
        ReviewTask(
            project_id=template.project_id,
            document_type=document_type,
            document=document,
            run=run,
            priority=number % 3,
        )
        for number, (document, run) in enumerate(zip(documents, runs, strict=True))
    )


def analyse() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@pytest.mark.parametrize("is_by_type", [False, True])
def test_the_next_task_is_read_from_an_index_without_sorting(cast: Cast, is_by_type: bool) -> None:
    make_queue(cast.document_type, 3000)
    make_queue(factories.make_document_type(cast.project, "slip"), 3000)
    analyse()
    document_type = cast.document_type if is_by_type else None
    queue = waiting_tasks(cast.project, cast.reviewer, document_type=document_type)
    plan = queue.values_list("pk", "lease_token")[:20].explain()
    assert ("task_queue_by_type" if is_by_type else "task_queue") in plan
    assert "TEMP B-TREE" not in plan
    assert "Sort" not in plan
    assert "SCAN" not in plan.replace("review_taskskip", "")
    assert "Seq Scan on review_reviewtask" not in plan


def test_held_tasks_are_sought_in_their_index(cast: Cast) -> None:
    make_queue(cast.document_type, 3000)
    analyse()
    assert "task_held" in tasks_held_by(cast.project, cast.reviewer).explain()


def test_the_size_of_the_queue_changes_no_number_of_queries(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        make_queue(cast.document_type, 50)
        with django_assert_num_queries(5):
            queue_summary(cast.project, reviewer=cast.reviewer)


@pytest.fixture
def invoice_task(cast: Cast) -> ReviewTask:
    return task_of(make_invoice(factories.make_document_type(cast.project, "invoice", INVOICE)))


def test_a_task_shows_fields_in_the_schemas_order_and_rows_by_number(invoice_task: ReviewTask) -> None:
    detail = task_detail(invoice_task)
    assert [field.path for field in detail.fields] == [
        "/number",
        "/seller/name",
        "/line_items/2/what",
        "/line_items/2/amount",
        "/line_items/10/amount",
    ]
    assert [field.spec.labels["zh"] for field in detail.fields][:3] == ["号码", "销售方", "名称"]
    assert [group.path for group in detail.groups] == ["/line_items"]
    assert [page.page_number for page in detail.pages] == [1]


def test_a_task_shows_what_was_read_how_it_was_routed_and_what_was_saved(cast: Cast, invoice_task: ReviewTask) -> None:
    for version, value in ((1, "A-2"), (2, "A-3")):
        FieldEdit.objects.create(
            task=invoice_task,
            field_path="/number",
            version=version,
            verdict=Verdict.CORRECTED,
            value=value,
            author=cast.reviewer,
        )
    number, seller, *_ = task_detail(invoice_task).fields
    assert number.prediction is not None
    assert number.decision is not None
    assert number.edit is not None
    assert (number.prediction.value, number.decision.reasons, number.edit.value) == ("A-1", ["low_confidence"], "A-3")
    assert (number.is_to_examine, seller.is_to_examine, seller.edit) == (True, False, None)


def test_a_field_that_was_not_read_is_shown_all_the_same(cast: Cast) -> None:
    task = task_of(factories.make_routed(cast.document_type, {"/total": factories.FieldPlan()}))
    detail = task_detail(task)
    assert [field.path for field in detail.fields] == ["/company", "/date", "/total"]
    assert detail.fields[0].prediction is None
    assert not detail.fields[0].is_to_examine


def test_a_row_that_a_person_added_is_shown_among_the_others(cast: Cast, invoice_task: ReviewTask) -> None:
    FieldEdit.objects.create(
        task=invoice_task, field_path="/line_items/3/what", version=1, verdict=Verdict.MISSING, value="Milk"
    )
    assert [field.path for field in task_detail(invoice_task).fields][2:] == [
        "/line_items/2/what",
        "/line_items/2/amount",
        "/line_items/3/what",
        "/line_items/10/amount",
    ]


def test_a_cell_that_nobody_filled_can_be_looked_up(invoice_task: ReviewTask) -> None:
    detail = task_detail(invoice_task)
    empty = detail.field_at("/line_items/4/amount")
    assert empty is not None
    assert (empty.prediction, empty.decision, empty.edit) == (None, None, None)
    known = detail.field_at("/line_items/2/amount")
    assert known is not None
    assert known.prediction is not None
    assert detail.field_at("/line_items/4/colour") is None


def test_one_field_of_a_task_can_be_read_alone(cast: Cast, invoice_task: ReviewTask) -> None:
    FieldEdit.objects.create(task=invoice_task, field_path="/number", version=1, verdict=Verdict.CONFIRMED, value="A-1")
    field = task_field(invoice_task, "/number")
    assert field is not None
    assert field.prediction is not None
    assert field.edit is not None
    assert (field.prediction.value, field.edit.version) == ("A-1", 1)
    assert task_field(invoice_task, "/nothing") is None


def test_a_task_costs_the_same_number_of_queries_with_one_and_with_forty_rows(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    document_type = factories.make_document_type(cast.project, "invoice", INVOICE)
    for n_rows in (1, 40):
        plans = {f"/line_items/{row}/amount": factories.FieldPlan() for row in range(n_rows)}
        task = task_of(factories.make_routed(document_type, plans))
        with django_assert_num_queries(6):
            assert len(task_detail(task).fields) == 2 + n_rows


def test_a_task_of_a_failed_reading_can_be_shown(cast: Cast) -> None:
    document = factories.make_document(cast.document_type)
    assert cast.document_type.active_version is not None
    run = ExtractionRun.objects.create(
        document=document,
        engine_version=factories.make_engine_version(),
        schema_version=cast.document_type.active_version,
    )
    detail = task_detail(factories.make_task(document, run))
    assert detail.decision is None
    assert [field.prediction for field in detail.fields] == [None, None, None]


def test_projects_do_not_see_each_others_queues(cast: Cast, tasks: list[ReviewTask]) -> None:
    other: Project = cast.other_project
    assert not tasks_for(other).exists()
    assert queue_summary(other).n_open == 0
