"""A server that answers as a real vLLM server was recorded to, with an engine that asks it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.errors import (
    AnswerError,
)
from inference.serving.chat import chat_client
from inference.types import PageReading, VlmSpec
from tests.replay.exchanges import Exchange, recorded
from tests.replay.scenarios import SCENARIOS
from tests.replay.server import ReplayServer


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
