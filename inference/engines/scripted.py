"""An engine that answers from a script, at no cost: for tests, drills of faults and benches. It reads no pixels."""

import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.errors import AnswerLostError, EngineError, EngineUnavailableError
from inference.imaging.hashing import content_hash
from inference.types import BBox, OcrProfile, PageImage, PageReading, PageRequest, Word

ANSWERS_VARIABLE = "STET_SCRIPTED_ANSWERS"
FAULTS = ("engine_failed", "engine_unavailable", "answer_lost", "answer_late", "abort", "kill")
_KEYS = {"words", "sleep_seconds", "fault", "times"}
OTHER_READERS_KEY = "answer"
"""What `inference.engines.scripted_vlm` says of the page; nothing to this engine."""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What to do with one page: wait, then fail the first `times` reads in the way of `fault`, then give the words.

    `fault` is one of `FAULTS` or None; `abort` and `kill` end the process as a crash in native code would.
    `times` None means every time. Reads are counted across processes where the engine has a folder for counters.
    """

    words: tuple[Word, ...] = ()
    sleep_seconds: float = 0.0
    fault: str | None = None
    times: int | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScriptedAnswer":
        """Build from `{"words": [[text, x0, y0, x1, y1, score], …], "sleep_seconds", "fault", "times"}`, all optional.

        Raise ValueError for an unknown key or fault: a drill that silently does nothing would pass for a success.
        """
        unknown = set(data) - _KEYS - {OTHER_READERS_KEY}
        if unknown:
            raise ValueError(f"unknown keys in a scripted answer: {', '.join(sorted(unknown))}")
        fault = data.get("fault")
        if fault is not None and fault not in FAULTS:
            raise ValueError(f"unknown fault {fault!r}; known are: {', '.join(FAULTS)}")
        return cls(
            words=tuple(Word(row[0], BBox(*row[1:5]), row[5]) for row in data.get("words", ())),
            sleep_seconds=float(data.get("sleep_seconds", 0.0)),
            fault=fault,
            times=data.get("times"),
        )


class ReadCounter:
    """How often each page has been read: in the folder given, across processes, else by this engine alone."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._reads: dict[str, int] = {}

    def count(self, key: str) -> int:
        """Return how often this page has been read, this time included; written down before a crash can happen."""
        if self._folder is None:
            self._reads[key] = self._reads.get(key, 0) + 1
            return self._reads[key]
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / key).open("ab") as counter:
            fcntl.flock(counter, fcntl.LOCK_EX)
            counter.write(b".")
            counter.flush()
            return os.fstat(counter.fileno()).st_size


class ScriptedEngine:
    """Implements `inference.engine.Engine` over `{"default": answer, "pages": {content hash: answer}}`.

    Without a script of its own it takes the file that the environment variable STET_SCRIPTED_ANSWERS names; its
    counters then lie in a folder beside that file.
    """

    name = "scripted"

    def __init__(
        self,
        script: Mapping[str, Any] | None = None,
        counters: Path | None = None,
        profile: OcrProfile | None = None,
    ) -> None:
        self._profile = profile
        if script is None:
            script, counters = script_from_environment()
        self._default = ScriptedAnswer.from_json(script["default"]) if "default" in script else None
        self._pages = {key: ScriptedAnswer.from_json(answer) for key, answer in script.get("pages", {}).items()}
        self._counter = ReadCounter(counters)
        self._digest = hashlib.sha256(json.dumps(script, sort_keys=True).encode()).hexdigest()

    @property
    def version(self) -> Mapping[str, Any]:
        """The engine's name, the script's checksum and its profile."""
        profile = {} if self._profile is None else {"profile": self._profile.as_json()}
        return {"engine": self.name, "script_sha256": self._digest, **profile}

    def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:  # noqa: ARG002
        """Do what the script says for this page; raise EngineError where it has no answer and no default."""
        started = time.thread_time()
        key = content_hash(page)
        answer = self._pages.get(key, self._default)
        if answer is None:
            raise EngineError("the script has no answer for this page")
        if answer.sleep_seconds:
            time.sleep(answer.sleep_seconds)
        if answer.fault is not None and (answer.times is None or self._counter.count(key) <= answer.times):
            fail(answer.fault)
        width, height = page.size
        least = 0.0 if self._profile is None else self._profile.min_text_score
        words = tuple(word for word in answer.words if word.score >= least)
        return PageReading(width, height, words, time.thread_time() - started)


def with_profile(profile: OcrProfile) -> ScriptedEngine:
    """Return an engine that says of the script what its profile lets through."""
    return ScriptedEngine(profile=profile)


def script_from_environment() -> tuple[Mapping[str, Any], Path]:
    """Return the script that STET_SCRIPTED_ANSWERS names and its counters' folder; raise EngineUnavailableError."""
    path = os.environ.get(ANSWERS_VARIABLE)
    if not path:
        raise EngineUnavailableError(f"{ANSWERS_VARIABLE} names no script")
    try:
        script = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as unreadable:
        raise EngineUnavailableError(f"the script that {ANSWERS_VARIABLE} names cannot be read") from unreadable
    return script, Path(f"{path}.counters")


def fail(fault: str) -> None:
    """Fail in the way of one of `FAULTS`."""
    match fault:
        case "engine_failed":
            raise EngineError("scripted failure")
        case "engine_unavailable":
            raise EngineUnavailableError("scripted absence")
        case "answer_lost" | "answer_late":
            raise AnswerLostError(fault, "scripted breaking off")
        case "abort":
            os.abort()
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
