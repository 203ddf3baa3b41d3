"""Versions for tests of what serves them."""

from dataclasses import replace
from typing import Any

from inference.serving.vllm_command import DEFAULT_FLAGS
from inference.types import ImagingProfile, VlmSpec

SPEC = VlmSpec(
    kind="vllm_server",
    served_model_name="tiny-ocr",
    weights_folder="/srv/weights/tiny",
    weights_sha256={"model.safetensors": "a" * 64, "adapters/ad1/adapter_model.safetensors": "b" * 64},
    prompt_version="v1",
    chat_template_sha256="c" * 64,
    vllm_version="0.32.0",
    server_flags=DEFAULT_FLAGS,
)

# Small pages, where what is claimed does not hang on their size.
SMALL = replace(SPEC, imaging=ImagingProfile(max_pixels=250_000))


def with_flags(**flags: Any) -> VlmSpec:
    """SPEC with flags added; underscores stand for dashes."""
    return replace(
        SPEC, server_flags={**DEFAULT_FLAGS, **{key.replace("_", "-"): value for key, value in flags.items()}}
    )
