"""A language model that answers from a script, at no cost: for tests and drills of the two-reader flow.

It has the script of `inference.engines.scripted`; each page's entry may hold what it answers there:
`{"answer": {"values", "evidence", "is_repaired", "fault", "times", "sleep_seconds"}}`, all but the values optional. The
script's "load_seconds" is how long the model takes to be loaded.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inference.engines.scripted import FAULTS, OTHER_READERS_KEY, ReadCounter, fail, script_from_environment
from inference.errors import AnswerError, AnswerLostError, EngineError, InferenceError
from inference.imaging.hashing import content_hash
from inference.types import PageAnswer, PageImage, PageReading, PageRequest, RawAnswer, VlmSpec


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What to answer on one page: wait, fail the first `times` reads in the way of `fault`, then give the values.

    `fault` is one of `inference.engines.scripted.FAULTS` or of `AnswerError.REASONS`; `times` None means every time.
    """

    values: Mapping[str, Any]
    evidence: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    is_repaired: bool = False
    fault: str | None = None
    times: int | None = None
    sleep_seconds: float = 0.0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScriptedReply":
        """Build from JSON data; raise TypeError for an unknown key, ValueError for an unknown fault."""
        reply = cls(**data)
        if reply.fault not in (None, *FAULTS, *AnswerError.REASONS):
            raise ValueError(f"unknown fault {reply.fault!r}; known are: {', '.join((*FAULTS, *AnswerError.REASONS))}")
        return reply


class ScriptedVlmEngine:
    """Implements `inference.engine.Engine` for versions of the kind "scripted"; it reads no pixels."""

    def __init__(self, spec: VlmSpec, script: Mapping[str, Any] | None = None) -> None:
        self.name = spec.kind
        self._spec = spec
        counters = None
        if script is None:
            script, counters = script_from_environment()
        time.sleep(script.get("load_seconds", 0.0))
        pages = {"": script.get("default", {}), **script.get("pages", {})}
        self._replies = {
            key: ScriptedReply.from_json(page[OTHER_READERS_KEY])
            for key, page in pages.items()
            if OTHER_READERS_KEY in page
        }
        self._counter = ReadCounter(counters)

    @property
    def version(self) -> Mapping[str, Any]:
        """The specification as it is stored."""
        return self._spec.as_json()

    def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:
        """Do what the script says for this page; raise EngineError where it has no answer and no default."""
        if request is None:
            raise EngineError("a language model must be told which fields to read")
        key = content_hash(page)
        reply = self._replies.get(key, self._replies.get(""))
        if reply is None:
            raise EngineError("the script has no answer for this page")
        if reply.sleep_seconds:
            time.sleep(reply.sleep_seconds)
        raw = RawAnswer(json.dumps(reply.values, ensure_ascii=False), "stop", n_prompt_tokens=400, n_tokens=40)
        if reply.fault is not None and (reply.times is None or self._counter.count(f"answer-{key}") <= reply.times):
            if reply.fault in AnswerError.REASONS:
                raise AnswerError(reply.fault, attempts=(raw,))
            fail(reply.fault)
        answer = PageAnswer(reply.values, reply.is_repaired, ("fence",) * reply.is_repaired, reply.evidence, (raw,))
        width, height = page.size
        return PageReading(width, height, request.words, cpu_seconds=0.0, answer=answer)

    def read_pages(self, asked: Sequence[tuple[PageImage, PageRequest]]) -> list[PageReading | InferenceError]:
        """Read pages one after the other, as `inference.engines.vlm.VlmEngine.read_pages` does side by side."""
        outcomes: list[PageReading | InferenceError] = []
        for page, request in asked:
            try:
                outcomes.append(self.read_page(page, request))
            except (EngineError, AnswerLostError) as failure:
                outcomes.append(failure)
        return outcomes


def build(spec: VlmSpec) -> ScriptedVlmEngine:
    """Return the engine with the script that STET_SCRIPTED_ANSWERS names; raise EngineUnavailableError without one."""
    return ScriptedVlmEngine(spec)
