"""vLLM in this process, for back-fills of large batches: no server, as many pages side by side as it takes (R1).

Importing this module imports vLLM (the extra `vllm`), which wants an environment of its own beside a GPU.
"""

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vllm
from vllm.engine.arg_utils import EngineArgs
from vllm.exceptions import VLLMClientError
from vllm.sampling_params import StructuredOutputsParams

from inference.engines.vlm import VlmEngine
from inference.errors import EngineDiedError, EngineError, EngineUnavailableError
from inference.serving.page_images import PreparedImage
from inference.serving.partial_tokens import with_shared_bytes
from inference.serving.questions import Question
from inference.serving.vllm_command import ENVIRONMENT
from inference.serving.weights import WeightsError, verify_weights
from inference.serving.wire import STOP_AFTER_OBJECT, finish_of, messages
from inference.types import RawAnswer, Token, VlmSpec


class OfflineModel:
    """Implements `LanguageModel` with vLLM's `LLM.chat`; the images are the same JPEGs as a server would be sent."""

    def __init__(self, spec: VlmSpec, llm: Any) -> None:  # noqa: ANN401 - vLLM has no types of ours
        self._spec = spec
        self._llm = llm

    def answer(self, questions: Sequence[Question], seconds: float | None = None) -> list[RawAnswer | EngineError]:  # noqa: ARG002
        """Answer all side by side; a question that is refused does not take the others with it."""
        try:
            return self._chat(questions)
        except (ValueError, VLLMClientError):
            if len(questions) > 1:
                return [answer for question in questions for answer in self.answer([question])]
            # vLLM's message may quote the prompt: it stays out.
            return [EngineError("vLLM refuses the request: prompt and page may be longer than the model's context")]
        except Exception as failure:
            # Whether its engine lives on is not known: the next page had better have another.
            raise EngineDiedError(f"vLLM failed with {type(failure).__name__}") from None

    def _chat(self, questions: Sequence[Question]) -> list[RawAnswer | EngineError]:
        started = time.monotonic()
        outputs = self._llm.chat(
            [_chat_messages(question) for question in questions],
            [self._sampling(question) for question in questions],
            use_tqdm=False,
        )
        each = (time.monotonic() - started) / len(questions)
        return [
            raw_answer(output, is_free=question.schema is None, seconds=each)
            for question, output in zip(questions, outputs, strict=True)
        ]

    def _sampling(self, question: Question) -> Any:  # noqa: ANN401
        decoding = self._spec.decoding
        parameters: dict[str, Any] = {
            "temperature": decoding.temperature,
            "seed": decoding.seed,
            "max_tokens": question.max_tokens,
            "logprobs": decoding.top_logprobs or None,
        }
        if question.schema is None:
            parameters |= {"stop": list(STOP_AFTER_OBJECT), "include_stop_str_in_output": True}
        else:
            parameters["structured_outputs"] = StructuredOutputsParams(
                json=dict(question.schema), disable_any_whitespace=True
            )
        return vllm.SamplingParams(**parameters)


def _chat_messages(question: Question) -> list[dict[str, Any]]:
    images = [part for turn in question.turns for part in turn.parts if isinstance(part, PreparedImage)]
    return messages(question.turns, [image.as_data_url().decode() for image in images])


def raw_answer(output: Any, *, is_free: bool, seconds: float) -> RawAnswer:  # noqa: ANN401
    """Return what one of vLLM's request outputs says; `is_free` when nothing bound the answer."""
    [generated] = output.outputs
    return RawAnswer(
        text=generated.text,
        finish_reason=finish_of(generated.text, generated.finish_reason, generated.stop_reason, is_free=is_free),
        tokens=with_shared_bytes(
            [
                _token(token_id, choices)
                for token_id, choices in zip(generated.token_ids, generated.logprobs or (), strict=False)
            ]
        ),
        n_prompt_tokens=len(output.prompt_token_ids or ()),
        n_tokens=len(generated.token_ids),
        seconds=seconds,
    )


def _token(token_id: int, choices: Any) -> Token:  # noqa: ANN401
    alternatives = tuple((_bytes(one.decoded_token), _logprob(one.logprob)) for one in choices.values())
    return Token(_bytes(choices[token_id].decoded_token), _logprob(choices[token_id].logprob), alternatives)


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", errors="replace")


def _logprob(value: float) -> float:
    # A server reports what the grammar forbids so; here it is minus infinity.
    return max(value, -9999.0)


def engine_arguments(spec: VlmSpec) -> dict[str, Any]:
    """Return the specification as arguments of `vllm.LLM`; raise EngineUnavailableError for what it cannot take."""
    flags = {name.replace("-", "_"): value for name, value in spec.server_flags.items()}
    known = {one.name for one in dataclasses.fields(EngineArgs)}
    if unknown := sorted(name.replace("_", "-") for name in flags if name not in known):
        raise EngineUnavailableError(f"vLLM in-process has no such flags: {', '.join(unknown)}")
    if spec.adapter:
        raise EngineUnavailableError("an adapter is served by vllm_server only")
    arguments = {**flags, "model": spec.weights_folder, "trust_remote_code": spec.is_remote_code_trusted}
    return {**arguments, "quantization": spec.quantisation} if spec.quantisation else arguments


def build(spec: VlmSpec) -> VlmEngine:
    """Load the model into this process. Raise EngineUnavailableError where weights or vLLM are not the version's."""
    if vllm.__version__ != spec.vllm_version:
        raise EngineUnavailableError(
            f"vLLM {vllm.__version__} is installed, this engine version was declared for {spec.vllm_version}"
        )
    arguments = engine_arguments(spec)
    try:
        verify_weights(Path(spec.weights_folder), spec.weights_sha256)
    except WeightsError as wrong:
        raise EngineUnavailableError(str(wrong)) from wrong
    os.environ.update({**ENVIRONMENT, **spec.server_environment})
    try:
        llm = vllm.LLM(**arguments)
    except Exception as failure:
        raise EngineUnavailableError(f"vLLM does not load the model: {type(failure).__name__}: {failure}") from failure
    return VlmEngine(spec, OfflineModel(spec, llm))
