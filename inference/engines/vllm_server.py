"""The main engine: a model behind vLLM's OpenAI-compatible server (R1)."""

import os
import time
from collections.abc import Callable, Sequence

import httpx

from inference.engines.vlm import VlmEngine
from inference.errors import AnswerLostError, EngineError, EngineUnavailableError
from inference.serving.chat import attempt, chat_client
from inference.serving.health import is_healthy, served_by
from inference.serving.questions import Question
from inference.serving.retry import ServerFailedError, with_retries
from inference.serving.wire import raw_answer, request_body
from inference.types import RawAnswer, VlmSpec

URL_VARIABLE, KEY_VARIABLE, SECONDS_VARIABLE = "STET_VLLM_URL", "STET_VLLM_API_KEY", "STET_MODEL_SECONDS"
DEFAULT_SECONDS = 80.0


class ServedModel:
    """Implements `LanguageModel` over a server that was started as the specification says.

    Before the first question the server is asked what it is: another vLLM than the specification's gives other
    log-probabilities, and scores from those would not mean what they were calibrated to mean.
    """

    def __init__(
        self,
        spec: VlmSpec,
        client: httpx.Client,
        *,
        first_wait_seconds: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spec = spec
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
            self._get_to_know()
        return [self._ask(question, until) for question in questions]

    def _ask(self, question: Question, until: float | None) -> RawAnswer | EngineError:
        body = request_body(question, self._spec)
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

    def _get_to_know(self) -> None:
        served = served_by(self._client)
        if served.vllm_version != self._spec.vllm_version:
            declared = self._spec.vllm_version
            raise EngineUnavailableError(
                f"the server runs vLLM {served.vllm_version}, this engine version was declared for {declared}"
            )
        name = self._spec.adapter or self._spec.served_model_name
        if name not in served.max_model_lens:
            raise EngineUnavailableError(
                f"the server does not serve {name!r} but: {', '.join(sorted(served.max_model_lens))}"
            )
        self._is_known = True


def build(spec: VlmSpec) -> VlmEngine:
    """Return the engine for the server that STET_VLLM_URL names; it is not asked anything yet.

    Raise EngineUnavailableError where the variable is not set.
    """
    url = os.environ.get(URL_VARIABLE, "").strip()
    if not url:
        raise EngineUnavailableError(f"{URL_VARIABLE} names no server")
    client = chat_client(url, os.environ.get(KEY_VARIABLE, ""))
    seconds = float(os.environ.get(SECONDS_VARIABLE, "") or DEFAULT_SECONDS)
    return VlmEngine(spec, ServedModel(spec, client), page_seconds=seconds)
