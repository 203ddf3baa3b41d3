import pytest

from inference.errors import AnswerError, AnswerLostError
from review.routing.reasons import Reason, in_order, reason_for_failure, reason_for_finding


@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        ("date_ambiguous", Reason.AMBIGUOUS_VALUE),
        ("ambiguous", Reason.AMBIGUOUS_VALUE),
        ("schema_type", Reason.SCHEMA_INVALID),
        ("low_quality", Reason.LOW_QUALITY),
        ("left_out", Reason.RULE_FAILED),
        ("rows_left_out", Reason.ROWS_LEFT_OUT),
        ("occluded", Reason.LOW_QUALITY),
        ("pattern_mismatch", Reason.RULE_FAILED),
        ("total_does_not_add_up", Reason.RULE_FAILED),
        ("", Reason.RULE_FAILED),
        ("unambiguously_wrong", Reason.RULE_FAILED),
        ("rule:rows_add_up", Reason.RULE_FAILED),
        ("rule:low_quality_is_ambiguous", Reason.RULE_FAILED),
    ],
)
def test_every_finding_has_a_typed_reason(finding: str, reason: Reason) -> None:
    assert reason_for_finding(finding) is reason


def test_reasons_come_gravest_first_and_once() -> None:
    given = [Reason.AUDIT_AUTO, Reason.LOW_CONFIDENCE, Reason.ENGINE_FAILED, Reason.LOW_CONFIDENCE]
    assert in_order(given) == (Reason.ENGINE_FAILED, Reason.LOW_CONFIDENCE, Reason.AUDIT_AUTO)


def test_codes_that_others_store_never_change() -> None:
    assert {reason.value for reason in Reason} == {
        "engine_failed", "schema_invalid", "low_quality", "missing_value", "rule_failed", "ambiguous_value",
        "missing_confidence", "low_confidence", "nothing_read", "full_examination", "audit_sampled", "audit_auto",
        "duplicate", "engine_not_proven", "answer_cut_short", "answer_repeats", "answer_empty", "answer_unreadable",
        "answer_invalid", "rows_left_out", "answer_lost", "answer_late", "routing_failed", "type_doubtful",
        "stopped_by_monitor", "not_certified",
    }  # fmt: skip


def test_only_what_spoils_the_whole_reading_is_a_fault() -> None:
    assert {reason for reason in Reason if reason.is_fault} == {
        Reason.ENGINE_FAILED,
        Reason.ANSWER_CUT_SHORT,
        Reason.ANSWER_REPEATS,
        Reason.ANSWER_EMPTY,
        Reason.ANSWER_UNREADABLE,
        Reason.ANSWER_INVALID,
        Reason.ANSWER_LOST,
        Reason.ANSWER_LATE,
        Reason.ROUTING_FAILED,
        Reason.SCHEMA_INVALID,
        Reason.TYPE_DOUBTFUL,
        Reason.ROWS_LEFT_OUT,
        Reason.LOW_QUALITY,
        Reason.NOTHING_READ,
    }


@pytest.mark.parametrize("code", [*AnswerError.REASONS, *AnswerLostError.REASONS, "routing_failed"])
def test_what_was_wrong_with_an_answer_is_a_reason_of_its_own(code: str) -> None:
    assert reason_for_failure(code) == code


@pytest.mark.parametrize("code", ["engine_failed", "time_limit", "damaged", "", "low_quality", "audit_auto"])
def test_any_other_failure_of_a_page_is_the_engines(code: str) -> None:
    assert reason_for_failure(code) is Reason.ENGINE_FAILED
