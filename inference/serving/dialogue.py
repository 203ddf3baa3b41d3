"""What is asked about one page and what is done with each answer: a first try, one retry, a vote. It runs no model.

The dialogue of a page is a generator that yields questions and is sent raw answers: an engine that reads one page
drives one of them, a back-fill drives many side by side.
"""

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inference.answers.logprobs import token_evidence
from inference.answers.parse import Understood, understand
from inference.answers.schema import constrained, validation_message
from inference.errors import AnswerError, AnswerLostError, EngineError
from inference.serving.page_images import PreparedImage, prepare_page
from inference.serving.prompts import Prompt, turns_for
from inference.serving.questions import Question
from inference.serving.vote import is_high_value, vote
from inference.types import Example, PageAnswer, PageImage, PageRequest, RawAnswer, VlmSpec

Dialogue = Generator[Question, RawAnswer, PageAnswer]
Shown = Sequence[tuple[Example, PreparedImage | None]]

ASK_FREE_AFTER = frozenset({"answer_unreadable", "answer_cut_short", "answer_repeats", "answer_empty"})
"""What a grammar may itself be the cause of: some models write sense freely and garbage under constraint."""

ASK_AGAIN_AFTER = frozenset({"answer_unreadable", "answer_empty", "answer_invalid"})
"""What a message may mend. An answer that ran on would run on again."""

NO_ANSWER = (EngineError, AnswerLostError)
"""What a question may meet that the server had in hand. A second question can do without an answer, the first cannot;
a server that is away is another matter: the page is read when it is back."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything that the questions about one page are made of. `shown` are the examples, with images where allowed."""

    spec: VlmSpec
    prompt: Prompt
    page: PageImage
    request: PageRequest
    shown: Shown = ()
    held_to: Mapping[str, Any] = field(init=False)
    """The schema as an answer is held to it: worked out once for all questions of the page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "held_to", constrained(self.request.schema))

    def question(self, image: PreparedImage, *, is_constrained: bool, message: str = "") -> Question:
        """Return one question; the shorter of both limits on the answer holds."""
        schema = self.request.schema
        return Question(
            turns=turns_for(self.prompt, schema, image, examples=self.shown, message=message),
            max_tokens=min(self.spec.decoding.max_tokens, self.request.spec.output_limit),
            schema=self.held_to if is_constrained else None,
        )

    def understand(self, raw: RawAnswer) -> Understood:
        """Return what an answer says; raise AnswerError.

        Later pages of a document often hold none of its fields, and a page without words holds none ever.
        """
        if raw.finish_reason == "repetition":
            raise AnswerError("answer_repeats", [("", "was stopped by the server for repeating itself")], (raw,))
        may_be_empty = self.page.page_number > 1 or not self.request.words
        printed = " ".join(word.text for word in self.request.words)
        return understand(raw, self.request.schema, may_be_empty=may_be_empty, printed=printed, held_to=self.held_to)


@dataclass(frozen=True, slots=True)
class _Try:
    """One answer, and what it says or why it cannot be used."""

    raw: RawAnswer
    read: Understood | None
    failure: AnswerError | None
    was_constrained: bool

    @property
    def n_problems(self) -> float:
        """How far it is from what was asked for."""
        return math.inf if self.read is None else len(self.read.problems)


def dialogue(asking: Asking) -> Dialogue:
    """Ask about one page; return its answer with evidence, or raise AnswerError with every raw answer there was.

    A document type marked high value is read a second time at the other scale. That reading votes and never replaces
    the first: one that cannot be understood agrees with nothing, and so does one that was refused or never came. That
    one is told of, too.
    """
    imaging = asking.spec.imaging
    read, attempts = yield from _reading(asking, prepare_page(asking.page, imaging))
    raw = attempts[-1]
    evidence = token_evidence(raw.text, raw.tokens, read.values)
    has_failed = False
    if imaging.second_long_side and is_high_value(asking.request.spec):
        # Not simply at that long side: a page smaller than both would be read twice as the same image, and agree.
        image = prepare_page(asking.page, imaging, imaging.second_long_side / imaging.long_side)
        try:
            second, others = yield from _reading(asking, image)
            agreement = vote(read.values, second.values)
        except NO_ANSWER as failure:
            has_failed = not isinstance(failure, AnswerError)
            agreement, others = vote(read.values, {}), failure.attempts
        attempts = (*others, *attempts)
        for path, share in agreement.items():
            evidence.setdefault(path, {})["vote_agreement"] = share
    return PageAnswer(read.values, read.is_repaired, read.repairs, evidence, attempts, has_failed)


def _reading(
    asking: Asking, image: PreparedImage
) -> Generator[Question, RawAnswer, tuple[Understood, tuple[RawAnswer, ...]]]:
    """Ask once, and once more where that may help; return the better answer and all raw ones, its own the last.

    A second question that is refused, or whose answer is lost, leaves what the first one brought.
    """
    is_constrained = asking.spec.decoding.is_constrained
    tries = [_try(asking, (yield asking.question(image, is_constrained=is_constrained)), is_constrained)]
    again = _once_more(asking, image, tries[0])
    if again is not None:
        with contextlib.suppress(*NO_ANSWER):
            tries.append(_try(asking, (yield again), again.schema is not None))
    best = min(tries, key=lambda one: one.n_problems)
    if best.read is None:
        last = tries[-1].failure or AnswerError("answer_invalid")
        raise AnswerError(last.code, last.problems, tuple(one.raw for one in tries))
    return best.read, (*(one.raw for one in tries if one is not best), best.raw)


def _try(asking: Asking, raw: RawAnswer, was_constrained: bool) -> _Try:
    try:
        return _Try(raw, asking.understand(raw), None, was_constrained)
    except AnswerError as failure:
        return _Try(raw, None, failure, was_constrained)


def _once_more(asking: Asking, image: PreparedImage, first: _Try) -> Question | None:
    """Return the one retry, or None where it would only bring the same again (B2)."""
    if first.failure is None:
        problems = [(problem.field_path, problem.message) for problem in first.read.problems] if first.read else []
        code = "answer_invalid" if problems else ""
    else:
        code, problems = first.failure.code, first.failure.problems
    is_freed = first.was_constrained and code in ASK_FREE_AFTER
    if not is_freed and code not in ASK_AGAIN_AFTER:
        return None
    is_constrained = first.was_constrained and not is_freed
    return asking.question(image, is_constrained=is_constrained, message=validation_message(problems))
