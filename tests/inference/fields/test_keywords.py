import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.keywords import KeywordIndex, specificity

WORDS = [
    "company reg",
    "total excl tax",
    "total",
    "grand total",
    "total qty",
    "subtotal",
    "date",
    "no",
    "sdn bhd",
    "合计",
    "价税合计",
    "cash",
]
INDEX = KeywordIndex(WORDS)


def strength(text: str, *keywords: str) -> float:
    return INDEX.strength(text, INDEX.positions(keywords))


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("TOTAL", "total"),
        ("Total (RM) :", "total"),
        ("GRANDTOTAL", "grand total"),
        ("Grand-Total", "grand total"),
        ("S.H.H. MOTOR SDN. BHD.", "sdn bhd"),
        ("Date: 12/03/2018", "date"),
        ("NO. 12", "no"),
        ("本单合计：", "合计"),
        ("ＴＯＴＡＬ", "total"),
    ],
)
def test_a_keyword_is_found_whatever_its_case_marks_and_spaces(text: str, keyword: str) -> None:
    assert strength(text, keyword) == 1.0


@pytest.mark.parametrize(
    ("text", "keyword"), [("Tutal :", "total"), ("T0TAL", "total"), ("GRAND TOTAI", "grand total")]
)
def test_a_misread_keyword_is_found_with_less_strength(text: str, keyword: str) -> None:
    assert 0.7 < strength(text, keyword) < 1.0


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("", "total"),
        ("T", "total"),
        ("tot", "total"),
        ("NORTH", "no"),
        ("UPDATED", "date"),
        ("cashier", "cash"),
        ("TOTEM POLES OF THE NORTHERN COAST", "total"),
        ("总", "合计"),
        ("ADVANCO COMPANY", "company reg"),
        ("Total Incl. Tax", "total excl tax"),
        ("12.00", "total"),
    ],
)
def test_what_only_resembles_a_keyword_is_not_found(text: str, keyword: str) -> None:
    assert strength(text, keyword) == 0.0


def test_the_longer_match_decides_between_for_and_against() -> None:
    for_it, against_it = INDEX.positions(["total", "grand total"]), INDEX.positions(["total qty", "subtotal"])
    assert INDEX.evidence("Total Qty: 3", for_it, against_it) == (0.0, 1.0)
    assert INDEX.evidence("SUB TOTAL", for_it, against_it) == (0.0, 1.0)
    grand = INDEX.evidence("Grand Total", for_it, against_it)
    plain = INDEX.evidence("Total", for_it, against_it)
    assert grand.against_it == plain.against_it == 0.0
    assert grand.for_it > plain.for_it > 0.5


def test_a_word_that_is_only_the_start_of_a_keyword_against_stays_for() -> None:
    assert INDEX.evidence("Total", INDEX.positions(["total"]), INDEX.positions(["total qty"])).against_it == 0.0


def test_text_without_any_keyword_is_no_evidence() -> None:
    assert INDEX.evidence("Thank you", INDEX.positions(WORDS[2:4]), INDEX.positions(WORDS[4:])) == (0.0, 0.0)


def test_keywords_that_the_index_does_not_know_are_left_out() -> None:
    assert INDEX.positions(["total", "unknown"]).size == 1
    assert INDEX.positions([]).size == 0
    assert strength("unknown", "unknown") == 0.0


def test_an_index_without_keywords_finds_nothing() -> None:
    empty = KeywordIndex(["", "..."])
    empty.prepare(["Total"])
    assert empty.strength("Total", empty.positions(["total"])) == 0.0


def test_preparing_ahead_changes_no_answer() -> None:
    fresh = KeywordIndex(WORDS)
    fresh.prepare(["Grand Total", "合计", "Tutal"])
    for text in ("Grand Total", "合计", "Tutal"):
        assert fresh.strength(text, fresh.positions(WORDS)) == strength(text, *WORDS)


def test_specificity_grows_with_length_up_to_one() -> None:
    assert specificity(0) == 0.6
    assert specificity(5) < specificity(11) < specificity(12) == specificity(40) == 1.0


@given(st.text(max_size=40))
def test_strength_is_a_share_and_evidence_one_sided(text: str) -> None:
    for_it, against_it = INDEX.positions(WORDS[2:4]), INDEX.positions(WORDS[4:])
    evidence = INDEX.evidence(text, for_it, against_it)
    assert 0.0 <= evidence.for_it <= 1.0
    assert 0.0 <= evidence.against_it <= 1.0
    assert min(evidence) == 0.0


@given(st.sampled_from(WORDS), st.sampled_from(["", " ", ": ", " (RM)", " 12.00"]), st.booleans())
def test_a_keyword_in_front_of_anything_is_found(keyword: str, tail: str, is_upper: bool) -> None:
    text = (keyword.upper() if is_upper else keyword) + tail
    assert strength(text, keyword) == 1.0
