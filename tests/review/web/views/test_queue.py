"""The queue page: the answer first, why and how long, who is at work, and what managers do with it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import ReviewTask
from review.selectors.queue import PAGE_SIZE
from tests import factories
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


def page(client: Client, cast: Cast, query: str = "") -> str:
    return client.get(reverse("queue", args=[cast.project.slug]) + query).content.decode()


def task_with(cast: Cast, *reasons: str, name: str = "a.jpg") -> ReviewTask:
    document = factories.make_routed(cast.document_type, reasons=list(reasons), filename=name)
    return ReviewTask.objects.get(document=document)


def change(client: Client, cast: Cast, **data: object) -> str:
    return client.post(reverse("change_queue", args=[cast.project.slug]), data, follow=True).content.decode()


def test_an_empty_queue_says_what_would_bring_work(reviewer: Client, cast: Cast) -> None:
    html = page(reviewer, cast)
    assert "Nothing waits for a person." in html
    assert "drawn for a check" in html
    assert "<table" not in html


def test_the_first_line_is_how_much_waits_and_how_long(reviewer: Client, cast: Cast) -> None:
    for _ in range(3):
        task = task_with(cast, "low_confidence")
    ReviewTask.objects.filter(pk=task.pk).update(created_at=timezone.now() - timedelta(hours=5))
    html = page(reviewer, cast)
    assert "<strong>3</strong> documents wait for a person, the oldest for 5 hours; 3 can be taken now." in html
    assert html.index('class="answer"') < html.index("<table")


def test_reasons_are_said_in_words_and_lead_to_their_documents(reviewer: Client, cast: Cast) -> None:
    task_with(cast, "low_confidence", name="blurred.jpg")
    task_with(cast, "rule_failed", name="sum.jpg")
    html = page(reviewer, cast)
    assert 'href="?reason=rule_failed"' in html
    assert "a value breaks a rule" in html
    narrowed = page(reviewer, cast, "?reason=rule_failed")
    assert "sum.jpg" in narrowed
    assert "blurred.jpg" not in narrowed


def test_a_filter_that_nothing_passes_says_so(reviewer: Client, cast: Cast) -> None:
    task_with(cast, "low_confidence")
    assert "No waiting document passes these filters" in page(reviewer, cast, "?holding=held")


@pytest.mark.parametrize("query", ["?reason=nonsense", "?age=x", "?after=x", "?after=1:", "?after=1:2:3", "?after=-:5"])
def test_nonsense_in_the_address_shows_the_whole_queue(reviewer: Client, cast: Cast, query: str) -> None:
    task_with(cast, "low_confidence", name="here.jpg")
    assert "here.jpg" in page(reviewer, cast, query)


def test_who_works_on_what_is_seen(reviewer: Client, cast: Cast) -> None:
    task = task_with(cast)
    ReviewTask.objects.filter(pk=task.pk).update(
        lease_holder=cast.manager, lease_token="t", lease_expires_at=timezone.now() + timedelta(minutes=5)
    )
    html = page(reviewer, cast)
    assert "At work now" in html
    assert html.count("mia") == 2
    assert "0 can be taken now" in html


def test_only_managers_are_offered_bulk_acts(reviewer: Client, manager: Client, cast: Cast) -> None:
    task_with(cast)
    assert 'name="act"' not in page(reviewer, cast)
    assert 'value="release"' in page(manager, cast)


def test_chosen_tasks_are_put_first(manager: Client, cast: Cast) -> None:
    task = task_with(cast)
    assert "1 task changed." in change(manager, cast, task=[task.pk], act="prioritise", priority="7")
    task.refresh_from_db()
    assert task.priority == 7


def test_chosen_tasks_are_kept_for_somebody(manager: Client, cast: Cast) -> None:
    tasks = [task_with(cast), task_with(cast)]
    html = change(manager, cast, task=[task.pk for task in tasks], act="assign", reviewer="rui")
    assert "2 tasks changed." in html
    assert html.count("kept for rui") == 2
    assert "2 tasks changed." in change(manager, cast, task=[task.pk for task in tasks], act="release")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"act": "release"}, "No task was chosen"),
        ({"act": "explode", "task": ["1"]}, "Choose what to do"),
        ({"act": "prioritise", "task": ["1"], "priority": "1000"}, "from -100 to 100"),
        ({"act": "prioritise", "task": ["1"], "priority": "high"}, "from -100 to 100"),
        ({"act": "assign", "task": ["1"], "reviewer": "sam"}, "No member of this project"),
        ({"act": "assign", "task": ["1"], "reviewer": "vik"}, "who may review"),
        ({"act": "release", "task": ["x", "²"]}, "No task was chosen"),
    ],
)
def test_a_wrong_wish_is_answered_in_words(manager: Client, cast: Cast, data: dict[str, object], message: str) -> None:
    assert message in change(manager, cast, **data)


def test_one_returns_to_the_page_one_came_from(manager: Client, cast: Cast) -> None:
    task = task_with(cast)
    address = reverse("change_queue", args=[cast.project.slug])
    here = reverse("queue", args=[cast.project.slug])
    data = {"task": [task.pk], "act": "release"}
    assert manager.post(address, {**data, "next": f"{here}?age=hour"})["Location"] == f"{here}?age=hour"
    for elsewhere in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "queue"):
        assert manager.post(address, {**data, "next": elsewhere})["Location"] == here


def test_the_queue_is_paged(reviewer: Client, cast: Cast) -> None:
    run = task_with(cast).run
    ReviewTask.objects.bulk_create(
        ReviewTask(project=cast.project, document_type=cast.document_type, document=one, run=run)
        for one in [factories.make_document(cast.document_type) for _ in range(PAGE_SIZE)]
    )
    first = page(reviewer, cast)
    assert 'rel="next"' in first
    last = ReviewTask.objects.order_by("id")[PAGE_SIZE - 1]
    second = page(reviewer, cast, f"?after=0:{last.pk}")
    assert 'rel="next"' not in second
    assert second.count("<tr>") == 2


def test_the_page_is_chinese_for_whoever_reads_chinese(reviewer: Client, cast: Cast, chinese: None) -> None:
    task_with(cast, "low_confidence")
    reviewer.cookies["django_language"] = "zh-hans"
    html = page(reviewer, cast)
    assert "份文档等待人工处理" in html
    assert "识别" in html


def test_the_page_costs_the_same_queries_for_more_tasks(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    task_with(cast, "low_confidence")
    page(manager, cast)
    with CaptureQueriesContext(connection) as few:
        page(manager, cast)
    for number in range(8):
        task_with(cast, "low_confidence", "rule_failed", name=f"{number}.jpg")
    with django_assert_num_queries(len(few)):
        page(manager, cast)
    assert len(few) == 11
