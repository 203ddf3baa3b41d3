"""The policy page: what the thresholds in force do, what others would, drafts, activation and the way back."""

import copy
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.models import DocumentType, FieldReview, PolicyState, RoutingDecision, RoutingPolicy
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.labels import Label, add_labels

pytestmark = pytest.mark.django_db

FORM = {
    "auto:": "0.9",
    "review:": "0.6",
    "auto:/company": "0.9",
    "review:/company": "0.6",
    "auto:/date": "0.9",
    "review:/date": "0.6",
    "auto:/total": "0.9",
    "review:/total": "0.6",
    "audit_auto_share": "0.02",
    "audit_sampled_share": "0.2",
    "full_examination_share": "0.1",
}


def address(cast: Cast) -> str:
    return reverse("policy", args=[cast.project.slug, cast.document_type.slug])


def page(client: Client, cast: Cast, query: str = "") -> str:
    return client.get(address(cast) + query).content.decode()


def send(client: Client, cast: Cast, act: str = "estimate", **changes: str) -> str:
    return client.post(address(cast), {**FORM, **changes, "act": act}, follow=True).content.decode()


def route(cast: Cast, *confidences: float) -> None:
    for confidence in confidences:
        factories.make_routed(
            cast.document_type, {"/total": FieldPlan(confidence=confidence, reasons=["low_confidence"])}
        )


def test_the_overview_leads_to_the_type_that_is_sent_now(manager: Client, cast: Cast) -> None:
    overview = reverse("policies", args=[cast.project.slug])
    other = factories.make_document_type(cast.project, "a-note")
    factories.make_document(cast.document_type)
    factories.make_document(cast.other_document_type)
    assert manager.get(overview)["Location"] == address(cast)
    factories.make_document(other)
    assert "a-note" in manager.get(overview)["Location"]


def test_the_overview_leads_to_the_first_type_where_nothing_was_sent_yet(manager: Client, cast: Cast) -> None:
    factories.make_document_type(cast.project, "z-note")
    assert manager.get(reverse("policies", args=[cast.project.slug]))["Location"] == address(cast)


def test_a_project_without_a_type_says_so(manager: Client, cast: Cast) -> None:
    DocumentType.objects.filter(pk=cast.document_type.pk).update(project=cast.other_project, slug="moved")
    html = manager.get(reverse("policies", args=[cast.project.slug])).content.decode()
    assert "no document type yet" in html


def test_an_unknown_type_is_not_found(manager: Client, cast: Cast) -> None:
    assert manager.get(reverse("policy", args=[cast.project.slug, "nothing"])).status_code == 404
    assert manager.get(address(cast) + "?from=99").status_code == 404


def test_nothing_routed_says_that_there_is_nothing_to_try(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "nothing to try thresholds on" in html
    assert 'data-chart="bands"' not in html


def test_the_first_line_is_what_the_thresholds_in_force_do(manager: Client, cast: Cast) -> None:
    route(cast, 0.5, 0.7, 0.95, 0.99)
    html = page(manager, cast)
    assert "The thresholds in force store <strong>75.0 %</strong> of the 4 documents" in html
    assert "too few have been checked" in html
    assert html.index('class="answer"') < html.index('id="thresholds"')


def test_moving_a_threshold_says_what_it_would_have_done_and_saves_nothing(manager: Client, cast: Cast) -> None:
    route(cast, 0.5, 0.7, 0.95, 0.99)
    html = send(manager, cast, **{"review:/total": "0.8"})
    assert "With these thresholds <strong>50.0 %</strong> of the 4 documents" in html
    assert "instead of 75.0 %" in html
    assert RoutingPolicy.objects.filter(document_type=cast.document_type).count() == 1


def test_the_estimated_error_stands_with_its_interval(manager: Client, cast: Cast) -> None:
    route(cast, 0.95)
    add_labels(
        cast.document_type,
        [Label(confidence=0.95, is_correct=i % 10 != 0, inclusion_probability=0.5) for i in range(100)],
    )
    FieldReview.objects.update(band="auto")
    html = page(manager, cast)
    assert "Of the values of “Total” stored unseen, about <strong>10.0 %</strong> would be wrong" in html
    assert "100 checked" in html


def test_a_draft_is_saved_with_only_what_differs_from_the_default(manager: Client, cast: Cast) -> None:
    html = send(manager, cast, "draft", **{"auto:/total": "0.99", "auto:/date": "", "audit_auto_share": "0.05"})
    assert "Policy 2 is saved as a draft" in html
    draft = RoutingPolicy.objects.get(document_type=cast.document_type, number=2)
    assert draft.state == PolicyState.DRAFT
    assert draft.created_by == cast.manager
    assert draft.rules["fields"] == {
        "/total": {"auto": 0.99, "review": 0.6},
        "/date": {"auto": None, "review": 0.6},
    }
    assert draft.rules["audit_auto_share"] == 0.05
    assert draft.rules["salt"] == "test"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"auto:/total": "0.5"}, "Total: the limit for a look lies above the limit for storing without one"),
        ({"review:/total": ""}, "Total: give a number from 0 to 1"),
        ({"review:/total": "often"}, "Total: give a number from 0 to 1"),
        ({"auto:": "7"}, "every other field: give a number from 0 to 1, or nothing for “never”"),
        ({"audit_auto_share": "0"}, "share of sure documents that is checked: give a number above 0"),
        ({"audit_sampled_share": "nan"}, "share of fairly sure documents that is checked: give a number above 0"),
    ],
)
@pytest.mark.parametrize("act", ["estimate", "draft"])
def test_wrong_rules_are_said_in_words_and_not_saved(
    manager: Client, cast: Cast, changes: dict[str, str], message: str, act: str
) -> None:
    route(cast, 0.7)
    response = manager.post(address(cast), {**FORM, **changes, "act": act})
    assert response.status_code == 400
    assert message in response.content.decode()
    assert RoutingPolicy.objects.filter(document_type=cast.document_type).count() == 1


