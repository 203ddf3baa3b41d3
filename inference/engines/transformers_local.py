"""A model in this process through transformers, for an edge box: half, 8-bit or 4-bit weights, off-loading (R1).

Importing this module imports torch and transformers (the extra `transformers`).
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForImageTextToText, AutoProcessor, StoppingCriteriaList
from xgrammar import GrammarCompiler, TokenizerInfo
from xgrammar.contrib.hf import LogitsProcessor

from inference.engines.offload_folder import OffloadFolder
from inference.engines.transformers_loading import is_offloaded, loading_arguments
from inference.engines.transformers_tokens import ClosedObject, generated_tokens
from inference.engines.vlm import VlmEngine
from inference.errors import AnswerLostError, EngineError, EngineUnavailableError
from inference.serving.environment import page_seconds
from inference.serving.libraries import differences, libraries_for
from inference.serving.page_images import PreparedImage
from inference.serving.questions import Question
from inference.serving.weights import WeightsError, verify_weights
from inference.types import RawAnswer, VlmSpec


class LocalModel:
    """Implements `LanguageModel`: one question after the other, greedy or sampled from a seed, stopped at the brace."""

    def __init__(
        self,
        spec: VlmSpec,
        model: Any,  # noqa: ANN401 - untyped libraries
        processor: Any,  # noqa: ANN401
        offload_folder: OffloadFolder | None = None,
    ) -> None:
        self._decoding = spec.decoding
        # Held as long as the model: its folder goes with it.
        self._offload_folder = offload_folder
        self._model = model
        self._processor = processor
        self._grammars = GrammarCompiler(
            TokenizerInfo.from_huggingface(processor.tokenizer, vocab_size=_vocabulary_size(model))
        )

    def answer(self, questions: Sequence[Question], seconds: float | None = None) -> list[RawAnswer | EngineError]:
        """Answer one after the other, within one deadline. Raise AnswerLostError for too little memory, or too late."""
        until = None if seconds is None else time.monotonic() + seconds
        answers: list[RawAnswer | EngineError] = []
        for question in questions:
            try:
                answers.append(self._generate(question, None if until is None else until - time.monotonic()))
            except torch.OutOfMemoryError:
                # Others may have held the memory; if it is the page that is too large, it will be so each time.
                raise AnswerLostError("answer_lost", "too little memory for the page on the graphics card") from None
            except EngineUnavailableError:
                raise
            except Exception as failure:
                # The cause is left out on purpose: its message might quote the prompt.
                answers.append(EngineError(f"generating failed with {type(failure).__name__}"))
        return answers

    def _generate(self, question: Question, seconds: float | None) -> RawAnswer:
        started = time.monotonic()
        inputs = self._processor.apply_chat_template(
            chat_messages(question),
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self._model.device, dtype=self._model.dtype)
        n_prompt_tokens = int(inputs["input_ids"].shape[1])
        closed = ClosedObject(self._processor.tokenizer, n_prompt_tokens)
        torch.manual_seed(self._decoding.seed)
        with torch.inference_mode():
            output = self._model.generate(
                **inputs,
                **self._sampling(),
                max_new_tokens=question.max_tokens,
                max_time=seconds,
                logits_processor=self._constraint(question),
                stopping_criteria=StoppingCriteriaList([closed]),
                output_scores=True,
                return_dict_in_generate=True,
            )
        ids = output.sequences[0, n_prompt_tokens:].tolist()
        has_ended = closed.is_closed or ids[-1] in self._end_ids()
        taken = time.monotonic() - started
        if not has_ended and seconds is not None and taken >= seconds:
            raise AnswerLostError("answer_late", "the model did not answer in time")
        tokens = generated_tokens(self._processor.tokenizer, ids, output.scores, self._decoding.top_logprobs)
        return RawAnswer(
            text=self._processor.tokenizer.decode(ids, skip_special_tokens=True),
            finish_reason="stop" if has_ended else "length",
            tokens=tokens,
            n_prompt_tokens=n_prompt_tokens,
            n_tokens=len(ids),
            seconds=taken,
        )

    def _sampling(self) -> dict[str, Any]:
        temperature = self._decoding.temperature
        return {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}

    def _constraint(self, question: Question) -> list[Any]:
        if question.schema is None:
            return []
        grammar = self._grammars.compile_json_schema(dict(question.schema), any_whitespace=False, separators=(",", ":"))
        # It follows one answer and is spent with it.
        return [LogitsProcessor(grammar)]

    def _end_ids(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return set(ends) if isinstance(ends, list) else {ends}


def chat_messages(question: Question) -> list[dict[str, Any]]:
    """Return the question's turns as transformers' chat templates take them."""
    return [
        {
            "role": turn.role,
            "content": [
                {"type": "image", "image": part.as_picture()}
                if isinstance(part, PreparedImage)
                else {"type": "text", "text": part}
                for part in turn.parts
            ],
        }
        for turn in question.turns
    ]


def _vocabulary_size(model: Any) -> int:  # noqa: ANN401
    """Return the width of the model's output, which may be more than the tokenizer's tokens."""
    return int(model.get_output_embeddings().weight.shape[0])


def build(spec: VlmSpec) -> VlmEngine:
    """Load the model into this process.

    Raise EngineUnavailableError where the libraries or the weights are not the version's, or where the weights carry
    code that the version does not trust, or do not load.
    """
    if spec.adapter:
        raise EngineUnavailableError("an adapter is served by vllm_server only")
    if others := differences(spec.library_versions, libraries_for(spec.quantisation)):
        raise EngineUnavailableError(f"{'; '.join(others)}: install those, or declare another engine version")
    folder = OffloadFolder() if is_offloaded(spec.quantisation) else None
    arguments = loading_arguments(spec.quantisation, folder.path if folder else None)
    try:
        verify_weights(Path(spec.weights_folder), spec.weights_sha256)
    except WeightsError as wrong:
        raise EngineUnavailableError(str(wrong)) from wrong
    source = {"pretrained_model_name_or_path": spec.weights_folder, "local_files_only": True}
    trust = {"trust_remote_code": spec.is_remote_code_trusted}
    try:
        processor = AutoProcessor.from_pretrained(**source, **trust)
        model = AutoModelForImageTextToText.from_pretrained(**source, **trust, **arguments)
    except Exception as failure:
        if "trust_remote_code" in str(failure):
            raise EngineUnavailableError(
                "the weights bring code of their own: read it, then declare a version with is_remote_code_trusted"
            ) from failure
        raise EngineUnavailableError(f"the model does not load: {type(failure).__name__}: {failure}") from failure
    if "device_map" not in arguments and torch.cuda.is_available():
        model = model.to("cuda")
    return VlmEngine(spec, LocalModel(spec, model.eval(), processor, folder), page_seconds=page_seconds())
