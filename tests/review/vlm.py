"""A language model for tests: its specification, its version, and a project that reads with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.types import VlmSpec
from review.actions.engines import declare_engine_version
from review.models import EngineVersion, Project
from review.selectors.access import SYSTEM
from tests.review.scripted import WORDS

SPEC = VlmSpec(
    kind="vllm_server",
    served_model_name="tiny",
    weights_folder="/models/tiny",
    weights_sha256={"model.safetensors": "a" * 64},
    prompt_version="v1",
    chat_template_sha256="b" * 64,
    vllm_version="0.32.0",
    words_by="scripted",
)
"""A version as it would be declared in earnest; its words are read by the scripted engine."""

SCRIPTED = replace(SPEC, kind="scripted")
"""One whose answers are scripted too."""

VALUES: dict[str, Any] = {"company": "BOOK TA K SDN BHD", "date": "25/12/2018", "total": "9.00"}
"""What it answers in `answering`: true of `tests.review.scripted.WORDS`."""


def read_with_vlm(project: Project, spec: VlmSpec = SCRIPTED) -> EngineVersion:
    """Declare the specification and have the project read with it."""
    project.engine_version = declare_engine_version(actor=SYSTEM, spec=spec)
    project.save()
    return project.engine_version


def answering(values: Mapping[str, Any] = VALUES, **how: Any) -> dict[str, Any]:
    """Return a scripted page on which the OCR reader finds WORDS and the language model answers `values`."""
    return {"words": WORDS, "answer": {"values": dict(values), **how}}
