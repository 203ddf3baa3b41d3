import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.serving.closing import BraceScanner

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]), st.text().filter(lambda text: "{" not in text))
def test_object_is_closed_by_its_last_brace_and_not_before(
    value: dict[str, object], is_ascii: bool, indent: int | None, prose: str
) -> None:
    text = prose + json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assert not BraceScanner().feed(text[:-1])
    assert BraceScanner().feed(text)


@given(OBJECTS, st.integers(1, 5))
def test_pieces_of_any_length_say_the_same_as_the_whole(value: dict[str, object], length: int) -> None:
    text = json.dumps(value) + " and so on {"
    scanner = BraceScanner()
    for start in range(0, len(text), length):
        scanner.feed(text[start : start + length])
    assert scanner.is_closed


@pytest.mark.parametrize(
    "text",
    ["", "no object here }", '{"a": "}"', '{"a": "\\"}"', '{"a": {"b": 1}', '{"a": "\\\\\\"}'],
)
def test_what_is_open_stays_open(text: str) -> None:
    assert not BraceScanner().feed(text)


def test_a_quotation_mark_in_the_prose_before_hides_no_object() -> None:
    assert BraceScanner().feed('The 15" screen: {"size": "15\\""}')
