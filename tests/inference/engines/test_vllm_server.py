"""The engine against a server that answers as a real vLLM 0.32 did (tests/replay)."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from inference.engines import vllm_server
from inference.engines.vllm_server import ServedModel, build
from inference.engines.vlm import VlmEngine
from inference.errors import (
    AnswerError,
    AnswerLostError,
    EngineError,
    EngineUnavailableError,
    VersionNotServedError,
)
from inference.serving.chat import chat_client, refusal
from inference.serving.health import served_by
from inference.serving.questions import Question, Turn
from inference.serving.retry import ConnectionLostError
from inference.types import PageReading, RawAnswer, VlmSpec
from tests.inference.serving.asking import a_page, a_request, a_spec
from tests.replay.exchanges import Exchange, recorded
from tests.replay.scenarios import INSTRUCTION, SCENARIOS
from tests.replay.server import CHAT, ReplayServer


@contextmanager
def engine_on(exchanges: Sequence[Exchange], spec: VlmSpec, **options: Any) -> Iterator[tuple[VlmEngine, ReplayServer]]:
    with ReplayServer(exchanges, serves=[spec.tied_name], **options) as replay, chat_client(replay.url) as client:
        yield VlmEngine(spec, ServedModel(spec, client, first_wait_seconds=0), page_seconds=30), replay


def replayed(name: str) -> PageReading:
    scenario = SCENARIOS[name]
    with engine_on(recorded(name), scenario.spec) as (engine, _):
        return engine.read_page(scenario.page(), scenario.request())


def refused(name: str) -> AnswerError:
    with pytest.raises(AnswerError) as caught:
        replayed(name)
    return caught.value


def answered(reading: PageReading) -> Any:
    assert reading.answer is not None
    return reading.answer


def failing(status: int) -> Exchange:
    first, *_ = recorded("plain_page")
    return replace(first, status=status, response={"error": {"message": "Mary Smith", "param": None}})


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


def test_reset_connection_is_made_again() -> None:
    with engine_on(recorded("plain_page"), a_spec(), faults={0: "reset", 1: "reset"}) as (engine, replay):
        assert answered(engine.read_page(a_page(), a_request())).values
        assert replay.n_chats == 3


def test_connection_that_is_reset_each_time_is_an_answer_lost() -> None:
    with engine_on([], a_spec(), faults=dict.fromkeys(range(9), "reset")) as (engine, replay):
        with pytest.raises(ConnectionLostError):
            engine.read_page(a_page(), a_request())
        assert replay.n_chats == 3


def test_connection_is_kept_from_page_to_page() -> None:
    with engine_on(recorded("plain_page") * 5, a_spec()) as (engine, replay):
        for _ in range(5):
            engine.read_page(a_page(), a_request())
        assert replay.n_connections == 1


def test_stumble_of_the_real_server_is_no_failure_of_the_page() -> None:
    """Recorded by chance: its cache of images had lost one that it believed to have, after a refused request."""
    scenario = SCENARIOS["form"]
    exchanges = recorded("stumbled")
    assert [one.status for one in exchanges] == [500, 200]
    with engine_on(exchanges, scenario.spec) as (engine, _):
        assert answered(engine.read_page(scenario.page(), scenario.request())).values


def test_server_that_stumbled_once_is_asked_again() -> None:
    with engine_on([failing(500), *recorded("plain_page")], a_spec()) as (engine, _):
        assert answered(engine.read_page(a_page(), a_request())).values


def test_page_that_fails_a_healthy_server_each_time_is_given_up() -> None:
    with engine_on([failing(500)] * 3, a_spec()) as (engine, _):
        with pytest.raises(EngineError, match="fails on this page") as caught:
            engine.read_page(a_page(), a_request())
        assert "Mary" not in str(caught.value)


def test_server_that_is_ill_after_it_failed_on_the_page_may_have_been_made_so_by_it() -> None:
    ill = Exchange("/health", None, 503, "")
    with engine_on([failing(500)] * 3 + [ill], a_spec()) as (engine, _), pytest.raises(AnswerLostError) as caught:
        engine.read_page(a_page(), a_request())
    assert caught.value.code == "answer_lost"


def test_busy_server_is_for_later_and_not_hammered() -> None:
    with engine_on([failing(503)], a_spec()) as (engine, replay):
        with pytest.raises(EngineUnavailableError) as caught:
            engine.read_page(a_page(), a_request())
        assert not isinstance(caught.value, AnswerLostError)
        assert replay.n_chats == 1


def test_another_vllm_than_declared_is_refused_before_any_page() -> None:
    """Log-probabilities shift with the version: scores would not mean what they were calibrated to mean."""
    with engine_on([], a_spec(vllm_version="0.31.0")) as (engine, replay):
        with pytest.raises(EngineUnavailableError, match=r"runs vLLM 0\.32\.0.* declared for 0\.31\.0"):
            engine.read_page(a_page(), a_request())
        assert replay.n_chats == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"weights_sha256": {"model.safetensors": "1" * 64}},
        {"chat_template_sha256": "1" * 64},
        {"server_flags": {"dtype": "float16"}},
        {"quantisation": "fp8"},
        {"served_model_name": "paddleocr-vl"},
    ],
)
def test_server_of_the_same_model_that_was_started_otherwise_is_refused(changed: dict[str, Any]) -> None:
    """Its model has the same name: everything but its tied name is as it should be."""
    other = a_spec(**changed)
    with ReplayServer([], serves=[a_spec().tied_name]) as replay, chat_client(replay.url) as client:
        engine = VlmEngine(other, ServedModel(other, client))
        with pytest.raises(VersionNotServedError, match=rf"\({other.tied_name}\) but: stet-.*, tiny-ocr\. Restart"):
            engine.read_page(a_page(), a_request())
        assert replay.n_chats == 0


def test_server_that_is_exchanged_behind_an_open_connection_is_refused_with_the_next_page() -> None:
    """It was looked at before; the question itself says whom it is for."""
    gone = replace(failing(404), response={"error": {"message": "no such model", "param": "model", "code": 404}})
    with engine_on([*recorded("plain_page"), gone], a_spec()) as (engine, replay):
        engine.read_page(a_page(), a_request())
        replay.pages["/v1/models"] = recorded("server")[1]
        with pytest.raises(EngineUnavailableError, match="serve_model"):
            engine.read_page(a_page(), a_request())
        with pytest.raises(VersionNotServedError):
            engine.read_page(a_page(), a_request())


def test_question_is_put_to_the_tied_name() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": a_spec().tied_name, "max_model_len": 4096}]})
        if request.url.path == "/version":
            return httpx.Response(200, json={"version": "0.32.0"})
        asked.append(json.loads(request.content)["model"])
        return httpx.Response(200, json=recorded("plain_page")[0].response)

    with chat_client("http://vllm", transport=httpx.MockTransport(answer)) as client:
        VlmEngine(a_spec(), ServedModel(a_spec(), client)).read_page(a_page(), a_request())
    assert asked == [a_spec().tied_name]


def test_server_is_looked_at_again_after_it_was_away() -> None:
    spec = a_spec()
    with engine_on([failing(503)], spec) as (engine, replay):
        with pytest.raises(EngineUnavailableError):
            engine.read_page(a_page(), a_request())
        replay.pages["/version"] = Exchange("/version", None, 200, {"version": "0.33.0"})
        with pytest.raises(EngineUnavailableError, match=r"0\.33\.0"):
            engine.read_page(a_page(), a_request())


def test_server_that_is_not_there_is_for_later() -> None:
    spec = a_spec()
    with chat_client("http://127.0.0.1:9") as client, pytest.raises(EngineUnavailableError) as caught:
        VlmEngine(spec, ServedModel(spec, client)).read_page(a_page(), a_request())
    assert not isinstance(caught.value, AnswerLostError)


def test_server_that_dies_of_the_page_has_lost_its_answer_and_is_away_for_the_next_one() -> None:
    """What a real one does that runs out of memory: the connection breaks, and nothing listens any more."""
    spec = a_spec()
    replay = ReplayServer([], serves=[spec.tied_name], faults={0: "die"})
    with replay, chat_client(replay.url) as client:
        engine = VlmEngine(spec, ServedModel(spec, client, first_wait_seconds=0), page_seconds=30)
        with pytest.raises(AnswerLostError):
            engine.read_page(a_page(), a_request())
        with pytest.raises(EngineUnavailableError) as caught:
            engine.read_page(a_page(), a_request())
    assert not isinstance(caught.value, AnswerLostError)
    assert replay.n_chats == 1


def test_question_waits_no_longer_than_the_page_may_take() -> None:
    seen: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        known = {one.path: one for one in recorded("server")}
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": a_spec().tied_name, "max_model_len": 4096}]})
        if request.url.path in known:
            return httpx.Response(200, json=known[request.url.path].response)
        seen.append(request.extensions["timeout"]["read"])
        raise httpx.ReadTimeout("slow")

    with chat_client("http://vllm", transport=httpx.MockTransport(answer)) as client:
        engine = VlmEngine(a_spec(), ServedModel(a_spec(), client), page_seconds=7)
        with pytest.raises(AnswerLostError, match="in time") as caught:
            engine.read_page(a_page(), a_request())
    assert caught.value.code == "answer_late"
    [seconds] = seen
    assert 6 < seconds <= 7


def test_further_attempts_have_the_time_that_the_first_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 1.0, 5.0, 7.5])
    given: list[float | None] = []

    def once(client: httpx.Client, body: bytes, seconds: float | None) -> bytes:
        given.append(seconds)
        raise ConnectionLostError("reset")

    with ReplayServer([], serves=[a_spec().tied_name]) as replay, chat_client(replay.url) as client:
        model = ServedModel(a_spec(), client, first_wait_seconds=0, clock=lambda: next(clock))
        monkeypatch.setattr(vllm_server, "attempt", once)
        with pytest.raises(AnswerLostError) as caught:
            model.answer([Question((Turn("user", ("Read.",)),), 16)], 7.0)
    assert caught.value.code == "answer_late"
    assert given == [6.0, 2.0]


def test_questions_that_are_asked_together_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    given: list[float | None] = []
    [exchange] = recorded("plain_page")

    def once(client: httpx.Client, body: bytes, seconds: float | None) -> bytes:
        given.append(seconds)
        now[0] += 5.0
        return json.dumps(exchange.response).encode()

    with ReplayServer([], serves=[a_spec().tied_name]) as replay, chat_client(replay.url) as client:
        model = ServedModel(a_spec(), client, clock=lambda: now[0])
        monkeypatch.setattr(vllm_server, "attempt", once)
        question = Question((Turn("user", ("Read.",)),), 16)
        with pytest.raises(AnswerLostError):
            model.answer([question] * 3, 10.0)
    assert given == [10.0, 5.0]


def test_getting_to_know_the_server_is_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    spec = a_spec()
    with ReplayServer([], serves=[a_spec().tied_name]) as replay, chat_client(replay.url) as client:
        model = ServedModel(spec, client, clock=lambda: now[0])

        def slowly(client: httpx.Client) -> Any:
            now[0] += 9.0
            return served_by(client)

        monkeypatch.setattr(vllm_server, "served_by", slowly)
        with pytest.raises(AnswerLostError, match="is over"):
            model.answer([Question((Turn("user", ("Read.",)),), 16)], 8.0)
        assert replay.n_chats == 0


def test_refused_second_look_leaves_the_first_with_a_doubt() -> None:
    """As a real server refuses an image of an impossible form: for good, and only at that scale."""
    scenario = SCENARIOS["high_value"]
    first, second = recorded("high_value")
    refused = replace(second, status=400, response={"error": {"message": "no", "param": None}})
    with engine_on([first, refused], scenario.spec) as (engine, _):
        answer = answered(engine.read_page(scenario.page(), scenario.request()))
    assert answer.values["total"]
    assert answer.has_second_look_failed
    assert answer.evidence["/total"]["vote_agreement"] == 0.0
    assert len(answer.attempts) == 1


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
