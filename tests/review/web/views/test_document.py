"""One document's page: fields in words, what a person decided, where it stands, and the acts of managers."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from inference.types import RawAnswer
from review.actions.readings import keep_attempts
from review.models import (
    AuditEntry,
    Document,
    DocumentStatus,
    ExtractionRun,
    FieldPrediction,
    PageRead,
    Record,
    ReviewTask,
    Role,
    WorkerHeartbeat,
)
from review.selectors.reading import ReadingKey
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.actions.second_room import COMPANY, TOTAL, answer, draw_all, make_first_task
from tests.review.vlm import read_with_vlm
from tests.review.web.conftest import BACKEND
from tests.review.web.views.document_page import page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _worker(db: None) -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="w", n_workers=1, engine_name="scripted", started_at=now, seen_at=now)


def field(html: str, label: str) -> str:
    """The markup of one field."""
    found = re.search(
        rf'<li class="field [^"]*" id="field-\d+">(?:(?!<li).)*?>{label}</(?:button|span)>.*?</li>', html, re.S
    )
    assert found is not None, label
    return found[0]


def store(document: Document, reviewer: Any = None, **decided: tuple[str, str]) -> Record:
    """A record as read; `decided` names what a person settled: field to (value, verdict)."""
    run = ExtractionRun.objects.get(document=document)
    values = {one.field_path: one.value for one in run.predictions.all()}
    source: dict[str, Any] = {"source": "model", "engine_version": "x", "policy": 1, "confidence": 0.9}
    provenance = dict.fromkeys(values, source)
    for name, (value, verdict) in decided.items():
        values[f"/{name}"] = value
        provenance[f"/{name}"] = {"source": "person", "reviewer": "rui", "verdict": verdict, "task": 1}
    Record.objects.filter(document=document).update(is_current=False)
    return Record.objects.create(
        project=document.project,
        document=document,
        revision=Record.objects.filter(document=document).count() + 1,
        run=run,
        values=values,
        provenance=provenance,
        reviewer=reviewer,
    )


# --- fields ------------------------------------------------------------------------------------------------------


def test_fields_show_value_and_certainty_in_words(viewer: Client, cast: Cast) -> None:
    html = page(viewer, factories.make_routed(cast.document_type))
    assert "BOOK TA K" in field(html, "Company")
    assert "certain" in field(html, "Company")
    assert 'class="field doubtful"' in field(html, "Total")
    assert "the reading is not sure enough" in field(html, "Total")


def test_numbers_stand_behind_a_disclosure(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    FieldPrediction.objects.filter(field_path="/total").update(evidence={"keyword": 1.0, "ocr_score": 0.87})
    total = field(page(viewer, document), "Total")
    before, details = total.split("<details>")
    assert "0.87" not in before
    assert "how clearly the letters were read" in details
    assert "0.87" in details
    assert "0.40" in details


def test_a_persons_decision_has_a_name_and_no_probability(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    FieldPrediction.objects.filter(field_path="/total").update(evidence={"ocr_score": 0.87})
    store(document, cast.reviewer, total=("9.10", "corrected"))
    total = field(page(viewer, document), "Total")
    assert 'class="field person"' in total
    assert "rui: corrected" in total
    assert "9.10" in total
    assert "as printed" in total
    assert not re.search(r"0\.\d\d|%", total)
    assert "doubtful" not in total
    assert "not sure enough" not in total


def test_what_the_machine_stored_names_its_policy(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type, band="auto", is_selected=False)
    store(document)
    assert "as read, by policy 1" in field(page(viewer, document), "Company")


def test_a_missing_value_is_shown_as_missing(viewer: Client, cast: Cast) -> None:
    plans = {"/total": FieldPlan(value=None, confidence=None, band="review", reasons=["missing_value"])}
    document = factories.make_routed(cast.document_type, plans)
    FieldPrediction.objects.update(bbox=None, findings=["not_found"])
    total = field(page(viewer, document), "Total")
    assert 'class="field missing"' in total
    assert "no value" in total
    assert total.count("not found") == 1
    assert "<button" not in total


def test_a_finding_is_said_instead_of_the_kind_of_reason_made_of_it(viewer: Client, cast: Cast) -> None:
    plans = {"/date": FieldPlan(value="2018-04-03", band="review", reasons=["ambiguous_value", "low_confidence"])}
    document = factories.make_routed(cast.document_type, plans)
    FieldPrediction.objects.update(findings=["date_ambiguous"])
    date = field(page(viewer, document), "Date")
    assert "day and month could be the other way round · the reading is not sure enough" in date
    assert "two ways" not in date


def test_a_broken_rule_is_graver_than_doubt(viewer: Client, cast: Cast) -> None:
    plans = {"/total": FieldPlan(value="9.00", band="review", reasons=["rule_failed"])}
    assert 'class="field broken"' in field(page(viewer, factories.make_routed(cast.document_type, plans)), "Total")


def test_values_with_markup_are_text(viewer: Client, cast: Cast) -> None:
    plans = {"/company": FieldPlan(value="<script>alert(1)</script>\nSDN BHD")}
    html = page(viewer, factories.make_routed(cast.document_type, plans))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>SDN BHD" in html


@pytest.mark.usefixtures("chinese")
def test_labels_and_words_follow_the_language(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    viewer.cookies["django_language"] = "zh-hans"
    total = field(page(viewer, document), "合计")
    assert "识别把握不足" in total


# --- where it stands ---------------------------------------------------------------------------------------------


def test_an_unreadable_file_says_why_and_what_to_do(viewer: Client, cast: Cast) -> None:
    document = factories.make_document(cast.document_type, status="unreadable", reasons=["encrypted"])
    html = page(viewer, document)
    assert "the file is protected by a password" in html
    assert "send the file again" in html


def test_a_waiting_document_says_what_it_waits_for(viewer: Client, cast: Cast) -> None:
    WorkerHeartbeat.objects.all().delete()
    html = page(viewer, factories.make_document(cast.document_type))
    assert "waiting: no worker" in html
    assert "manage.py work" in html


def test_a_document_that_waits_for_its_language_model_says_so(viewer: Client, cast: Cast) -> None:
    version = read_with_vlm(cast.project)
    WorkerHeartbeat.objects.update(model_errors={str(version.pk): "engine_unavailable"})
    html = page(viewer, factories.make_document(cast.document_type, status="processing"))
    assert "waiting: model server away" in html
    assert "It goes on by itself when the server is back" in html


def test_a_document_being_read_shows_how_far(viewer: Client, cast: Cast) -> None:
    document = factories.make_document(cast.document_type, status="processing", n_pages=4, n_pages_read=1)
    html = page(viewer, document)
    assert '<progress max="4" value="1"' in html
    assert "The fields appear here once the pages are read" in html


def test_an_open_task_says_who_has_it(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    assert "It waits for a person" in page(viewer, document)
    until = timezone.now() + timedelta(minutes=5)
    ReviewTask.objects.update(lease_holder=cast.reviewer, lease_token="t", lease_expires_at=until)
    assert "rui has it until" in page(viewer, document)


def test_an_audit_is_told_apart_from_a_review(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type, band="auto", is_selected=True)
    store(document)
    html = page(viewer, document)
    assert "a check by a person is due as well" in html
    assert "It waits for a person" not in html


def test_what_a_person_checked_is_not_called_stored_without_a_look(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type, band="auto", is_selected=False)
    store(document, cast.reviewer, total=("9.00", "confirmed"))
    html = page(viewer, document)
    assert "checked by rui" in html
    assert "without a look" not in html


def test_a_duplicate_shows_what_the_first_shows_and_links_both_ways(viewer: Client, cast: Cast) -> None:
    first = factories.make_routed(cast.document_type)
    copy = factories.make_document(
        cast.document_type,
        filename="copy.jpg",
        duplicate_of=first,
        status="review",
        band="review",
        reasons=["duplicate"],
    )
    html = page(viewer, copy)
    assert f'href="{reverse("document", args=[cast.project.slug, first.pk])}"' in html
    assert "BOOK TA K" in html
    assert "copy.jpg" in page(viewer, first)


def test_revisions_show_who_changed_what(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type, band="auto", is_selected=False)
    store(document)
    store(document, cast.reviewer, total=("9.10", "corrected"))
    html = page(viewer, document)
    assert html.index("Revision 2") < html.index("Revision 1")
    newest = html[html.index("Revision 2") : html.index("Revision 1")]
    assert "1 value set" in newest
    assert "<del>9.00</del> 9.10" in newest
    assert "3 values set" in html[html.index("Revision 1") :]


def test_the_past_is_told_in_words(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    for actor, action in (("rui", "document.received"), ("system", "document.routed")):
        AuditEntry.objects.create(
            project=cast.project, actor_label=actor, action=action, object_type="document", object_id=str(document.pk)
        )
    html = page(viewer, document)
    assert "read and routed" in html
    assert "document.routed" not in html


def test_the_page_costs_the_same_number_of_queries_for_more_fields_and_revisions(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small = factories.make_routed(cast.document_type, {"/total": FieldPlan()})
    large = factories.make_routed(cast.document_type)
    store(small)
    for _ in range(5):
        store(large, cast.reviewer)
    page(manager, small)
    with django_assert_num_queries(13) as few:
        page(manager, small)
    with django_assert_num_queries(len(few)):
        page(manager, large)


# --- acts of managers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "is_offered"), [("viewer", False), ("reviewer", False), ("manager", True)])
def test_reading_again_is_offered_to_managers(
    clients: dict[str, Client], cast: Cast, who: str, is_offered: bool
) -> None:
    document = factories.make_routed(cast.document_type)
    assert (reverse("rerun", args=[cast.project.slug, document.pk]) in page(clients[who], document)) is is_offered


class TestActs:
    def test_reading_again_starts_over(self, manager: Client, cast: Cast) -> None:
        document = factories.make_routed(cast.document_type)
        response = manager.post(reverse("rerun", args=[cast.project.slug, document.pk]))
        assert response["Location"] == reverse("document", args=[cast.project.slug, document.pk])
        document.refresh_from_db()
        assert document.status == DocumentStatus.RECEIVED

    def test_what_stands_in_the_way_is_said(self, manager: Client, cast: Cast) -> None:
        document = factories.make_document(cast.document_type, status="processing")
        response = manager.post(reverse("rerun", args=[cast.project.slug, document.pk]), follow=True)
        assert "is being read already" in response.content.decode()

    @pytest.mark.parametrize(("who", "status"), [("reviewer", 403), ("stranger", 404), ("nobody", 302)])
    def test_nobody_else_starts_a_reading_or_takes_a_task(
        self, clients: dict[str, Client], cast: Cast, who: str, status: int
    ) -> None:
        document = factories.make_routed(cast.document_type)
        task = ReviewTask.objects.get()
        for name, pk in (("rerun", document.pk), ("release_task", task.pk)):
            assert clients[who].post(reverse(name, args=[cast.project.slug, pk])).status_code == status
        document.refresh_from_db()
        assert document.status == DocumentStatus.REVIEW

    def test_a_manager_takes_a_task_back(self, manager: Client, cast: Cast) -> None:
        document = factories.make_routed(cast.document_type)
        until = timezone.now() + timedelta(minutes=5)
        ReviewTask.objects.update(lease_holder=cast.reviewer, lease_token="t", lease_expires_at=until)
        task = ReviewTask.objects.get()
        html = page(manager, document)
        assert reverse("release_task", args=[cast.project.slug, task.pk]) in html
        manager.post(reverse("release_task", args=[cast.project.slug, task.pk]))
        task.refresh_from_db()
        assert task.lease_holder is None

    def test_a_finished_task_cannot_be_taken_back(self, manager: Client, cast: Cast) -> None:
        factories.make_routed(cast.document_type)
        ReviewTask.objects.update(state="done", lease_holder=cast.reviewer)
        task = ReviewTask.objects.get()
        response = manager.post(reverse("release_task", args=[cast.project.slug, task.pk]), follow=True)
        assert "finished" in response.content.decode()

    @pytest.mark.parametrize("name", ["rerun", "release_task"])
    def test_acts_need_a_post(self, manager: Client, cast: Cast, name: str) -> None:
        assert manager.get(reverse(name, args=[cast.project.slug, 1])).status_code == 405


def test_the_page_shows_no_answer_to_whoever_may_be_asked_again(cast: Cast) -> None:
    draw_all(cast)
    first = make_first_task(cast)
    answer(cast.reviewer, first, COMPANY, TOTAL)
    second = factories.make_member(cast.project, Role.REVIEWER, "ana")
    pages = {}
    for user in (second, cast.manager):
        client = Client()
        client.force_login(user, backend=BACKEND)
        pages[user] = page(client, first.document)
    assert "8.00" in pages[cast.manager]
    assert "8.00" not in pages[second]
    assert "not shown to you" in pages[second]
    assert "9.00" in field(pages[second], "Total")


def test_a_task_is_offered_to_who_may_take_it(clients: dict[str, Client], cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    address = f"{reverse('desk', args=[cast.project.slug])}?task={document.review_tasks.get().pk}"
    assert address in page(clients["reviewer"], document)
    assert address not in page(clients["viewer"], document)


def test_the_first_reviewer_is_not_told_that_somebody_looks_again(clients: dict[str, Client], cast: Cast) -> None:
    draw_all(cast)
    factories.make_member(cast.project, Role.REVIEWER, "ana")
    first = make_first_task(cast)
    answer(cast.reviewer, first, COMPANY, TOTAL)
    assert "a check by a person is due" not in page(clients["reviewer"], first.document)
    assert "a check by a person is due" in page(clients["manager"], first.document)


# --- what a language model answered ------------------------------------------------------------------------------


def test_managers_see_the_answers_of_a_language_model_as_they_came(manager: Client, viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    version = read_with_vlm(cast.project)
    ExtractionRun.objects.filter(document=document).update(engine_version=version, request_digest="r")
    key = ReadingKey(cast.project.pk, version.pk, document.pages.get().content_hash, "r")
    raw = RawAnswer('{"total": "<b>9.00</b>"', "length", n_tokens=12)
    run = ExtractionRun.objects.get(document=document)
    page_read, _ = PageRead.objects.get_or_create(run=run, page=document.pages.get())
    keep_attempts(key=key, attempts=[raw], error_code="answer_cut_short", page_read_id=page_read.pk)
    html = page(manager, document)
    assert "Page 1, attempt 1: the language model’s answer was cut short" in html
    assert "{&quot;total&quot;: &quot;&lt;b&gt;9.00&lt;/b&gt;&quot;" in html
    assert "12 tokens; ended by length" in html
    assert f"run {run.pk}" in html
    assert "raw-answer" not in page(viewer, document)
    assert "raw-answer" not in page(manager, factories.make_routed(cast.document_type))
