"""Run by vLLM's own Python: read pages with an engine that is in this process; the last line is what came of it.

`python -m tests.vllm.in_process SPECIFICATION`, the latter as JSON.
"""

import json
import sys
from typing import Any

from inference.engines.vlm import VlmEngine
from inference.errors import AnswerError, InferenceError
from inference.registry import build_engine
from inference.types import PageReading, VlmSpec
from tests.inference.serving.asking import a_page, a_request
from tests.replay.scenarios import SCENARIOS


def told(outcome: PageReading | InferenceError) -> dict[str, Any]:
    """What the test wants to know of one page."""
    if isinstance(outcome, PageReading):
        assert outcome.answer is not None
        answer = outcome.answer
        [raw] = answer.attempts[-1:]
        return {
            "values": answer.values,
            "evidence": answer.evidence,
            "text": raw.text,
            "finish_reason": raw.finish_reason,
            "tokens": [[token.data.decode("latin-1"), token.logprob] for token in raw.tokens],
        }
    attempts = outcome.attempts if isinstance(outcome, AnswerError) else ()
    return {"code": outcome.code, "attempts": [[raw.text, raw.finish_reason] for raw in attempts]}


def read(engine: VlmEngine, name: str) -> dict[str, Any]:
    scenario = SCENARIOS[name]
    try:
        return told(engine.read_page(scenario.page(), scenario.request()))
    except InferenceError as failure:
        return told(failure)


def main(specification: str) -> None:
    data = json.loads(specification)
    engine = build_engine(data["kind"], data)
    assert isinstance(engine, VlmEngine)
    found = {name: read(engine, name) for name in ("plain_page", "chinese", "cut_short")}
    free = VlmEngine(VlmSpec.from_json(data | {"decoding": {"is_constrained": False}}), engine._model)
    found["free"] = read(free, "free")
    batch = [(a_page(f"TOTAL {n}.00"), a_request()) for n in range(2)]
    batch.insert(1, (SCENARIOS["too_long"].page(), SCENARIOS["too_long"].request()))
    found["batch"] = {str(n): told(one) for n, one in enumerate(engine.read_pages(batch))}
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
