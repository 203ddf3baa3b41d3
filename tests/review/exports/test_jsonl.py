import json

import pytest

from review.exports.jsonl import HEADER, encode


@pytest.mark.parametrize(
    "text",
    ["plain", "书店 SDN BHD", "🧾", "line\nbreak\r\n", "sep\u2028arator", 'quo"te', "\x7f", "e\u0301", "  space "],
)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    line = encode({"value": text})
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {"value": text}


def test_letters_are_not_escaped() -> None:
    assert "收据".encode() in encode({"value": "收据"})


def test_half_a_surrogate_pair_does_not_stop_the_export() -> None:
    assert json.loads(encode({"value": "a\ud800b"})) == {"value": "a\ud800b"}


def test_null_is_null() -> None:
    assert encode({"value": None, "labels": []}) == b'{"value":null,"labels":[]}\n'


def test_a_number_that_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode({"value": float("nan")})


def test_a_file_has_nothing_before_its_first_record() -> None:
    assert HEADER == b""
