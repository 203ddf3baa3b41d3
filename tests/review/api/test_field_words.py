"""What the desk says of a field: one state, and sentences that a person understands."""

from dataclasses import replace
from typing import Any

import pytest
from django.utils import translation

from inference.types import FieldSpec, ValueType
from review import words
from review.api.field_words import (
    STATES,
    STRENGTHS,
    WEAKNESSES,
    evidence_line,
    evidence_rows,
    runner_up,
    state_of,
    sureness_of,
    telling,
    why_of,
    why_you,
)
from review.models import FieldDecision, FieldEdit, FieldPrediction, RoutingDecision
from review.selectors.desk import DeskField, desk_detail
from tests import factories
from tests.conftest import Cast

SPEC = FieldSpec(path="/total", value_type=ValueType.AMOUNT, labels={"en": "Total", "zh": "合计"})
SURE = {"ocr_score": 0.99, "quality": 1.0, "boundary": 1.0, "region": 0.9, "keyword": 0.5, "margin": 5.0}


def field(
    value: str | None = "9.00",
    *,
    confidence: float | None = 0.95,
    evidence: dict[str, float] = SURE,
    findings: tuple[str, ...] = (),
    band: str = "auto",
    reasons: tuple[str, ...] = (),
    is_saved: bool = False,
    others: tuple[tuple[str, str | None], ...] = (),
) -> DeskField:
    prediction = FieldPrediction(
        field_path="/total", value=value, confidence=confidence, evidence=evidence, findings=list(findings)
    )
    decision = FieldDecision(field_path="/total", band=band, reasons=list(reasons), is_to_examine=band == "review")
    edit = FieldEdit(field_path="/total", version=1, verdict="confirmed", value=value) if is_saved else None
    candidates: tuple[dict[str, Any], ...] = tuple({"text": text, "value": own} for text, own in others)
    return DeskField("/total", SPEC, prediction, decision, edit, candidates=candidates)


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        (field(), "ok"),
        (field(band="sampled"), "ok"),
        (field(band="review", reasons=("low_confidence",)), "doubtful"),
        (field(findings=("date_ambiguous",)), "doubtful"),
        (field(band="review", reasons=("rule_failed",), findings=("schema_pattern",)), "broken"),
        (field(None, band="review", reasons=("missing_value", "rule_failed")), "missing"),
        (field(band="review", reasons=("rule_failed",), is_saved=True), "person"),
        (field(None, is_saved=True), "person"),
        (DeskField("/total", SPEC, None, None, None), "missing"),
    ],
)
def test_a_field_stands_in_one_state(shown: DeskField, state: str) -> None:
    assert state_of(shown) == state
    assert state in STATES


@pytest.mark.parametrize(
    ("shown", "word"),
    [
        (field(confidence=0.98), "certain"),
        (field(confidence=0.4), "unlikely"),
        (field(confidence=None), "unknown"),
        (field(confidence=0.98, is_saved=True), ""),
        (field(None), ""),
        (DeskField("/total", SPEC, None, None, None), ""),
    ],
)
def test_how_sure_is_a_word_and_never_said_of_a_person(shown: DeskField, word: str) -> None:
    assert sureness_of(shown) == word


def test_a_finding_says_more_than_the_reason_made_of_it() -> None:
    assert telling(["date_ambiguous"], ["ambiguous_value", "low_confidence"]) == ["date_ambiguous", "low_confidence"]
    assert telling([], ["ambiguous_value"]) == ["ambiguous_value"]
    assert telling(["not_found"], ["missing_value"]) == ["missing_value"]


