"""A version before it is frozen: what was given, completed from the weights folder and the defaults, and checked."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inference.errors import EngineUnavailableError
from inference.serving.libraries import installed, libraries_for
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
    problems += _complete_libraries(data)
    try:
        spec = VlmSpec.from_json(data)
    except VlmSpecError as wrong:
        raise VlmSpecError([*problems, *wrong.problems]) from None
    if problems:
        raise VlmSpecError(problems)
    _refuse_unusable(spec)
    return spec


def _complete_libraries(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Write the versions of what runs the model in this process into `data`, as far as they are installed here."""
    quantisation, given = data.get("quantisation", ""), data.get("library_versions", {})
    if data["kind"] != "transformers_local" or not isinstance(quantisation, str) or not isinstance(given, Mapping):
        return
    needed = libraries_for(quantisation)
    data["library_versions"] = {**installed(needed), **given}
    for name in needed:
        if name not in data["library_versions"]:
            yield f"/library_versions/{name}", "must be given, or the version declared where the library is installed"


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
