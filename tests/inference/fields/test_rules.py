import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise import Normalised
from inference.fields.rules import compiled, findings_of, id_findings
from inference.types import ValueType
from tests.inference.fields.pages import field

PLAIN = field(ValueType.ID)
STRICT = field(ValueType.ID, pattern=r"^INV-\d{4}$")


def test_a_good_value_has_no_findings() -> None:
    assert findings_of(PLAIN, "A1", Normalised("A1")) == ()
    assert findings_of(STRICT, "INV-2024", Normalised("INV-2024")) == ()


def test_the_pattern_ignores_case() -> None:
    assert findings_of(STRICT, "inv-2024", Normalised("INV-2024")) == ()


@pytest.mark.parametrize("text", ["INV-24", "XINV-2024", ""])
def test_text_off_the_pattern_is_a_finding(text: str) -> None:
    assert findings_of(STRICT, text, Normalised(text)) == ("pattern_mismatch",)


def test_the_normalisers_findings_come_first() -> None:
    outcome = Normalised("2018-04-03", ("date_ambiguous",))
    assert findings_of(STRICT, "3/4/18", outcome) == ("date_ambiguous", "pattern_mismatch")


def test_a_value_that_is_missing_without_a_reason_gets_one() -> None:
    assert findings_of(PLAIN, "?", Normalised(None)) == ("not_normalised",)
    assert findings_of(PLAIN, "31/02", Normalised(None, ("date_impossible",))) == ("date_impossible",)


def test_patterns_are_searched_not_anchored() -> None:
    assert findings_of(field(pattern=r"\d{5}"), "LEEDS 12345", Normalised("x")) == ()


def test_patterns_are_compiled_once() -> None:
    assert compiled("a+") is compiled("a+")


TAXPAYER = field(ValueType.ID, id_scheme="cn.uscc")


@pytest.mark.parametrize(
    ("number", "findings"),
    [
        ("91110000600037341L", ()),
        ("911100006000373411", ("id_checksum",)),
        ("9111000060003734", ("id_length",)),
        ("9111OOOO600037341L", ("id_format",)),
        ("X1110000600037341L", ("id_format",)),
    ],
)
def test_the_number_of_a_scheme_is_checked_and_what_is_wrong_is_named(number: str, findings: tuple[str, ...]) -> None:
    assert findings_of(TAXPAYER, number, Normalised(number)) == findings


def test_a_part_that_cannot_exist_is_named() -> None:
    assert id_findings("my.nric", "771305-02-1234") == ("id_component",)
    assert id_findings("my.nric", "770305-02-1234") == ()


def test_a_number_without_a_scheme_is_not_checked_and_none_that_was_not_read() -> None:
    assert findings_of(PLAIN, "911100006000373411", Normalised("911100006000373411")) == ()
    assert findings_of(TAXPAYER, "?", Normalised(None)) == ("not_normalised",)


def test_a_scheme_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"cn\.usc"):
        id_findings("cn.usc", "1")


@given(st.text(max_size=24), st.sampled_from(["cn.uscc", "my.nric", "eu.vat", "iban", "de.vat", "tw.ubn"]))
def test_whatever_stands_there_is_answered_with_codes(number: str, scheme: str) -> None:
    assert set(id_findings(scheme, number)) <= {"id_checksum", "id_length", "id_format", "id_component"}
