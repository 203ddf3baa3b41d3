"""A rule between fields from end to end: declared, broken by what was read, routed to a person, said in words."""

import datetime
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from inference.document_types import shipped_schema
from inference.fields.cross_rules import EVIDENCE, cross_findings
from inference.types import BBox, FieldReading, parse_document_type
from review.actions.opening import EngineIdentity, StoredPage, begin_opening, record_opened
from review.actions.reading import complete_run
from review.models import Document, ExtractionRun, FieldDecision, FieldPrediction
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.inference.fields.invoices import PLAIN

SPEC = parse_document_type(shipped_schema("invoice"))
TODAY = datetime.date(2026, 11, 29)
ENGLISH = "net amount and tax do not add up to the total"
CHINESE = "不含税金额与税额之和与价税合计不符"
TAKING_PART = ["/gross", "/net", "/tax"]


def routed(cast: Cast, **changes: str) -> Document:
    """Route an invoice that was read surely, with single values changed."""
    invoice = factories.make_document_type(cast.project, "invoice", shipped_schema("invoice"))
    document = begin_opening(actor=SYSTEM, document_id=factories.make_document(invoice).pk)
    assert document is not None
    page = StoredPage(1, "page.jpg", 1000, 1400, f"{document.pk}-1")
    record_opened(actor=SYSTEM, document=document, pages=[page], engine=EngineIdentity("scripted", "d" * 64))
    values = {**PLAIN.expected, **{f"/{name}": value for name, value in changes.items()}}
    read = [FieldReading(path, value, value, 0.995, {}, (), 1, BBox(0, 0, 1, 1)) for path, value in values.items()]
    run = ExtractionRun.objects.select_related("schema_version", "document__document_type").get(document=document)
    fields = cross_findings(read, SPEC, TODAY)
    assert complete_run(actor=SYSTEM, run=run, spec=SPEC, fields=fields)
    document.refresh_from_db()
    return document


def by_path(fields: list[dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    return {field["field_path"]: field for field in fields}


def test_an_invoice_that_adds_up_is_stored_unseen(cast: Cast) -> None:
    document = routed(cast)
    assert (document.status, document.band) == ("stored", "auto")
    assert FieldPrediction.objects.get(field_path="/gross").evidence == {EVIDENCE: 1.0}


def test_a_broken_rule_sends_the_document_to_a_person_for_that_reason(cast: Cast) -> None:
    document = routed(cast, tax="2.00")
    assert (document.status, document.band, document.reasons) == ("review", "review", ["rule_failed", "low_confidence"])
    told = {one.field_path: one.findings for one in FieldPrediction.objects.all() if one.findings}
    assert told == {path: ["rule:net_and_tax"] for path in TAKING_PART}
    asked = FieldDecision.objects.filter(band="review").order_by("field_path")
    assert [one.field_path for one in asked] == TAKING_PART
    assert all("rule_failed" in one.reasons for one in asked)
    assert document.review_tasks.count() == 1


@pytest.mark.parametrize(("language", "message"), [("en", ENGLISH), ("zh-hans", CHINESE)])
def test_the_desk_is_told_in_the_words_of_the_rule(
    cast: Cast, as_reviewer: APIClient, language: str, message: str
) -> None:
    task = routed(cast, tax="2.00").review_tasks.get()
    address = f"/api/v1/projects/receipts/review-tasks/{task.pk}/"
    shown = as_reviewer.get(address, HTTP_ACCEPT_LANGUAGE=language).json()
    fields = by_path(shown["fields"])
    assert [path for path, field in fields.items() if field["state"] == "broken"] == ["/net", "/tax", "/gross"]
    assert fields["/tax"]["why"][0] == message
    assert fields["/tax"]["evidence_line"].startswith(message)
    assert any(message in sentence for sentence in shown["why_you"])
    assert message in [rule["message"] for rule in shown["rules"]]


def test_the_desk_knows_the_rules_of_the_type(cast: Cast, as_reviewer: APIClient) -> None:
    task = routed(cast, tax="2.00").review_tasks.get()
    rules = as_reviewer.get(f"/api/v1/projects/receipts/review-tasks/{task.pk}/").json()["rules"]
    assert [rule["name"] for rule in rules] == ["rows_add_up", "net_and_tax", "date_not_in_future"]
    assert rules[0] == {
        "name": "rows_add_up",
        "rule": "sum",
        "of": ["/line_items/*/amount"],
        "equals": "/net",
        "tolerance": "0.01",
        "days": 0,
        "message": "the line items do not add up to the net amount",
    }
    assert (rules[2]["of"], rules[2]["equals"], rules[2]["days"]) == (["/date"], None, 1)


@pytest.mark.parametrize(("language", "message"), [("en", ENGLISH), ("zh-hans", CHINESE)])
def test_whoever_asks_the_api_for_a_document_gets_code_and_words(
    cast: Cast, as_reviewer: APIClient, language: str, message: str
) -> None:
    document = routed(cast, tax="2.00")
    address = f"/api/v1/projects/receipts/documents/{document.pk}/"
    field = by_path(as_reviewer.get(address, HTTP_ACCEPT_LANGUAGE=language).json()["fields"])["/tax"]
    assert field["findings"] == ["rule:net_and_tax"]
    assert field["reasons"][0] == "rule_failed"
    assert field["why"][0] == message


@pytest.mark.parametrize(("language", "message"), [("en", ENGLISH), ("zh-hans", CHINESE)])
def test_the_page_of_the_document_says_the_rule_at_each_of_its_fields(
    cast: Cast, client: Client, language: str, message: str
) -> None:
    document = routed(cast, tax="2.00")
    client.force_login(cast.reviewer)
    client.cookies["django_language"] = language
    html = client.get(reverse("document", args=[cast.project.slug, document.pk])).content.decode()
    assert html.count(f'<p class="why">{message}') == len(TAKING_PART)


def test_a_type_with_a_wrong_rule_is_refused_with_the_place_and_the_remedy(cast: Cast, as_manager: APIClient) -> None:
    schema = shipped_schema("invoice")
    schema["x-rules"][0]["of"] = ["/line_items/*/amounts"]
    address = "/api/v1/projects/receipts/document-types/"
    answer = as_manager.post(address, {"slug": "invoice", "schema": schema}, format="json")
    assert answer.status_code == 400
    assert "/x-rules/0/of/0" in answer.content.decode()
    assert "did you mean '/line_items/*/amount'?" in answer.content.decode()
