"""What can go wrong while a page is opened or read. Each error has a `code` that is stored and translated."""

from collections.abc import Sequence
from typing import Any


class InferenceError(Exception):
    """Base of all errors of this package; `code` is stable and safe to store, the message holds no document text."""

    code = "inference_failed"


class UnreadableFileError(InferenceError):
    """The file cannot become pages. `code` says why: one of `REASONS`."""

    REASONS = (
        "empty_file",
        "unknown_type",
        "too_many_bytes",
        "too_many_pixels",
        "too_many_pages",
        "truncated",
        "damaged",
        "encrypted",
        "no_pages",
        "time_limit",
        "memory_limit",
    )

    def __init__(self, code: str, detail: str = "") -> None:
        if code not in self.REASONS:
            raise ValueError(f"unknown reason {code!r}")
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class EngineError(InferenceError):
    """The engine failed on this page and will fail again."""

    code = "engine_failed"


class EngineUnavailableError(InferenceError):
    """The engine cannot be had right now (not installed, not reachable); another attempt later may succeed."""

    code = "engine_unavailable"


class ModelDamagedError(InferenceError):
    """What was learned cannot be used: its bytes are not those that were stored, or are no such model."""

    code = "model_damaged"


class AnswerError(EngineError):
    """A language model's answer cannot be used. `code` says why: one of `REASONS`.

    `attempts` are the raw answers (`inference.types.RawAnswer`), the last one being the one refused: they are kept for
    failures too. `problems` lists (JSON Pointer, message) pairs for the model and for engineers; they repeat no value.
    """

    REASONS = ("answer_cut_short", "answer_repeats", "answer_empty", "answer_unreadable", "answer_invalid")

    def __init__(self, code: str, problems: Sequence[tuple[str, str]] = (), attempts: tuple[Any, ...] = ()) -> None:
        if code not in self.REASONS:
            raise ValueError(f"unknown reason {code!r}")
        super().__init__("; ".join([code, *(f"{pointer or '/'}: {message}" for pointer, message in problems)]))
        self.code = code
        self.problems = list(problems)
        self.attempts = attempts


class UnknownEngineError(InferenceError):
    """No engine of that name is registered."""

    code = "unknown_engine"


class DocumentTypeError(InferenceError):
    """A document type's schema is not usable. `problems` lists (JSON Pointer, message) pairs, each exact."""

    code = "invalid_document_type"

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{pointer or '/'}: {message}" for pointer, message in problems))
        self.problems = problems
