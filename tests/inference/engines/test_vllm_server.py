"""The engine against a server that answers as a real vLLM 0.32 did (tests/replay)."""

import json
import math

import httpx
import pytest

from inference.engines import vllm_server
from inference.engines.vllm_server import build
from inference.errors import (
    EngineError,
    EngineUnavailableError,
)
from inference.serving.chat import chat_client, refusal
from inference.types import RawAnswer
from tests.inference.engines.recorded_server import answered, refused, replayed
from tests.inference.serving.asking import a_page, a_request, a_spec
from tests.replay.exchanges import recorded
from tests.replay.scenarios import INSTRUCTION
from tests.replay.server import CHAT, ReplayServer


def test_constrained_answer_of_the_real_server_is_understood() -> None:
    answer = answered(replayed("receipt"))
    assert set(answer.values) >= {"company", "date", "total"}
    assert not answer.is_repaired
    [raw] = answer.attempts
    assert raw.finish_reason == "stop"
    assert raw.n_prompt_tokens > 100


def test_answer_ends_with_its_closing_brace() -> None:
    [raw] = answered(replayed("receipt")).attempts
    assert raw.text.endswith("}")
    assert raw.tokens[-1].data == b"</s>"


def test_no_white_space_stands_between_the_tokens_of_a_constrained_answer() -> None:
    [raw] = answered(replayed("receipt")).attempts
    assert raw.text == json.dumps(json.loads(raw.text), ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("name", ["receipt", "form", "chinese"])
def test_tokens_of_a_real_answer_are_its_bytes_and_probabilities(name: str) -> None:
    for raw in answered(replayed(name)).attempts:
        assert b"".join(token.data for token in raw.tokens) == raw.text.encode() + b"</s>"
        for token in raw.tokens:
            assert token.logprob <= 0
            assert sum(math.exp(logprob) for _, logprob in token.alternatives) <= 1.001


def test_values_of_a_real_answer_have_evidence_of_their_tokens() -> None:
    answer = answered(replayed("receipt"))
    numbers = answer.evidence["/total"]
    assert 0 < numbers["token_min"] <= numbers["token_mean"] <= 1
    assert numbers["n_tokens"] >= 1
    assert numbers["token_entropy"] > 0


def test_answer_without_probabilities_has_values_and_no_evidence_of_them() -> None:
    answer = answered(replayed("without_probabilities"))
    assert answer.values["total"]
    assert answer.evidence == {}


def test_prompt_is_what_was_recorded_for_an_instruction_on_the_page() -> None:
    """The page reaches the model as an image; not a word of it stands in the request."""
    [with_instruction], [plain] = recorded("printed_instruction"), recorded("plain_page")
    sent = [json.dumps(one.request["messages"][0]["content"][0]) for one in (with_instruction, plain)]
    assert sent[0] == sent[1]
    assert not any(line in json.dumps(with_instruction.request) for line in INSTRUCTION)


def test_instruction_printed_on_the_page_changes_nothing() -> None:
    hostile, plain = answered(replayed("printed_instruction")), answered(replayed("plain_page"))
    assert (hostile.values, hostile.repairs) == (plain.values, plain.repairs)
    assert not hostile.is_repaired
    said = [
        [(raw.text, raw.finish_reason, raw.n_tokens, [token.data for token in raw.tokens]) for raw in answer.attempts]
        for answer in (hostile, plain)
    ]
    assert said[0] == said[1]
    assert set(hostile.evidence) == set(plain.evidence)


def test_pages_that_differ_in_one_digit_are_not_mixed_up() -> None:
    """The tiny model says the same of all pages, and each time with probabilities of the page it was shown."""
    one, other = answered(replayed("plain_page")), answered(replayed("one_digit_less"))
    assert one.attempts[0].text == other.attempts[0].text
    assert [t.logprob for t in one.attempts[0].tokens] != [t.logprob for t in other.attempts[0].tokens]


def test_cut_short_answer_of_the_real_server_is_a_failure() -> None:
    error = refused("cut_short")
    assert error.attempts[0].finish_reason == "length"
    assert error.code in {"answer_cut_short", "answer_unreadable"}


def test_free_text_of_the_real_server_is_asked_for_twice_and_kept() -> None:
    error = refused("free")
    assert error.code == "answer_unreadable"
    assert [raw.text for raw in error.attempts] == ["tiny OCR 42", "tiny OCR 42"]


def test_type_of_high_value_is_read_twice_by_the_real_server() -> None:
    answer = answered(replayed("high_value"))
    assert len(answer.attempts) == 2
    assert answer.evidence["/total"]["vote_agreement"] == 1.0
    n_tokens = [raw.n_prompt_tokens for raw in answer.attempts]
    assert n_tokens[0] < n_tokens[1], "the second scale, which is kept before the first, has fewer image tokens"


def test_prompt_that_is_too_long_is_refused_with_the_remedy() -> None:
    with pytest.raises(EngineError, match="max-model-len"):
        replayed("too_long")


def test_every_refusal_of_the_real_server_is_understood() -> None:
    errors = [refusal(one.status, json.dumps(one.response).encode()) for one in recorded("refusals")]
    assert isinstance(errors[0], EngineUnavailableError)
    assert "serve_model" in str(errors[0])
    assert all(type(error) is EngineError for error in errors[1:])
    assert "x-output-limit" in str(errors[1])
    assert "limit-mm-per-prompt" in str(errors[2])


def test_engine_is_built_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[httpx.Client] = []

    def client_of(url: str, api_key: str) -> httpx.Client:
        seen.append(chat_client(url, api_key))
        return seen[-1]

    monkeypatch.setattr(vllm_server, "chat_client", client_of)
    with ReplayServer(recorded("plain_page"), serves=[a_spec().tied_name]) as replay:
        monkeypatch.setenv("STET_VLLM_URL", f" {replay.url}/ ")
        monkeypatch.setenv("STET_MODEL_SECONDS", "30")
        monkeypatch.setenv("STET_VLLM_API_KEY", "s3cret")
        assert answered(build(a_spec()).read_page(a_page(), a_request())).values
        assert seen[0].headers["authorization"] == "Bearer s3cret"
        seen[0].close()


def test_two_versions_are_each_asked_on_their_own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a new version reads in the shadow of the one in use."""
    new = a_spec(prompt_version="v2")
    made: list[httpx.Client] = []

    def client_of(url: str, api_key: str) -> httpx.Client:
        made.append(chat_client(url, api_key))
        return made[-1]

    monkeypatch.setattr(vllm_server, "chat_client", client_of)
    with (
        ReplayServer(recorded("plain_page"), serves=[a_spec().tied_name]) as replay,
        ReplayServer(recorded("form"), serves=[new.tied_name]) as other,
    ):
        monkeypatch.setenv("STET_VLLM_URL", replay.url)
        monkeypatch.setenv("STET_VLLM_URLS", f"{new.digest[:8]}={other.url}")
        for spec in (a_spec(), new):
            assert answered(build(spec).read_page(a_page(), a_request())).values
        assert (replay.n_chats, other.n_chats) == (1, 1)
        for client in made:
            client.close()


@pytest.mark.parametrize("url", [None, "", "  "])
def test_engine_without_an_address_names_the_variable(monkeypatch: pytest.MonkeyPatch, url: str | None) -> None:
    monkeypatch.delenv("STET_VLLM_URL", raising=False)
    if url is not None:
        monkeypatch.setenv("STET_VLLM_URL", url)
    with pytest.raises(EngineUnavailableError, match="STET_VLLM_URL"):
        build(a_spec())


def test_raw_answer_of_the_server_is_kept_whole() -> None:
    [exchange] = recorded("plain_page")
    [raw] = answered(replayed("plain_page")).attempts
    choice = exchange.response["choices"][0]
    assert isinstance(raw, RawAnswer)
    assert raw.text == choice["message"]["content"]
    assert raw.n_tokens == exchange.response["usage"]["completion_tokens"] == len(raw.tokens)
    assert exchange.path == CHAT
