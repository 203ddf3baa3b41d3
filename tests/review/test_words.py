"""No code that is stored is without words, and what is said fits who reads it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from inference.answers.merge import PAGES_DISAGREE
from inference.errors import AnswerLostError, EngineUnavailableError, UnknownEngineError, UnreadableFileError
from inference.fields import answer_score, cross_rules, score
from inference.fields.answer_score import NOT_GROUNDED
from inference.fields.answered import LEFT_OUT
from inference.fields.answered_document import REPAIRED, SECOND_LOOK_FAILED
from inference.fields.rows_left_out import ROWS_LEFT_OUT
from inference.types import ValueType
from review import words
from review.exceptions import StorageFullError
from review.models import DocumentStatus, Verdict
from review.routing.bands import Band
from review.routing.reasons import Reason, reason_for_finding

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"[a-z]+(_[a-z0-9]+)+")
MAKERS = {"Normalised", "_decided", "FieldReading", "append", "_finding"}


def finding_codes() -> set[str]:
    """Every code that stands where the reader makes findings."""
    return {
        code
        for path in sorted((ROOT / "inference" / "fields").rglob("*.py"))
        for code in codes_in(ast.parse(path.read_text(encoding="utf-8")))
    }


def codes_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in MAKERS
        is_assigned = isinstance(node, ast.Assign | ast.AnnAssign) and "findings" in ast.unparse(node).split("=")[0]
        if is_call or is_assigned:
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and CODE.fullmatch(part.value):
                    yield part.value


def test_the_search_for_codes_finds_them() -> None:
    assert {
        "date_ambiguous",
        "date_era_ambiguous",
        "id_checksum",
        "pattern_mismatch",
        "not_found",
        "amount_ambiguous",
    } <= finding_codes()


def test_every_finding_of_the_reader_has_words() -> None:
    assert finding_codes() - set(words.FINDINGS) == set()


@pytest.mark.parametrize(
    ("codes", "known"),
    [
        (Reason, words.REASONS),
        (UnreadableFileError.REASONS, words.REFUSALS),
        (DocumentStatus.values, words.STATUSES),
        (DocumentStatus.values, words.STATUS_HINTS),
        (Band, words.BANDS),
        (Band, words.BAND_NAMES),
        (Verdict.values, words.VERDICTS),
        (ValueType, words.VALUE_TYPES),
        (score.WEIGHTS, words.EVIDENCE),
        ({**answer_score.FIELD_WEIGHTS, **answer_score.CELL_WEIGHTS}, words.EVIDENCE),
        (("token_entropy", "n_tokens"), words.EVIDENCE),
        ((NOT_GROUNDED, REPAIRED, SECOND_LOOK_FAILED, LEFT_OUT, ROWS_LEFT_OUT, PAGES_DISAGREE), words.FINDINGS),
        (
            (EngineUnavailableError.code, UnknownEngineError.code, StorageFullError.code, *AnswerLostError.REASONS),
            {**words.WAITS, **words.REASONS},
        ),
        ([cross_rules.EVIDENCE], words.EVIDENCE),
    ],
)
def test_every_code_has_words_and_no_words_are_without_a_code(codes: object, known: words.Words) -> None:
    assert {str(code) for code in codes} - set(known) == set()  # type: ignore[attr-defined]


def test_every_act_that_the_audit_names_has_words() -> None:
    pattern = re.compile(r'"((?:document|review_task)\.[a-z_]+)"')
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "review" / "actions").rglob("*.py")]
    named = {name for source in sources for name in pattern.findall(source)}
    assert named
    assert named - set(words.ACTS) == set()


def test_reasons_of_routing_and_of_refusals_are_both_said() -> None:
    with translation.override("en"):
        assert words.reasons_in_words(["duplicate", "encrypted", "date_ambiguous"]) == [
            "the same file was sent before",
            "the file is protected by a password",
            "day and month could be the other way round",
        ]


def test_whichever_keyword_of_the_schema_is_broken_it_is_said_once() -> None:
    with translation.override("en"):
        assert words.reasons_in_words(["schema_pattern", "schema_enum", "schema_invalid"]) == [
            "does not fit the document type",
            "the values do not fit the document type",
        ]


def test_rows_left_out_are_said_once_of_a_cell_and_of_the_document() -> None:
    with translation.override("en"):
        assert words.reasons_in_words(["rows_left_out", str(reason_for_finding(ROWS_LEFT_OUT))]) == [
            "the model left out rows that the page seems to have"
        ]


def test_a_rule_of_a_type_is_said_in_its_own_words_and_language() -> None:
    rules = {"rule:sums": {"en": "does not add up", "zh": "合计不符"}, "rule:late": {"en": "is late"}}
    codes = ["rule:sums", "not_found", "rule:late", "rule:sums"]
    with translation.override("en"):
        assert words.reasons_in_words(codes, rules) == ["does not add up", "not found on the page", "is late"]
    with translation.override("zh-hans"):
        assert words.reasons_in_words(["rule:sums", "rule:late"], rules) == ["合计不符", "is late"]


def test_a_rule_whose_words_are_not_at_hand_is_said_in_general() -> None:
    with translation.override("en"):
        assert words.reasons_in_words(["rule:sums", "rule:late"]) == ["does not fit the other values"]


def test_a_code_nobody_knows_is_shown_not_hidden() -> None:
    assert words.reasons_in_words(["sum_mismatch"]) == ["sum mismatch"]


@pytest.mark.parametrize(
    ("status", "band", "reasons", "text"),
    [
        ("stored", "auto", [], "sure: stored without a look"),
        ("stored", "sampled", ["low_confidence"], "fairly sure: stored, some are checked"),
        (
            "stored",
            "auto",
            ["audit_auto"],
            "sure: stored without a look; drawn at random for a check of sure values",
        ),
        ("review", "review", ["low_confidence"], "the reading is not sure enough"),
        ("unreadable", "", ["encrypted"], "the file is protected by a password"),
        ("received", "", [], ""),
        ("stored", "", ["duplicate"], "the same file was sent before"),
    ],
)
def test_a_standing_is_said_in_one_line(status: str, band: str, reasons: list[str], text: str) -> None:
    with translation.override("en"):
        assert words.standing_in_words(status, band, reasons) == text


def test_what_waits_says_what_to_start() -> None:
    with translation.override("en"):
        assert "manage.py work" in words.standing_in_words("waiting", "", [])


@pytest.mark.parametrize(
    ("confidence", "word"),
    [
        (1.0, "certain"),
        (0.97, "certain"),
        (0.96, "very likely"),
        (0.75, "likely"),
        (0.5, "uncertain"),
        (0.49, "unlikely"),
        (0.0, "unlikely"),
        (None, "unknown"),
    ],
)
def test_confidence_is_a_word(confidence: float | None, word: str) -> None:
    with translation.override("en"):
        assert words.confidence_in_words(confidence) == word


def test_labels_follow_the_language_and_fall_back_to_english() -> None:
    labels = {"en": "Total", "zh": "合计"}
    with translation.override("zh-hans"):
        assert words.label_of(labels) == "合计"
        assert words.label_of({"en": "Total"}) == "Total"
    with translation.override("en"):
        assert words.label_of(labels) == "Total"
        assert words.label_of({}, "receipt") == "receipt"


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (2_560_000, "2.6 MB"), (3_000_000_000, "3.0 GB")],
)
def test_sizes_have_units(n_bytes: int, text: str) -> None:
    with translation.override("en"):
        assert words.bytes_in_words(n_bytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.9, "1 second"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7_199, "119 minutes"),
        (7_200, "2 hours"),
        (172_800, "2 days"),
    ],
)
def test_durations_have_one_unit(seconds: float, text: str) -> None:
    with translation.override("en"):
        assert words.seconds_in_words(seconds) == text
