"""Trying an engine out: in a room of tasks, since it runs one."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from inference.engines.vlm import VlmEngine
from inference.errors import EngineUnavailableError
from inference.registry import build_engine
from inference.serving.chat import chat_client
from inference.serving.environment import server_key, server_url
from inference.serving.self_test import Check, SelfTestReport, run_self_test
from inference.types import PageImage
from review.actions.engines import record_self_test
from review.models import EngineVersion
from review.selectors.access import Actor
from review.selectors.engines import vlm_spec_of


def try_engine(name: str) -> Mapping[str, Any]:
    """Build an engine, have it read an empty page and return its version; raise what it raises."""
    engine = build_engine(name)
    engine.read_page(PageImage(np.full((320, 240, 3), 255, np.uint8)))
    return engine.version


def self_test(
    *, actor: Actor, engine_version: EngineVersion, tell: Callable[[Check], None] | None = None
) -> SelfTestReport:
    """Try a declared engine version out and write down what came of it.

    Raise EngineUnavailableError where it cannot be had or reached: then nothing is written down.
    """
    spec = vlm_spec_of(engine_version)
    engine = build_engine(engine_version.name, engine_version.spec) if spec is not None else None
    if spec is None or not isinstance(engine, VlmEngine):
        raise EngineUnavailableError(f"{engine_version} is no language model: there is nothing to prove")
    if spec.kind == "vllm_server":
        with chat_client(server_url(spec.digest), server_key()) as client:
            report = run_self_test(spec, engine.model, client, tell)
    else:
        report = run_self_test(spec, engine.model, tell=tell)
    record_self_test(actor=actor, engine_version=engine_version, report=report.as_json(), is_passed=report.is_passed)
    return report
