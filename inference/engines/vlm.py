"""A vision-language model as an engine: the same page, questions and evidence wherever the model runs (R1, R3)."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from inference.errors import AnswerLostError, EngineDiedError, EngineError, EngineUnavailableError, InferenceError
from inference.imaging.quality import measure
from inference.serving.dialogue import Asking, Dialogue, Shown, dialogue
from inference.serving.page_images import PreparedImage, prepare_page
from inference.serving.prompts import load_prompt
from inference.serving.questions import LanguageModel, Question
from inference.types import Example, PageAnswer, PageImage, PageReading, PageRequest, RawAnswer, VlmSpec

N_KEPT_EXAMPLES = 8


class VlmEngine:
    """Implements `inference.engine.Engine` for a frozen version of a model; reads many pages side by side too.

    `page_seconds` bounds the time for one page, all its questions and attempts together; None is no bound. A request
    may leave less (`PageRequest.seconds`).
    """

    def __init__(
        self,
        spec: VlmSpec,
        model: LanguageModel,
        *,
        page_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = spec.kind
        self._spec = spec
        self._model = model
        self._prompt = load_prompt(spec.prompt_version)
        self._page_seconds = page_seconds
        self._clock = clock
        self._examples: OrderedDict[str, PreparedImage] = OrderedDict()

    @property
    def version(self) -> Mapping[str, Any]:
        """The specification as it is stored."""
        return self._spec.as_json()

    @property
    def model(self) -> LanguageModel:
        """The model behind it, to be tried out by itself."""
        return self._model

    def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:
        """Read one page as asked; raise AnswerError where the model's answer cannot be used, and else as `Engine` says.

        Whatever is raised carries what the model had said before (`attempts`). The CPU seconds are those of this
        process: of a model on a server, only what talking to it takes.
        """
        if request is None:
            raise EngineError("a language model must be told which fields to read")
        started, until = time.thread_time(), self._until(request)
        talk = self._talk(page, request)
        while talk.question is not None:
            try:
                [raw] = self._model.answer([talk.question], self._seconds_left(until))
            except EngineUnavailableError as gone:
                talk.hear(gone)
            else:
                talk.hear(raw)
        if isinstance(talk.outcome, InferenceError):
            raise talk.outcome
        return _reading(page, request, talk.outcome, time.thread_time() - started)

    def read_pages(self, asked: Sequence[tuple[PageImage, PageRequest]]) -> list[PageReading | InferenceError]:
        """Read pages side by side, as many as the model takes at one time; a page that fails has its error instead.

        For a back-fill: no bound on the time. Raise EngineUnavailableError where nothing can be read now. A model that
        goes away later on takes no page with it that has its answer, and one that breaks off on a page no other page.
        """
        started = time.thread_time()
        talks = [self._talk(page, request) for page, request in asked]
        while waiting := [(talk, talk.question) for talk in talks if talk.question is not None]:
            for (talk, _), raw in zip(waiting, self._answers(talks, [one for _, one in waiting]), strict=True):
                talk.hear(raw)
        each = (time.thread_time() - started) / max(len(asked), 1)
        return [
            _reading(*one, talk.outcome, each) if isinstance(talk.outcome, PageAnswer) else talk.outcome
            for talk, one in zip(talks, asked, strict=True)
        ]

    def _answers(self, talks: Sequence["_Talk"], questions: Sequence[Question]) -> Iterator[RawAnswer | InferenceError]:
        """Yield what each question met, in order; raise EngineUnavailableError where no page has an answer yet."""
        try:
            yield from self._model.answer(questions)
        except EngineUnavailableError as gone:
            has_one_to_blame = isinstance(gone, AnswerLostError) and not isinstance(gone, EngineDiedError)
            if has_one_to_blame and len(questions) == 1:
                yield gone
            elif has_one_to_blame:
                for question in questions:
                    yield from self._answers(talks, [question])
            elif any(talk.heard for talk in talks):
                # One of its own for each: it will carry what that page was answered before.
                yield from (EngineUnavailableError(str(gone)) for _ in questions)
            else:
                raise

    def _talk(self, page: PageImage, request: PageRequest) -> "_Talk":
        return _Talk(dialogue(Asking(self._spec, self._prompt, page, request, self._shown(request.examples))))

    def _until(self, request: PageRequest) -> float | None:
        bounds = [seconds for seconds in (self._page_seconds, request.seconds) if seconds is not None]
        return self._clock() + min(bounds) if bounds else None

    def _seconds_left(self, until: float | None) -> float | None:
        if until is None:
            return None
        left = until - self._clock()
        if left <= 0:
            raise AnswerLostError("answer_late", "the time for the page is over")
        return left

    def _shown(self, examples: Sequence[Example]) -> Shown:
        """Give examples their images as far as one prompt takes so many; as a rule it takes one, the page's (R2)."""
        n_images = images_per_prompt(self._spec) - 1
        return [(one, self._prepared(one) if n < n_images else None) for n, one in enumerate(examples)]

    def _prepared(self, example: Example) -> PreparedImage:
        """Return an example's image; a run shows the same few before every page."""
        if example.content_hash not in self._examples:
            self._examples[example.content_hash] = prepare_page(example.page, self._spec.imaging)
            if len(self._examples) > N_KEPT_EXAMPLES:
                self._examples.popitem(last=False)
        return self._examples[example.content_hash]


class _Talk:
    """The dialogue of one page as it stands: a `question` that waits for its answer, or the `outcome`.

    `heard` are the raw answers so far, in the order in which they came.
    """

    def __init__(self, steps: Dialogue) -> None:
        self.question: Question | None = None
        self.outcome: PageAnswer | InferenceError = EngineError("no answer yet")
        self.heard: list[RawAnswer] = []
        self._steps = steps
        self._step(lambda: next(steps))

    def hear(self, said: RawAnswer | InferenceError) -> None:
        """Take the answer to the question, or why there is none: the dialogue knows what it can do without."""
        if isinstance(said, InferenceError):
            self._step(lambda: self._steps.throw(said))
        else:
            self.heard.append(said)
            self._step(lambda: self._steps.send(said))

    def _step(self, step: Callable[[], Question]) -> None:
        try:
            self.question = step()
        except StopIteration as end:
            self.question, self.outcome = None, end.value
        except InferenceError as failure:
            failure.attempts = failure.attempts or tuple(self.heard)
            self.question, self.outcome = None, failure


def _reading(page: PageImage, request: PageRequest, answer: PageAnswer, cpu_seconds: float) -> PageReading:
    width, height = page.size
    return PageReading(width, height, request.words, cpu_seconds, measure(page), answer)


def images_per_prompt(spec: VlmSpec) -> int:
    """Return how many images one prompt may have; one, unless the version's flags say otherwise."""
    limit = spec.server_flags.get("limit-mm-per-prompt", {})
    limit = json.loads(limit) if isinstance(limit, str) else limit
    n_images = limit.get("image", 1)
    # vLLM takes a number, or an object that also says how large they may be.
    return int(n_images.get("count", 1) if isinstance(n_images, Mapping) else n_images)
