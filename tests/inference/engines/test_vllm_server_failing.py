"""Servers that break off, stumble, are busy, away, slow or other than declared: what becomes of the page."""

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from inference.engines import vllm_server
from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.errors import (
    AnswerLostError,
    EngineError,
    EngineUnavailableError,
    VersionNotServedError,
)
from inference.serving.chat import chat_client
from inference.serving.health import served_by
from inference.serving.questions import Question, Turn
from inference.serving.retry import ConnectionLostError
from tests.inference.engines.recorded_server import answered, engine_on
from tests.inference.serving.asking import a_page, a_request, a_spec
from tests.replay.exchanges import Exchange, recorded
from tests.replay.scenarios import SCENARIOS
from tests.replay.server import ReplayServer


def failing(status: int) -> Exchange:
    first, *_ = recorded("plain_page")
    return replace(first, status=status, response={"error": {"message": "Mary Smith", "param": None}})


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
