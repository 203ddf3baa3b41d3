"""The targets page: the answer first, targets set and removed, drafts in words, a stop that all managers see."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import DocumentType, FieldMonitor, FieldTarget
from tests import factories
from tests.conftest import Cast
from tests.review.targets_room import examine, promise, set_audits

pytestmark = pytest.mark.django_db


def address(cast: Cast, name: str = "type_targets") -> str:
    return reverse(name, args=[cast.project.slug, cast.document_type.slug])


def page(client: Client, cast: Cast) -> str:
    return client.get(address(cast)).content.decode()


def send(client: Client, cast: Cast, **form: str) -> str:
    return client.post(address(cast), {"field_path": "/total", **form}, follow=True).content.decode()


def draft(client: Client, cast: Cast) -> str:
    return client.post(address(cast, "draft_from_targets"), follow=True).content.decode()


def test_the_overview_leads_to_the_type_that_is_sent_now(manager: Client, cast: Cast) -> None:
    overview = reverse("targets", args=[cast.project.slug])
    other = factories.make_document_type(cast.project, "a-note")
    factories.make_document(cast.document_type)
    factories.make_document(cast.other_document_type)
    assert manager.get(overview)["Location"] == address(cast)
    factories.make_document(other)
    assert "a-note" in manager.get(overview)["Location"]


def test_the_overview_leads_to_the_first_type_where_nothing_was_sent_yet(manager: Client, cast: Cast) -> None:
    factories.make_document_type(cast.project, "z-note")
    assert manager.get(reverse("targets", args=[cast.project.slug]))["Location"] == address(cast)


def test_a_project_without_a_type_says_so(manager: Client, cast: Cast) -> None:
    DocumentType.objects.filter(pk=cast.document_type.pk).update(project=cast.other_project, slug="moved")
    assert "no document type yet" in manager.get(reverse("targets", args=[cast.project.slug])).content.decode()


def test_an_unknown_type_is_not_found(manager: Client, cast: Cast) -> None:
    assert manager.get(reverse("type_targets", args=[cast.project.slug, "nothing"])).status_code == 404


def test_without_a_target_the_first_line_says_what_to_do(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "Nothing is promised yet for “receipt”" in html
    assert "Draft a policy from the targets" not in html.split('<p class="faint lead">')[0]


def test_a_target_is_set_in_percent_and_removed(manager: Client, cast: Cast) -> None:
    html = send(manager, cast, act="set", wrong="0.5", confidence="90")
    assert "The target of “Total” is set" in html
    target = FieldTarget.objects.get()
    assert (target.wrong_share, target.confidence, target.is_active) == (0.005, 0.9, True)
    assert 'value="0.5"' in html
    assert "Nothing is certified yet" in html
    assert "“Total” has no target any more" in send(manager, cast, act="remove")
    assert not FieldTarget.objects.get().is_active


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"wrong": "many", "confidence": "95"}, "Total, share that may be wrong: Give a number in percent."),
        ({"wrong": "", "confidence": "95"}, "Total, share that may be wrong: Give a number in percent."),
        ({"wrong": "60", "confidence": "95"}, "Total, share that may be wrong: Give a share above 0"),
        ({"wrong": "nan", "confidence": "95"}, "Total, share that may be wrong: Give a share above 0"),
        ({"wrong": "1", "confidence": "100"}, "Total, confidence: Give a confidence above 0 and below 1"),
        ({"field_path": "/x", "wrong": "1", "confidence": "95"}, "/x: The document type has no such field."),
    ],
)
def test_a_target_that_cannot_be_is_said_in_words_and_not_set(
    manager: Client, cast: Cast, form: dict[str, str], message: str
) -> None:
    response = manager.post(address(cast), {"field_path": "/total", "act": "set", **form})
    html = response.content.decode()
    assert response.status_code == 400
    assert message in html
    # What was typed stays.
    assert form.get("field_path") == "/x" or f'value="{form["wrong"]}"' in html
    assert not FieldTarget.objects.exists()


def test_removing_what_has_no_target_is_not_found(manager: Client, cast: Cast) -> None:
    assert manager.post(address(cast), {"field_path": "/total", "act": "remove"}).status_code == 404


def test_a_draft_without_targets_says_what_to_do(manager: Client, cast: Cast) -> None:
    assert "No field has a target yet" in draft(manager, cast)


def test_a_certified_target_is_said_in_plain_words_here_and_in_the_history(manager: Client, cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.05)
    examine(cast.document_type, [(0.97, True)] * 140)
    html = draft(manager, cast)
    assert "Policy 2 is saved as a draft" in html
    words = "From confidence 0.97 on, 140 of 140 values would be stored unseen; with confidence 95 % at most"
    assert words in html
    assert "What was examined carries <strong>1</strong> of 1 target." in html
    history = manager.get(reverse("policy", args=[cast.project.slug, "receipt"])).content.decode()
    assert words in history
    assert "<summary>Total 100.0 %</summary>" in history


def test_what_is_not_carried_says_how_many_more(manager: Client, cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)
    examine(cast.document_type, [(0.97, True)] * 5)
    html = draft(manager, cast)
    assert "Not automated: about" in html
    assert "more examined values are needed" in html
    assert "carries <strong>0</strong> of 1 target" in html
    promise(cast.document_type, cast.manager, 0.02)
    assert "Of an earlier target:" in page(manager, cast)


def test_errors_that_no_number_makes_up_for_are_said(manager: Client, cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)
    examine(cast.document_type, [(0.97, False)] * 5)
    assert "no number of examined values will do" in draft(manager, cast)


def test_a_stopped_field_is_told_on_every_page_of_a_manager_until_it_is_turned_on(
    manager: Client, reviewer: Client, cast: Cast
) -> None:
    promise(cast.document_type, cast.manager)
    FieldMonitor.objects.update(tripped_at=timezone.now())
    notice = "“Total” of “receipt” is stopped since"
    for name in ("documents", "accuracy", "queue"):
        assert notice in manager.get(reverse(name, args=[cast.project.slug])).content.decode()
    assert notice not in reviewer.get(reverse("queue", args=[cast.project.slug])).content.decode()
    html = page(manager, cast)
    assert "<strong>1</strong> field is stopped." in html
    assert "Turn it on again first" in send(manager, cast, act="remove")
    html = manager.post(address(cast, "resume_field"), {"field_path": "/total"}, follow=True).content.decode()
    assert "watched anew" in html
    assert notice not in html
    assert manager.post(address(cast, "resume_field"), {"field_path": "/total"}).status_code == 404


def test_the_audits_so_far_stand_beside_the_target(manager: Client, cast: Cast) -> None:
    promise(cast.document_type, cast.manager)
    assert "nothing audited yet" in page(manager, cast)
    monitor = FieldMonitor.objects.get()
    monitor.state |= {"n_documents": 1200, "n_wrong": 3}
    monitor.save()
    assert "1200 audited documents, 3 wrong" in page(manager, cast)


def test_the_page_is_chinese_for_whoever_reads_chinese(manager: Client, cast: Cast, chinese: None) -> None:
    promise(cast.document_type, cast.manager)
    manager.cookies["django_language"] = "zh-hans"
    html = page(manager, cast)
    assert "已检查的值能证明 1 个目标中的 <strong>0</strong> 个" in html
    assert "按目标起草策略" in html


def test_the_page_costs_the_same_queries_for_more_targets(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)
    examine(cast.document_type, [(0.97, True)] * 3)
    draft(manager, cast)
    page(manager, cast)
    with CaptureQueriesContext(connection) as few:
        page(manager, cast)
    n_queries = len(few)
    promise(cast.document_type, cast.manager, 0.02, "/date")
    promise(cast.document_type, cast.manager, 0.02, "/company")
    draft(manager, cast)
    with django_assert_num_queries(n_queries):
        page(manager, cast)
    assert n_queries == 13
