"""What the fast tests replay is what a real server answers today."""

import pytest

from tests.replay.exchanges import is_same_question, recorded
from tests.replay.record import record_refusals, record_scenario, record_server
from tests.replay.scenarios import SCENARIOS
from tests.vllm.served import ServedHouse


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_has_the_answers_that_were_recorded(served: ServedHouse, name: str) -> None:
    fresh, kept = record_scenario(served.url, name), recorded(name)
    assert [one.status for one in fresh] == [one.status for one in kept]
    for now, then in zip(fresh, kept, strict=True):
        assert is_same_question(now.request, then.request)
        if now.status == 200:
            answers = [one.response["choices"][0] for one in (now, then)]
            assert answers[0]["message"]["content"] == answers[1]["message"]["content"]
            assert answers[0]["finish_reason"] == answers[1]["finish_reason"]


def test_what_is_refused_is_refused_for_the_same_parameter(served: ServedHouse) -> None:
    fresh, kept = record_refusals(served.url), recorded("refusals")
    assert [(one.status, one.response["error"]["param"]) for one in fresh] == [
        (one.status, one.response["error"]["param"]) for one in kept
    ]


def test_server_says_of_itself_what_was_recorded(served: ServedHouse) -> None:
    fresh, kept = record_server(served.url), recorded("server")
    assert fresh[0] == kept[0]
    assert [one.status for one in fresh] == [200, 200, 200]