def test_why_is_said_in_sentences() -> None:
    shown = field(findings=("date_ambiguous",), reasons=("ambiguous_value", "audit_auto"))
    assert why_of(shown) == [
        "day and month could be the other way round",
        "drawn at random for a check of sure values",
    ]
    assert why_of(DeskField("/total", SPEC, None, None, None)) == []


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (field(), "found on the page"),
        (field(evidence=SURE | {"keyword": 0.9, "agreement": 1.0}), None),
        (field(None), "not found on the page"),
        (DeskField("/total", SPEC, None, None, None), "not found on the page"),
        (field(None, findings=("not_normalised",)), "found, but not understood as a value"),
        (field(evidence=SURE | {"ocr_score": 0.6}), "its letters are hard to read"),
        (field(evidence=SURE | {"keyword": 0.0}), "no keyword stands near it"),
        (field(evidence=SURE | {"margin": 0.5}, others=(("9.00", "9.00"), ("RM 9.10", "9.10"))), None),
        (field(evidence=SURE | {"margin": 5.0}, others=(("RM 9.10", "9.10"),)), "found on the page"),
        (field(findings=("amount_ambiguous",)), "the decimal mark could be a thousands mark"),
        (field(evidence={}), "found on the page"),
    ],
)
def test_evidence_is_one_line(shown: DeskField, line: str | None) -> None:
    said = evidence_line(shown)
    assert "\n" not in said
    if line is not None:
        assert said == line


def test_a_broken_rule_is_said_in_the_words_of_the_document_type() -> None:
    shown = field(findings=("rule:sums",), reasons=("rule_failed",))
    told = replace(shown, spec=replace(SPEC, rule_messages={"rule:sums": {"en": "does not add up"}}))
    assert why_of(told) == ["does not add up"]
    assert evidence_line(told) == "does not add up"
    assert why_of(shown) == ["does not fit the other values"]


def test_strong_evidence_is_named() -> None:
    said = evidence_line(field(evidence=SURE | {"keyword": 0.9, "agreement": 1.0}))
    assert said == "found on the page; a keyword stands near it; the same value stands elsewhere too"


def test_another_value_close_behind_is_named_as_printed() -> None:
    shown = field(evidence=SURE | {"margin": 0.5}, others=(("9.00", "9.00"), ("no", None), ("RM 9.10", "9.10")))
    assert runner_up(shown) == "RM 9.10"
    assert evidence_line(shown) == "the page also shows RM 9.10"


def test_weak_points_come_worst_first_and_hide_the_strong_ones() -> None:
    shown = field(evidence=SURE | {"ocr_score": 0.5, "region": 0.0, "agreement": 1.0}, findings=("date_impossible",))
    assert evidence_line(shown) == (
        "there is no such date; its letters are hard to read; it stands where this field usually does not"
    )


def test_all_evidence_that_is_judged_is_known() -> None:
    assert {name for name, _, _ in (*WEAKNESSES, *STRENGTHS)} <= set(words.EVIDENCE)


def test_each_piece_of_evidence_has_its_words() -> None:
    assert evidence_rows({"ocr_score": 0.9, "new_one": 0.1}) == [
        {"name": "ocr_score", "words": "how clearly the letters were read", "number": 0.9},
        {"name": "new_one", "words": "new one", "number": 0.1},
    ]


def test_why_you_goes_field_by_field_and_ends_with_the_document(cast: Cast) -> None:
    plans = {
        "/date": factories.FieldPlan("2018-04-03", band="review", reasons=["ambiguous_value", "low_confidence"]),
        "/total": factories.FieldPlan(band="review", reasons=["low_confidence"]),
        "/company": factories.FieldPlan(is_to_examine=False, reasons=["audit_auto"]),
    }
    task = factories.make_routed(cast.document_type, plans).review_tasks.get()
    FieldPrediction.objects.filter(field_path="/date").update(findings=["date_ambiguous"])
    RoutingDecision.objects.update(reasons=["low_confidence", "low_quality"])
    assert why_you(desk_detail(task)) == [
        "Date: day and month could be the other way round; the reading is not sure enough",
        "Total: the reading is not sure enough",
        "the image is poor",
    ]


def test_what_a_person_decided_is_asked_no_more(cast: Cast) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    assert why_you(desk_detail(task)) == ["Total: the reading is not sure enough"]
    FieldEdit.objects.create(task=task, field_path="/total", version=1, verdict="confirmed", value="9.00")
    assert why_you(desk_detail(task)) == []


def test_a_task_without_a_decision_asks_for_nothing_in_particular(cast: Cast) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    RoutingDecision.objects.all().delete()
    assert why_you(desk_detail(task)) == []


def test_sentences_follow_the_language() -> None:
    with translation.override("zh-hans"):
        assert evidence_line(field(evidence=SURE | {"ocr_score": 0.6})) == "字迹难以辨认"
        assert sureness_of(field(confidence=0.98)) != "certain"
