"""What can go wrong while a page is opened or read. Each error has a `code` that is stored and translated."""

from collections.abc import Sequence
from typing import Any


class InferenceError(Exception):
    """Base of all errors of this package; `code` is stable and safe to store, the message holds no document text.

    `attempts` are the raw answers (`inference.types.RawAnswer`) that a language model had given before it failed: they
    are kept for failures too.
    """

    code = "inference_failed"
    attempts: tuple[Any, ...] = ()


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
    """The engine cannot be had right now (not installed, not reachable); another attempt later may succeed.

    It took nothing in hand, so that nothing is said of the page: a page may wait for it for ever.
    """

    code = "engine_unavailable"


class ModelDamagedError(InferenceError):
    """What was learned cannot be used: its bytes are not those that were stored, or are no such model."""

    code = "model_damaged"


class AnswerLostError(EngineUnavailableError):
    """The engine had the page in hand, and no answer came of it. `code` says how: one of `REASONS`.

    "answer_lost": the connection broke, the server failed or gave up. "answer_late": the time for the page was over.
    Another attempt may succeed, but it may be the page that does this: one that meets it each time must come to an end.
    """

    REASONS = ("answer_lost", "answer_late")

    def __init__(self, code: str, message: str) -> None:
        if code not in self.REASONS:
            raise ValueError(f"unknown reason {code!r}")
        super().__init__(message)
        self.code = code


class SharedLossError(AnswerLostError):
    """The answer was lost while other pages were in flight to the same server: nobody knows which one it died of."""

    def __init__(self, lost: AnswerLostError) -> None:
        super().__init__(lost.code, str(lost))
        self.attempts = lost.attempts


class EngineDiedError(AnswerLostError):
    """The engine, which lives in this process, did not survive the page: it must be built anew."""

    def __init__(self, message: str) -> None:
        super().__init__("answer_lost", message)


class VersionNotServedError(EngineUnavailableError):
    """A server answers, and it is not the one of the engine version: nothing may be asked of it.

    What another model, or the same one with other flags, would answer has confidences that mean something else.
    """

    code = "version_not_served"


class AnswerError(EngineError):
    """A language model's answer cannot be used. `code` says why: one of `REASONS`.

    The last of the `attempts` is the one refused. `problems` lists (JSON Pointer, message) pairs for the model and for
    engineers; they repeat no value.
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
