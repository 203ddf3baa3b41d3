import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.answers.schema import constrained
from inference.errors import AnswerLostError
from inference.serving.page_images import PreparedImage
from inference.serving.questions import Question, Turn
from inference.serving.wire import STOP_AFTER_OBJECT, raw_answer, request_body
from inference.types import Token
from tests.inference.serving.asking import SCHEMA, a_spec

IMAGE = PreparedImage(np.full((8, 6, 3), 255, np.uint8), 92)
OTHER_IMAGE = PreparedImage(np.zeros((8, 6, 3), np.uint8), 92)


def question(*parts: Any, schema: Any = None) -> Question:
    return Question((Turn("user", parts or ("Read.", IMAGE)),), 256, schema)


def body(asked: Question, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(request_body(asked, a_spec(**changes)))
    return data


def response(content: str | None = "{}", **changes: Any) -> dict[str, Any]:
    """A response as vLLM 0.32 gives it."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "logprobs": None,
        "finish_reason": "stop",
        "stop_reason": None,
        **changes,
    }
    return {"choices": [choice], "usage": {"prompt_tokens": 403, "total_tokens": 407, "completion_tokens": 4}}


def answer(data: Any, *, is_free: bool = False) -> Any:
    return raw_answer(json.dumps(data).encode(), is_free=is_free, seconds=0.25)


def entry(token: str, logprob: float, data: list[int] | None, *others: Any) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": data, "top_logprobs": list(others)}


def test_constraint_is_sent_under_the_key_that_constrains() -> None:
    """0.32 ignores guided_json without a word: the answer would be unconstrained."""
    sent = body(question(schema=constrained(SCHEMA)))
    assert sent["structured_outputs"]["json"] == constrained(SCHEMA)
    assert not {key for key in sent if key.startswith("guided_")}
    assert "stop" not in sent


def test_grammar_allows_no_white_space_whatever_the_servers_flags() -> None:
    assert body(question(schema=constrained(SCHEMA)))["structured_outputs"]["disable_any_whitespace"] is True


def test_free_answer_stops_after_its_object() -> None:
    sent = body(question())
    assert "structured_outputs" not in sent
    assert (sent["stop"], sent["include_stop_str_in_output"]) == (list(STOP_AFTER_OBJECT), True)


def test_decoding_is_the_versions() -> None:
    sent = body(question(), decoding={"temperature": 0.0, "seed": 7, "top_logprobs": 3})
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.0, 7, 256)
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 3)


def test_version_without_alternatives_asks_for_no_probabilities() -> None:
    assert "logprobs" not in body(question(), decoding={"top_logprobs": 0})


@pytest.mark.parametrize("changes", [{}, {"adapter": "receipts-3"}, {"decoding": {"seed": 7}}])
def test_version_is_asked_for_by_its_tied_name_with_an_adapter_or_without(changes: dict[str, Any]) -> None:
    assert body(question(), **changes)["model"] == a_spec(**changes).tied_name


def test_another_model_of_the_server_is_asked_for_by_name() -> None:
    assert json.loads(request_body(question(), a_spec(), model="tiny-ocr"))["model"] == "tiny-ocr"


def test_turns_keep_their_order_and_images_their_places() -> None:
    asked = Question(
        (Turn("user", ("A", OTHER_IMAGE)), Turn("assistant", ("{}",)), Turn("user", (IMAGE, "B"))), 256, None
    )
    first, second, third = body(asked)["messages"]
    assert [turn["role"] for turn in (first, second, third)] == ["user", "assistant", "user"]
    assert second["content"] == "{}"
    assert [part["type"] for part in third["content"]] == ["image_url", "text"]
    assert first["content"][1]["image_url"]["url"].encode() == OTHER_IMAGE.as_data_url()
    assert third["content"][0]["image_url"]["url"].encode() == IMAGE.as_data_url()


@given(st.text(max_size=40))
def test_no_text_can_pass_for_an_image(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    sent = body(question(text, IMAGE, text))
    first, image, last = sent["messages"][0]["content"]
    assert first == last == {"type": "text", "text": text}
    assert base64.b64decode(image["image_url"]["url"].partition(",")[2]).startswith(b"\xff\xd8")


def test_answer_carries_text_counts_and_time() -> None:
    raw = answer(response('{"total":"1"}'))
    assert (raw.text, raw.finish_reason, raw.n_prompt_tokens, raw.n_tokens) == ('{"total":"1"}', "stop", 403, 4)
    assert raw.seconds == 0.25


def test_tokens_carry_bytes_and_alternatives() -> None:
    half = entry("", -0.5, [0xE4, 0xB8], {"token": "x", "logprob": -9999.0, "bytes": [120]})
    raw = answer(response("一", logprobs={"content": [half, entry("", -0.25, [0x80])]}))
    assert raw.tokens == (Token(b"\xe4\xb8", -0.5, ((b"x", -9999.0),)), Token(b"\x80", -0.25))


def test_token_without_bytes_is_its_text() -> None:
    assert answer(response(logprobs={"content": [entry("tiny", -1.0, None)]})).tokens == (Token(b"tiny", -1.0),)


@pytest.mark.parametrize("logprobs", [None, {"content": None}, {}])
def test_answer_without_probabilities_has_no_tokens(logprobs: Any) -> None:
    """As with speculative decoding in some versions: a score is missing then, never made up."""
    assert answer(response(logprobs=logprobs)).tokens == ()


def test_no_content_is_an_empty_text() -> None:
    assert answer(response(None)).text == ""


@pytest.mark.parametrize("reason", ["length", "repetition"])
def test_reasons_to_finish_are_passed_on(reason: str) -> None:
    assert answer(response(finish_reason=reason)).finish_reason == reason


@pytest.mark.parametrize("reason", ["abort", "error", "tool_calls", None])
def test_request_that_the_server_gave_up_is_for_later(reason: str | None) -> None:
    with pytest.raises(AnswerLostError, match="gave the request up"):
        answer(response(finish_reason=reason))


@pytest.mark.parametrize(
    "data", [[], {}, {"choices": []}, {"choices": [{}]}, "hello", {"choices": [{"message": None}]}]
)
def test_another_kind_of_server_is_named_as_such(data: Any) -> None:
    with pytest.raises(AnswerLostError, match="STET_VLLM_URL"):
        answer(data)


@pytest.mark.parametrize(
    "token",
    [
        entry("x", -0.5, [256]),
        entry("x", -0.5, [-1]),
        {"token": "x", "logprob": None, "bytes": [120]},
        {"token": "x", "logprob": -0.5},
    ],
)
def test_token_that_no_server_would_tell_of_so_is_no_answer(token: dict[str, Any]) -> None:
    with pytest.raises(AnswerLostError, match="STET_VLLM_URL"):
        answer(response(logprobs={"content": [token]}))


def test_a_page_of_html_is_no_answer() -> None:
    with pytest.raises(AnswerLostError, match="STET_VLLM_URL"):
        raw_answer(b"<html>welcome</html>", is_free=False, seconds=0.1)


def test_free_answer_that_was_stopped_inside_its_object_was_cut_short() -> None:
    rows = '{"items": [\n{"text": "Tea",\n"amount": "4.50"\n}\n\n'
    assert answer(response(rows, stop_reason="}\n\n"), is_free=True).finish_reason == "length"


def test_free_answer_that_was_stopped_at_its_end_is_whole() -> None:
    assert answer(response('{\n  "total": "1"\n}\n\n', stop_reason="}\n\n"), is_free=True).finish_reason == "stop"
    assert answer(response('```json\n{"a": "1"}\n```', stop_reason="}\n```"), is_free=True).finish_reason == "stop"


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
def test_no_answer_is_stopped_inside_its_object_however_it_is_indented(indent: int | None) -> None:
    values = {"company": "ACME", "items": [{"text": "Tea", "amount": "4.50"}, {"text": "Rice", "amount": "8.00"}]}
    for opening, closing in (("", ""), ("```json\n", "\n```")):
        text = f"{opening}{json.dumps(values, indent=indent)}{closing}"
        inside = text[: text.rindex("}")]
        assert not any(stop in inside for stop in STOP_AFTER_OBJECT)


@pytest.mark.parametrize("behind", ["\nI hope this helps. " * 20, "\n", "\n```\nThe total was"])
def test_free_answer_that_ran_on_behind_its_object_is_whole(behind: str) -> None:
    text = '{"items": [\n{\n"text": "Tea"\n}\n]}' + behind
    assert answer(response(text, finish_reason="length"), is_free=True).finish_reason == "stop"


@pytest.mark.parametrize(
    "text",
    [
        '{"items": [{"text": "Tea"}, {"text": "Ri',
        'An empty one is {}. The page says: {"total": "12.',
        "The total is",
        '{"total": NaN} and so on',
    ],
)
def test_free_answer_whose_object_is_open_at_its_limit_was_cut_short(text: str) -> None:
    assert answer(response(text, finish_reason="length"), is_free=True).finish_reason == "length"


def test_answer_under_a_grammar_is_cut_short_wherever_it_met_its_limit() -> None:
    assert answer(response('{"total": "1"}', finish_reason="length")).finish_reason == "length"
