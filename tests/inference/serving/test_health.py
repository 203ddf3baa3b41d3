from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from inference.errors import AnswerLostError, EngineUnavailableError, VersionNotServedError
from inference.serving.health import Health, HealthWatch, Served, is_healthy, refuse_other, served_by
from tests.inference.serving.specs import SPEC

MODELS = {"object": "list", "data": [{"id": "tiny-ocr", "max_model_len": 4096}, {"id": "ad1", "max_model_len": None}]}


def client(handler: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    return httpx.Client(transport=httpx.MockTransport(handler), base_url="http://vllm")


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def without_end(request: httpx.Request) -> httpx.Response:
    raise AnswerLostError("answer_lost", "the server's answer is longer than 9 bytes")


def vllm(request: httpx.Request) -> httpx.Response:
    answers = {"/health": httpx.Response(200), "/version": httpx.Response(200, json={"version": "0.32.0"})}
    return answers.get(request.url.path, httpx.Response(200, json=MODELS))


def test_a_server_that_says_so_is_healthy() -> None:
    assert is_healthy(client(vllm))


@pytest.mark.parametrize("handler", [refuse, without_end, lambda request: httpx.Response(503)])
def test_a_server_that_is_away_or_failing_is_not_healthy(handler: Callable[[httpx.Request], httpx.Response]) -> None:
    assert not is_healthy(client(handler))


def test_a_server_tells_its_version_and_every_name_it_serves() -> None:
    assert served_by(client(vllm)) == Served("0.32.0", {"tiny-ocr": 4096, "ad1": 0})


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (refuse, "cannot be reached: ConnectError"),
        (lambda request: httpx.Response(401, json={"error": "Unauthorized"}), "answers 401"),
        (lambda request: httpx.Response(200, text="<html>"), "no vLLM server"),
        (lambda request: httpx.Response(200, json=[]), "no vLLM server"),
    ],
)
def test_what_is_no_vllm_server_is_unavailable(
    handler: Callable[[httpx.Request], httpx.Response], message: str
) -> None:
    with pytest.raises(EngineUnavailableError, match=message):
        served_by(client(handler))


def test_a_password_in_the_address_is_not_told() -> None:
    server = httpx.Client(
        transport=httpx.MockTransport(lambda _: httpx.Response(401)), base_url="http://stet:s3cret@vllm"
    )
    with pytest.raises(EngineUnavailableError) as caught:
        served_by(server)
    assert str(caught.value) == "the server answers 401 at http://vllm/version"


def test_a_server_that_was_started_for_the_version_is_accepted() -> None:
    refuse_other(Served("0.32.0", {"tiny-ocr": 8192, SPEC.tied_name: 8192}), SPEC)


@pytest.mark.parametrize(
    ("served", "said"),
    [
        (Served("0.32.0", {"tiny-ocr": 8192}), "but: tiny-ocr"),
        (Served("0.32.0", {"tiny-ocr": 8192, replace(SPEC, quantisation="fp8").tied_name: 8192}), "but: stet-"),
        (Served("0.32.0", {}), "but: nothing"),
    ],
)
def test_a_server_of_the_same_model_that_was_started_otherwise_is_refused_with_the_remedy(
    served: Served, said: str
) -> None:
    with pytest.raises(VersionNotServedError, match=said) as refused:
        refuse_other(served, SPEC)
    assert refused.value.code == "version_not_served"
    assert f"manage.py serve_model --engine-version {SPEC.digest[:16]}" in str(refused.value)


def test_a_server_of_another_vllm_is_refused_whatever_it_calls_its_models() -> None:
    with pytest.raises(VersionNotServedError, match=r"runs vLLM 0\.33\.0, .* declared for 0\.32\.0"):
        refuse_other(Served("0.33.0", {SPEC.tied_name: 8192}), SPEC)


class Life:
    """A clock and a server under it: at which seconds it answers."""

    def __init__(self, answers: Callable[[float], bool]) -> None:
        self.now = 0.0
        self.asked: list[float] = []
        self._answers = answers
        self.watch = HealthWatch(self._ask, start_seconds=60, silent_seconds=30, clock=lambda: self.now)

    def _ask(self) -> bool:
        self.asked.append(self.now)
        return self._answers(self.now)

    def go_on(self, seconds: float) -> list[Health]:
        """Look ten times a second; return each new health in turn."""
        seen: list[Health] = []
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            health = self.watch.look()
            if not seen or seen[-1] is not health:
                seen.append(health)
        return seen


def test_a_server_is_starting_until_it_answers() -> None:
    life = Life(lambda now: now > 20)
    assert life.go_on(50) == [Health.STARTING, Health.READY]


def test_a_ready_server_is_asked_less_often() -> None:
    life = Life(lambda now: now > 10)
    life.go_on(10)
    n_while_starting = len(life.asked)
    life.go_on(50)
    assert n_while_starting >= 15
    assert len(life.asked) - n_while_starting <= 13


def test_a_server_that_does_not_come_up_in_time_is_lost() -> None:
    life = Life(lambda now: False)
    assert life.go_on(59) == [Health.STARTING]
    assert life.go_on(3)[-1] is Health.LOST


def test_a_server_that_falls_silent_is_lost_but_a_short_pause_is_forgiven() -> None:
    life = Life(lambda now: now < 10 or 30 < now < 40)
    assert life.go_on(60)[1:] == [Health.READY]
    assert life.go_on(20) == [Health.READY, Health.LOST]


def test_a_server_that_is_started_again_has_its_whole_time_to_come_up() -> None:
    life = Life(lambda now: now < 5 or now > 90)
    assert life.go_on(50)[-1] is Health.LOST
    life.watch.begin()
    assert life.go_on(50) == [Health.STARTING, Health.READY]
