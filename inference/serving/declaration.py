"""A version before it is frozen: what was given, completed from the weights folder and the defaults, and checked."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inference.errors import EngineUnavailableError
from inference.serving.prompts import load_prompt
from inference.serving.vllm_command import DEFAULT_FLAGS, server_command
from inference.serving.weights import chat_template_sha256, manifest_of
from inference.types import Decoding, ImagingProfile, VlmSpec, VlmSpecError

DEFAULT_PROMPT = "v1"
_ON_VLLM = ("vllm_server", "vllm_offline")


def completed(given: Mapping[str, Any], weights: Path | None = None) -> VlmSpec:
    """Return the specification that `given` asks for, its defaults written out so that they are frozen with it.

    `weights` is the folder to compute checksums and the chat template's hash of; what was given for these must then
    agree. Raise VlmSpecError with every problem found, WeightsError where the folder cannot be used.
    """
    data = {"kind": "vllm_server", "prompt_version": DEFAULT_PROMPT, **given}
    problems: list[tuple[str, str]] = []
    if weights is not None:
        found = _of_weights(weights.resolve())
        # What a version says of its weights is a fact of the folder: a wish to the contrary is a mistake.
        problems = [
            (f"/{name}", "is not what the folder has") for name in found if data.get(name, found[name]) != found[name]
        ]
        data = {"served_model_name": weights.resolve().name, **data, **found}
    for name, defaults in (("imaging", asdict(ImagingProfile())), ("decoding", asdict(Decoding()))):
        if isinstance(data.get(name, {}), Mapping):
            data[name] = defaults | data.get(name, {})
    if data["kind"] in _ON_VLLM and isinstance(data.get("server_flags", {}), Mapping):
        data["server_flags"] = {**DEFAULT_FLAGS, **data.get("server_flags", {})}
    problems += _form_problems(data)
    if problems:
        raise VlmSpecError(problems)
    spec = VlmSpec.from_json(data)
    _refuse_unusable(spec)
    return spec


def _form_problems(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("server_flags", "server_environment"):
        if not isinstance(data.get(name, {}), Mapping):
            yield f"/{name}", "must be an object"
    environment = data.get("server_environment", {})
    if isinstance(environment, Mapping):
        for name, value in environment.items():
            if not isinstance(value, str):
                yield f"/server_environment/{name}", "must be a text"
    if not isinstance(data.get("weights_folder", ""), str):
        yield "/weights_folder", "must be a text"


def _of_weights(folder: Path) -> dict[str, Any]:
    return {
        "weights_folder": str(folder),
        "weights_sha256": manifest_of(folder),
        "chat_template_sha256": chat_template_sha256(folder),
    }


def _refuse_unusable(spec: VlmSpec) -> None:
    try:
        load_prompt(spec.prompt_version)
    except EngineUnavailableError as unknown:
        raise VlmSpecError([("/prompt_version", str(unknown))]) from None
    if spec.kind in _ON_VLLM:
        server_command(spec, python="python", host="127.0.0.1", port=1)
