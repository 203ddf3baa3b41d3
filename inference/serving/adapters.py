"""A LoRA adapter as part of a version, and into a server that runs (`/v1/load_lora_adapter`)."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from inference.errors import EngineUnavailableError
from inference.serving.health import refuse_other, served_by
from inference.serving.weights import manifest_of, verify_weights
from inference.types import VlmSpec

RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM takes as `max-lora-rank`, but for 1."""

RUNTIME_VARIABLE = "VLLM_ALLOW_RUNTIME_LORA_UPDATING"
LOAD_SECONDS = 120.0


def with_adapter(spec: VlmSpec, folder: Path, *, rank: int) -> VlmSpec:
    """Return the version that reads with the adapter in `folder` on the weights of `spec`, its files pinned.

    An adapter that `spec` reads with is replaced, not added to. Flags are added as far as they are needed to serve a
    rank so high. Raise WeightsError where there is no such folder.
    """
    flags: dict[str, Any] = {**spec.server_flags, "enable-lora": True}
    if int(flags.get("max-lora-rank", 16)) < rank or "max-lora-rank" not in flags:
        flags["max-lora-rank"] = next(allowed for allowed in RANKS if allowed >= rank)
    modules: Mapping[str, str] = flags.get("lora-modules", {})
    name = folder.name if folder.name not in modules else f"{folder.name}-tuned"
    return replace(
        spec,
        adapter=name,
        adapter_folder=str(folder.resolve()),
        adapter_sha256=manifest_of(folder),
        server_flags=flags,
    )


def with_merged_weights(spec: VlmSpec, folder: Path) -> VlmSpec:
    """Return the version that reads with the weights in `folder`, its files pinned, and without an adapter.

    For what vLLM loads no adapter for. Raise WeightsError where there is no such folder.
    """
    return replace(
        spec,
        weights_folder=str(folder.resolve()),
        weights_sha256=manifest_of(folder),
        adapter="",
        adapter_folder="",
        adapter_sha256={},
    )


def differs_by_adapter_alone(spec: VlmSpec, other: VlmSpec) -> bool:
    """Whether a server that was started for `other` serves `spec` too once it has loaded its adapter."""
    adapter = {name: getattr(other, name) for name in ("adapter", "adapter_folder", "adapter_sha256")}
    return bool(spec.adapter_folder) and replace(spec, **adapter) == other


def load_adapter(client: httpx.Client, spec: VlmSpec, *, started_for: VlmSpec) -> None:
    """Have a server that was started for another version serve `spec` beside it, under its tied name.

    The files are checked first. Raise WeightsError where they are not the version's, VersionNotServedError where the
    server is not the one of `started_for`, EngineUnavailableError where it cannot or may not load.
    """
    verify_weights(Path(spec.adapter_folder), spec.adapter_sha256)
    served = served_by(client)
    if spec.tied_name in served.max_model_lens:
        return
    refuse_other(served, started_for)
    asked = {"lora_name": spec.tied_name, "lora_path": spec.adapter_folder}
    try:
        response = client.post("/v1/load_lora_adapter", json=asked, timeout=LOAD_SECONDS)
    except httpx.TransportError as broken:
        raise EngineUnavailableError(f"the server cannot be reached: {type(broken).__name__}") from None
    if response.status_code == httpx.codes.NOT_FOUND and not _is_vllm_error(response):
        raise EngineUnavailableError(
            f"the server loads no adapters while it runs: set {RUNTIME_VARIABLE}=True in server_environment, "
            "or start it again for the new version"
        )
    if not response.is_success:
        # The adapter's folder may be on this machine and not on the server's.
        raise EngineUnavailableError(
            f"the server does not load the adapter ({response.status_code}): see its log, and whether it sees "
            f"{spec.adapter_folder}"
        )


def _is_vllm_error(response: httpx.Response) -> bool:
    """Whether vLLM itself answered; where it has no such path, the answer is the framework's."""
    try:
        data = response.json()
    except ValueError:
        return False
    return isinstance(data, Mapping) and "error" in data
