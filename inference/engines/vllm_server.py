"""The main engine: a model behind vLLM's OpenAI-compatible server (R1)."""

import time
from collections.abc import Callable, Sequence

from inference.engines.vlm import VlmEngine
from inference.errors import AnswerLostError, EngineError, EngineUnavailableError
from inference.serving.chat import ServerClient, attempt, chat_client
from inference.serving.environment import page_seconds, server_key, server_url
from inference.serving.health import is_healthy, refuse_other, served_by
from inference.serving.questions import Question
from inference.serving.retry import ServerFailedError, with_retries
from inference.serving.wire import raw_answer, request_body
from inference.types import RawAnswer, VlmSpec


class ServedModel:
    """Implements `LanguageModel` over a server that was started as the specification says.

    Before the first question the server is asked what it is: another vLLM than the specification's, other weights or
    other flags give other log-probabilities, and scores from those would not mean what they were calibrated to mean.
    Every question names the version too (`VlmSpec.tied_name`): a server that is exchanged later refuses it.
    """

    def __init__(
        self,
        spec: VlmSpec,
        client: ServerClient,
        *,
        first_wait_seconds: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spec = spec
        self._name = spec.tied_name
        self._client = client
        self._first_wait_seconds = first_wait_seconds
        self._clock = clock
        self._is_known = False

    def answer(self, questions: Sequence[Question], seconds: float | None = None) -> list[RawAnswer | EngineError]:
        """Ask one after the other, within one deadline for all of them and all attempts at each.

        Raise EngineUnavailableError where the server is not there or not the right one, AnswerLostError where it had a
        question and did not come back with an answer.
        """
        until = None if seconds is None else self._clock() + seconds
        if not self._is_known:
            self.look()
        return [self._ask(question, until) for question in questions]

    def _ask(self, question: Question, until: float | None) -> RawAnswer | EngineError:
        body = request_body(question, self._spec, model=self._name)
        started = self._clock()

        def once() -> bytes:
            # What went before is gone: other questions, other attempts, getting to know the server.
            left = None if until is None else until - self._clock()
            if left is not None and left <= 0:
                raise AnswerLostError("answer_late", "the time for the page is over")
            return attempt(self._client, body, left)

        try:
            response = with_retries(once, first_wait_seconds=self._first_wait_seconds)
        except ServerFailedError:
            if not is_healthy(self._client):
                self._is_known = False
                raise
            # It serves others and fails on this page each time: sent again later, the page would go round for ever.
            return EngineError("the server fails on this page, and is well otherwise")
        except EngineUnavailableError:
            self._is_known = False
            raise
        except EngineError as refused:
            return refused
        return raw_answer(response, is_free=question.schema is None, seconds=self._clock() - started)

    def look(self) -> None:
        """See that the server is there and is the one of the version.

        Raise EngineUnavailableError where it is not there, VersionNotServedError where it is another one.
        """
        self._is_known = False
        refuse_other(served_by(self._client), self._spec)
        self._is_known = True


def build(spec: VlmSpec) -> VlmEngine:
    """Return the engine for the server that serves the version (STET_VLLM_URLS, STET_VLLM_URL); it is not asked yet.

    Raise EngineUnavailableError where neither variable names one.
    """
    client = chat_client(server_url(spec.digest), server_key())
    return VlmEngine(spec, ServedModel(spec, client), page_seconds=page_seconds())
