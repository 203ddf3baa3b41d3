"""The client's benchmark measures what it says."""

import json

import pytest

from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.serving.chat import chat_client
from tests.bench import client
from tests.replay.exchanges import recorded
from tests.replay.server import ReplayServer


def test_client_is_measured_and_a_budget_that_is_missed_fails_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LIMIT_MS", 0.001)
    assert client.main(["--pages", "2", "--warm", "2", "--requests", "10"]) == 1
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["other_ms"] > 0
    assert figures["image_ms"] > figures["other_ms"]
    assert len(figures["resident_mb"]) == 11
    assert figures["budgets"][0]["is_met"] is False


def test_image_work_is_taken_out_of_the_clients_share() -> None:
    scenario = client.SCENARIO
    replaying = ReplayServer(recorded("receipt"), serves=[scenario.spec.tied_name], is_endless=True)
    with replaying as replay, chat_client(replay.url) as http:
        engine = VlmEngine(scenario.spec, ServedModel(scenario.spec, http))
        image_ms, other_ms = client.cpu_a_request(engine, scenario.page(), 3)
        again = engine.read_page(scenario.page(), scenario.request())
        replay.left.clear()
    # What is left of a page is the client's: the clocks around the image's parts are off again.
    assert 0 < other_ms < image_ms < 1000 * again.cpu_seconds * 20
