"""What the tests of language models ask with: one small document type, pages with print on them, scripted models."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import cv2
import numpy as np

from inference.errors import EngineError
from inference.serving.questions import Question
from inference.types import (
    BBox,
    PageImage,
    PageRequest,
    RawAnswer,
    Token,
    VlmSpec,
    Word,
    parse_document_type,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "slip",
    "x-label": {"en": "Slip", "zh": "小票"},
    "x-output-limit": 256,
    "properties": {
        "company": {"type": ["string", "null"], "x-label": {"en": "Company", "zh": "商家"}, "x-value-type": "name"},
        "total": {"type": ["string", "null"], "x-label": {"en": "Total", "zh": "合计"}, "x-value-type": "amount"},
        "items": {
            "type": "array",
            "x-label": {"en": "Items", "zh": "明细"},
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": ["string", "null"], "x-label": {"en": "Text", "zh": "品名"}},
                    "amount": {
                        "type": ["string", "null"],
                        "x-label": {"en": "Amount", "zh": "金额"},
                        "x-value-type": "amount",
                    },
                },
            },
        },
    },
}
VALUES: dict[str, Any] = {
    "company": "ACME SDN BHD",
    "total": "12.50",
    "items": [{"text": "Tea", "amount": "4.50"}, {"text": "Rice", "amount": "8.00"}],
}
WORDS = (Word("TOTAL 12.50", BBox(0.1, 0.8, 0.9, 0.85), 0.99),)


def a_spec(**changes: Any) -> VlmSpec:
    """A version of the tiny model behind a server; nested objects are given as JSON."""
    return VlmSpec.from_json(
        {
            "kind": "vllm_server",
            "served_model_name": "tiny-ocr",
            "weights_folder": "/weights/tiny",
            "weights_sha256": {"model.safetensors": "0" * 64},
            "prompt_version": "v1",
            "chat_template_sha256": "",
            "vllm_version": "0.32.0",
            **changes,
        }
    )


def high_value_schema() -> dict[str, Any]:
    """The document type with its total marked high value."""
    properties = SCHEMA["properties"]
    return {**SCHEMA, "properties": {**properties, "total": {**properties["total"], "x-high-value": True}}}


def a_request(schema: dict[str, Any] | None = None, *, words: tuple[Word, ...] = WORDS, **more: Any) -> PageRequest:
    schema = SCHEMA if schema is None else schema
    return PageRequest(parse_document_type(schema), schema, words=words, **more)


def a_page(*lines: str, size: tuple[int, int] = (480, 640), page_number: int = 1) -> PageImage:
    """A white page (width, height) with the lines printed on it, one below the other."""
    width, height = size
    pixels = np.full((height, width, 3), 255, np.uint8)
    for n, line in enumerate(lines or ("ACME SDN BHD", "TOTAL 12.50")):
        cv2.putText(pixels, line, (20, 60 + 50 * n), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 2)
    return PageImage(pixels, page_number)


def as_answer(values: Any = None) -> str:
    return json.dumps(VALUES if values is None else values, ensure_ascii=False)


def raw(text: str | None = None, finish_reason: str = "stop", logprob: float = -0.1) -> RawAnswer:
    """A raw answer whose tokens are its characters, each with one alternative, and the end token."""
    text = as_answer() if text is None else text
    tokens = tuple(Token(one.encode(), logprob, ((one.encode(), logprob), (b"~", -3.0))) for one in text)
    end = (Token(b"</s>", -0.01, ((b"</s>", -0.01),)),) if finish_reason == "stop" else ()
    return RawAnswer(text, finish_reason, tokens + end, n_prompt_tokens=400, n_tokens=len(text), seconds=0.5)


class ScriptedModel:
    """Implements `LanguageModel`: answers from a list, or by a function of the question; keeps what it heard."""

    def __init__(
        self, answers: Sequence[RawAnswer | EngineError | Exception] | Callable[[Question], RawAnswer]
    ) -> None:
        self._answers = answers if callable(answers) else list(answers)
        self.heard: list[Question] = []
        self.seconds: list[float | None] = []
        self.batches: list[int] = []

    def answer(self, questions: Sequence[Question], seconds: float | None = None) -> list[RawAnswer | EngineError]:
        self.batches.append(len(questions))
        self.seconds.append(seconds)
        return [self._one(question) for question in questions]

    def _one(self, question: Question) -> RawAnswer | EngineError:
        self.heard.append(question)
        if callable(self._answers):
            return self._answers(question)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception) and not isinstance(answer, EngineError):
            raise answer
        return answer