def test_a_draft_is_put_in_force_and_one_can_go_back(manager: Client, cast: Cast) -> None:
    send(manager, cast, "draft", **{"auto:/total": "0.99"})
    for number, retired in ((2, 1), (1, 2)):
        activation = reverse("activate_policy", args=[cast.project.slug, "receipt", number])
        assert f"Policy {number} is in force" in manager.post(activation, follow=True).content.decode()
        assert cast.document_type.policies.get(state=PolicyState.ACTIVE).number == number
        assert cast.document_type.policies.get(state=PolicyState.RETIRED).number == retired
    html = page(manager, cast)
    assert "Go back to 2" in html
    assert "Activate" not in html


def test_an_earlier_policy_can_be_looked_at_in_the_form(manager: Client, cast: Cast) -> None:
    route(cast, 0.7)
    send(manager, cast, "draft", **{"review:/total": "0.85"})
    html = page(manager, cast, "?from=2")
    assert 'name="review:/total" type="number" min="0" max="1" step="any" value="0.85"' in html
    assert "With these thresholds <strong>0.0 %</strong>" in html


def test_columns_of_tables_have_thresholds_too(manager: Client, cast: Cast) -> None:
    schema: dict[str, Any] = copy.deepcopy(factories.SCHEMA)
    schema["properties"]["items"] = {
        "type": "array",
        "x-label": {"en": "Items"},
        "items": {
            "type": "object",
            "properties": {"price": {"type": "string", "x-label": {"en": "Price"}, "x-value-type": "amount"}},
        },
    }
    factories.make_document_type(cast.project, "invoice", schema)
    html = manager.get(reverse("policy", args=[cast.project.slug, "invoice"])).content.decode()
    assert "Items: Price" in html
    assert 'name="auto:/items/*/price"' in html
    assert 'aria-label="Document types"' in html


def test_the_figures_come_as_a_file(manager: Client, cast: Cast) -> None:
    route(cast, 0.5, 0.7, 0.95)
    add_labels(cast.document_type, [Label(confidence=0.95, inclusion_probability=0.5) for _ in range(40)])
    FieldReview.objects.update(band="auto")
    send(manager, cast, "draft", **{"review:/total": "0.8"})
    text = manager.get(f"{address(cast)}?format=csv&from=2").content.decode("utf-8-sig")
    header, *rows = [line.split(",") for line in text.splitlines()]
    assert header[:5] == ["field", "which", "auto", "sampled", "review"]
    assert [row[:5] for row in rows if row[0] == ""] == [
        ["", "in_force", "1", "1", "1"],
        ["", "in_form", "1", "0", "2"],
    ]
    total = next(row for row in rows if row[:2] == ["/total", "in_form"])
    assert total[2:5] == ["1", "0", "2"]
    assert (float(total[5]), total[8]) == (0.0, "40")
    # On average people see the doubtful and, by the form, one in fifty of the sure; in force hardly any of those.
    looked_at = [float(row[9]) for row in rows if row[0] == ""]
    assert header[9] == "looked_at"
    assert looked_at == pytest.approx([1.0, 2.02], abs=1e-6)


def test_the_page_is_chinese_for_whoever_reads_chinese(manager: Client, cast: Cast, chinese: None) -> None:
    route(cast, 0.7)
    manager.cookies["django_language"] = "zh-hans"
    assert "按现行界限" in page(manager, cast)


def test_the_page_costs_the_same_queries_for_more_documents(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    route(cast, 0.7)
    page(manager, cast)
    with CaptureQueriesContext(connection) as few:
        page(manager, cast)
    n_queries = len(few)
    route(cast, *[0.8] * 6)
    add_labels(cast.document_type, [Label(), Label("/date")])
    send(manager, cast, "draft", **{"auto:/total": "0.99"})
    with django_assert_num_queries(n_queries):
        page(manager, cast)
    assert n_queries == 13


def direct(client: Client, cast: Cast, **form: str) -> str:
    path = reverse("direct_audits", args=[cast.project.slug, cast.document_type.slug])
    return client.post(path, {"act": "direct", "floor": "50", **form}, follow=True).content.decode()


def test_checks_are_directed_in_a_draft_and_spread_again(manager: Client, cast: Cast) -> None:
    assert "go everywhere alike" in page(manager, cast)
    assert "Too few documents were fairly sure so far" in direct(manager, cast)
    for number in range(30):
        factories.make_routed(cast.document_type, band="sampled")
        RoutingDecision.objects.filter(interest=None).update(interest=number / 30)
    assert "Policy 2 is saved as a draft" in direct(manager, cast, floor="25")
    draft = cast.document_type.policies.get(number=2)
    assert draft.rules["directed"]["floor_share"] == 0.25
    activation = reverse("activate_policy", args=[cast.project.slug, "receipt", 2])
    html = manager.post(activation, follow=True).content.decode()
    assert "Every document keeps at least 25.0 % of the rate." in html
    # Other thresholds leave the direction as it is.
    send(manager, cast, "draft", **{"review:/total": "0.8"})
    assert cast.document_type.policies.get(number=3).rules["directed"] == draft.rules["directed"]
    direct(manager, cast, act="alike")
    assert "directed" not in cast.document_type.policies.get(number=4).rules


@pytest.mark.parametrize("floor", ["0", "101", "", "some"])
def test_a_floor_that_is_none_is_said_in_words(manager: Client, cast: Cast, floor: str) -> None:
    assert "Give a share above 0 and at most 1" in direct(manager, cast, floor=floor)
    assert cast.document_type.policies.count() == 1
