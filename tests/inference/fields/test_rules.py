import pytest

from inference.fields.normalise import Normalised
from inference.fields.rules import compiled, findings_of
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
