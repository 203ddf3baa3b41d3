import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.answers.strict import DuplicateKeyError, NotStrictError, read_strictly

SCALARS = st.none() | st.booleans() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES)
def test_what_json_writes_is_read(value: Any) -> None:
    assert read_strictly(json.dumps(value)) == value


@pytest.mark.parametrize("number", ["12.50", "0.10", "1e999", "-0", "123456789012345678901234567890.10"])
def test_a_number_comes_back_as_it_was_written(number: str) -> None:
    assert read_strictly(f'{{"total": {number}}}') == {"total": number}


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_are_no_json_are_refused(constant: str) -> None:
    with pytest.raises(NotStrictError, match="no JSON"):
        read_strictly(f'{{"total": {constant}}}')


@pytest.mark.parametrize("text", ['{"a": "1", "a": "1"}', '{"b": [{"a": "1", "a": null}]}', '{"a": 1, "\\u0061": 2}'])
def test_the_same_key_twice_is_refused_wherever_it_stands(text: str) -> None:
    with pytest.raises(DuplicateKeyError):
        read_strictly(text)


@pytest.mark.parametrize(
    "text", ["", "{", "{'a': 1}", '{"a": 1,}', '{"a": 01}', '{"a": 1} x', '{"a": "\n"}', "[" * 99_999]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(NotStrictError):
        read_strictly(text)


def test_a_refusal_does_not_repeat_the_text() -> None:
    with pytest.raises(NotStrictError) as caught:
        read_strictly('{"name": secret}')
    assert "secret" not in str(caught.value)
