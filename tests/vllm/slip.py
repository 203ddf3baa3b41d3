"""A slip that tiny models are taught, and what a server then answers when it is asked for it."""

from pathlib import Path
from typing import Any

import httpx

from inference.imaging.pages import decode_page
from inference.serving.dialogue import Asking
from inference.serving.page_images import prepare_page
from inference.serving.prompts import load_prompt
from inference.serving.wire import request_body
from inference.types import PageRequest, VlmSpec, parse_document_type

SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "slip",
    "x-label": {"en": "Slip", "zh": "小票"},
    "properties": {"total": {"type": ["string", "null"], "x-label": {"en": "Total", "zh": "合计"}}},
}


def ask(url: str, spec: VlmSpec, export: Path, *, model: str) -> dict[str, Any]:
    """Ask a model of a server what the engine of that version would ask of a page that was trained on."""
    page = decode_page((export / "train" / "00000001-001.jpg").read_bytes(), 1)
    asking = Asking(spec, load_prompt(spec.prompt_version), page, PageRequest(parse_document_type(SCHEMA), SCHEMA))
    question = asking.question(prepare_page(page, spec.imaging), is_constrained=False)
    response = httpx.post(
        f"{url}/v1/chat/completions",
        content=request_body(question, spec, model=model),
        headers={"Content-Type": "application/json"},
        timeout=120,
    )
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def first_token(answer: dict[str, Any]) -> dict[str, float]:
    """The chances of what the first token of an answer might have been."""
    [choice] = answer["choices"]
    return {one["token"]: one["logprob"] for one in choice["logprobs"]["content"][0]["top_logprobs"]}
