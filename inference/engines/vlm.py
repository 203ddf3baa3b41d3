"""A vision-language model as an engine: the same page, questions and evidence wherever the model runs (R1, R3)."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inference.errors import EngineError, EngineUnavailableError
from inference.imaging.quality import measure
from inference.serving.dialogue import Asking, Dialogue, Shown, dialogue
from inference.serving.page_images import PreparedImage, prepare_page
from inference.serving.prompts import load_prompt
from inference.serving.questions import LanguageModel, Question
from inference.types import Example, PageAnswer, PageImage, PageReading, PageRequest, RawAnswer, VlmSpec

N_KEPT_EXAMPLES = 8


class VlmEngine:
    """Implements `inference.engine.Engine` for a frozen version of a model; reads many pages side by side too.

    `page_seconds` bounds the time for one page, all its questions together; None is no bound.
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

        The CPU seconds are those of this process: of a model on a server, only what talking to it takes.
        """
        if request is None:
            raise EngineError("a language model must be told which fields to read")
        started, asked_at = time.thread_time(), self._clock()
        talk = self._talk(page, request)
        while talk.question is not None:
            [raw] = self._model.answer([talk.question], self._seconds_left(asked_at))
            talk.hear(raw)
        if isinstance(talk.outcome, EngineError):
            raise talk.outcome
        return _reading(page, request, talk.outcome, time.thread_time() - started)

    def read_pages(self, asked: Sequence[tuple[PageImage, PageRequest]]) -> list[PageReading | EngineError]:
        """Read pages side by side, as many as the model takes at one time; a page that fails has its error instead.

        For a back-fill: no bound on the time. Raise EngineUnavailableError where nothing can be read now.
        """
        started = time.thread_time()
        talks = [self._talk(page, request) for page, request in asked]
        while questions := [(talk, talk.question) for talk in talks if talk.question is not None]:
            raws = self._model.answer([question for _, question in questions])
            for (talk, _), raw in zip(questions, raws, strict=True):
                talk.hear(raw)
        each = (time.thread_time() - started) / max(len(asked), 1)
        return [
            talk.outcome if isinstance(talk.outcome, EngineError) else _reading(*one, talk.outcome, each)
            for talk, one in zip(talks, asked, strict=True)
        ]

    def _talk(self, page: PageImage, request: PageRequest) -> "_Talk":
        return _Talk(dialogue(Asking(self._spec, self._prompt, page, request, self._shown(request.examples))))

    def _seconds_left(self, asked_at: float) -> float | None:
        if self._page_seconds is None:
            return None
        left = self._page_seconds - (self._clock() - asked_at)
        if left <= 0:
            raise EngineUnavailableError(f"the page took longer than {self._page_seconds:g} s")
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
    """The dialogue of one page as it stands: a `question` that waits for its answer, or the `outcome`."""

    def __init__(self, steps: Dialogue) -> None:
        self.question: Question | None = None
        self.outcome: PageAnswer | EngineError = EngineError("no answer yet")
        self._steps = steps
        self._step(lambda: next(steps))

    def hear(self, raw: RawAnswer | EngineError) -> None:
        """Take the answer to the question."""
        if isinstance(raw, EngineError):
            self.question, self.outcome = None, raw
            self._steps.close()
        else:
            self._step(lambda: self._steps.send(raw))

    def _step(self, step: Callable[[], Question]) -> None:
        try:
            self.question = step()
        except StopIteration as end:
            self.question, self.outcome = None, end.value
        except EngineError as failure:
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
