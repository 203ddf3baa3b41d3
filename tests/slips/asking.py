"""What a slip is asked for, and by which version: the product's own question about a small document type."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inference.serving.weights import manifest_of
from inference.types import ImagingProfile, PageRequest, VlmSpec, Word, parse_document_type

SIDE = 280
"""The reader sees a slip at half its size."""

PROMPT = "v2"
TOP_LOGPROBS = 3
IMAGING = ImagingProfile(long_side=SIDE, max_pixels=SIDE * SIDE, second_long_side=0, is_cropped=False)

_AMOUNT = {"type": ["string", "null"], "x-value-type": "amount"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "slip",
    "x-label": {"en": "Slip", "zh": "小票"},
    "x-locale": "en-MY",
    "x-output-limit": 200,
    "x-rules": [
        {
            "rule": "sum",
            "name": "tax_added",
            "of": ["/net", "/tax"],
            "equals": "/total",
            "tolerance": "0.01",
            "message": {"en": "net and tax do not add up to the total", "zh": "净额加税额不等于合计"},
        }
    ],
    "properties": {
        "date": {
            "type": ["string", "null"],
            "x-label": {"en": "Date", "zh": "日期"},
            "x-value-type": "date",
            "x-keywords": ["date"],
            "x-keywords-against": ["due"],
        },
        "net": {**_AMOUNT, "x-label": {"en": "Net", "zh": "净额"}, "x-keywords": ["net"]},
        "tax": {**_AMOUNT, "x-label": {"en": "Tax", "zh": "税额"}, "x-keywords": ["tax"]},
        "total": {
            **_AMOUNT,
            "x-label": {"en": "Total", "zh": "合计"},
            "x-keywords": ["total"],
            "x-keywords-against": ["cash", "back"],
        },
        "company": {"type": ["string", "null"], "x-label": {"en": "Company", "zh": "商家"}, "x-value-type": "name"},
    },
}


def reader_version(weights: Path) -> VlmSpec:
    """Return the version of the reader whose weights lie in a folder; only this machine's folder name is left out."""
    return VlmSpec.from_json(
        {
            "kind": "vllm_server",
            "served_model_name": "tiny-ocr",
            "weights_folder": "/weights/slip-reader",
            "weights_sha256": manifest_of(weights),
            "prompt_version": PROMPT,
            "chat_template_sha256": "",
            "vllm_version": "0.32.0",
            "imaging": {
                "long_side": IMAGING.long_side,
                "max_pixels": IMAGING.max_pixels,
                "second_long_side": IMAGING.second_long_side,
                "is_cropped": IMAGING.is_cropped,
            },
            "decoding": {"top_logprobs": TOP_LOGPROBS, "max_tokens": 200},
        }
    )


def asked(words: Sequence[Word]) -> PageRequest:
    """Return the request for a slip on which the OCR reader found these words."""
    return PageRequest(parse_document_type(SCHEMA), SCHEMA, words=tuple(words))
