"""The command line that serves a version on vLLM, built from the version alone: every flag is explicit (R2).

The server is started as a module, not as `vllm serve`: the same server, and the one that vLLM's CPU package has too.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.types import VlmSpec, VlmSpecError
from inference.types.vlm_problems import TIED_PREFIX

MODULE = "vllm.entrypoints.openai.api_server"

# What a version is given unless it says otherwise. Prompts share no prefix worth a cache, for the image comes first,
# and a cache of images has mixed two up before (vllm #20261): both caches are off.
DEFAULT_FLAGS: Mapping[str, Any] = {
    "dtype": "bfloat16",
    "max-model-len": 8192,
    "gpu-memory-utilization": 0.85,
    "max-num-seqs": 16,
    "limit-mm-per-prompt": {"image": 1},
    "structured-outputs-config": {"backend": "xgrammar", "disable_any_whitespace": True},
    "enable-prefix-caching": False,
    "mm-processor-cache-gb": 0,
}
# Left to vLLM's defaults, these would change answers or capacity with every release of it.
REQUIRED_FLAGS = (
    "dtype",
    "max-model-len",
    "gpu-memory-utilization",
    "max-num-seqs",
    "limit-mm-per-prompt",
    "structured-outputs-config",
)
# Flag -> where it comes from instead.
RESERVED_FLAGS: Mapping[str, str] = {
    "model": "weights_folder",
    "served-model-name": "served_model_name",
    "host": "the command that serves",
    "port": "the command that serves",
    "api-key": "the environment",
    "trust-remote-code": "is_remote_code_trusted",
    "quantization": "quantisation",
}
# They write what documents say into the server's log.
TELLING_FLAGS = ("enable-log-requests", "enable-log-outputs")
# Nothing is fetched and nothing is told to anybody at run time. A version may add to it, not take away.
ENVIRONMENT: Mapping[str, str] = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """A program with its arguments, and what is added to the environment it inherits."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    def shell_line(self) -> str:
        """Return the command as it can be pasted into a shell."""
        assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(self.environment.items())]
        return " ".join([*assignments, shlex.join(self.arguments)])


def server_command(spec: VlmSpec, *, python: str, host: str, port: int) -> ServerCommand:
    """Return how to serve `spec` with the vLLM of the interpreter `python`.

    What the version reads with is served under its tied name: its weights beside their own name, its adapter instead
    of it, for a server has room for as many adapters as its flags say. Raise VlmSpecError with every flag that is
    missing, set elsewhere or not understood.
    """
    problems = list(_problems(spec))
    if problems:
        raise VlmSpecError(problems)
    folder = Path(spec.weights_folder)
    arguments = [python, "-m", MODULE, "--model", str(folder), "--served-model-name", spec.served_model_name]
    if not spec.adapter:
        arguments.append(spec.tied_name)
    arguments += ["--host", host, "--port", str(port)]
    if spec.is_remote_code_trusted:
        arguments.append("--trust-remote-code")
    if spec.quantisation:
        arguments += ["--quantization", spec.quantisation]
    for name, value in sorted(spec.server_flags.items()):
        if name != "lora-modules":
            arguments += _rendered(name, value)
    arguments += _adapters(spec, folder)
    return ServerCommand(tuple(arguments), {**spec.server_environment, **ENVIRONMENT})


def _adapters(spec: VlmSpec, folder: Path) -> list[str]:
    modules = spec.server_flags.get("lora-modules", {})
    served = {spec.tied_name if name == spec.adapter else name: folder / path for name, path in modules.items()}
    if spec.adapter_folder:
        served[spec.tied_name] = Path(spec.adapter_folder)
    return ["--lora-modules", *(f"{name}={path}" for name, path in sorted(served.items()))] if served else []


def _rendered(name: str, value: object) -> list[str]:
    match value:
        case True:
            return [f"--{name}"]
        case False:
            return [f"--no-{name}"]
        case Mapping():
            return [f"--{name}", json.dumps(value, sort_keys=True, separators=(",", ":"))]
        case list():
            return [f"--{name}", *(str(one) for one in value)]
        case _:
            return [f"--{name}", str(value)]


def _problems(spec: VlmSpec) -> Iterator[tuple[str, str]]:
    flags = spec.server_flags
    if not Path(spec.weights_folder).is_absolute():
        yield "/weights_folder", "must be an absolute path"
    for name in REQUIRED_FLAGS:
        if name not in flags:
            yield f"/server_flags/{name}", "is required: a server's flags stand in its version"
    for name, value in flags.items():
        at = f"/server_flags/{name}"
        if name in RESERVED_FLAGS:
            yield at, f"cannot stand here; it comes from {RESERVED_FLAGS[name]}"
        elif name.startswith("-") or "_" in name or not name:
            yield at, "must be written as vLLM's long flag without dashes in front, such as max-model-len"
        elif name in TELLING_FLAGS and value is not False:
            yield at, "cannot be set: it writes text of documents into the log"
        elif value is None:
            yield at, "must have a value; leave the flag out instead"
    yield from _adapter_problems(spec)


def _adapter_problems(spec: VlmSpec) -> Iterator[tuple[str, str]]:
    modules = spec.server_flags.get("lora-modules", {})
    if not isinstance(modules, Mapping):
        yield "/server_flags/lora-modules", "must map each adapter's name to its folder within the weights folder"
        return
    for name, path in modules.items():
        if name.startswith(TIED_PREFIX):
            yield f"/server_flags/lora-modules/{name}", f"cannot begin with {TIED_PREFIX}: a version is served so"
        if not any(file.startswith(f"{path}/") for file in spec.weights_sha256):
            yield f"/server_flags/lora-modules/{name}", "must name a folder whose files are in weights_sha256"
    if spec.adapter_folder:
        yield from _own_folder_problems(spec, modules)
    elif spec.adapter and (spec.adapter not in modules or spec.server_flags.get("enable-lora") is not True):
        yield "/adapter", "needs the flags enable-lora and lora-modules with this name"


def _own_folder_problems(spec: VlmSpec, modules: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not Path(spec.adapter_folder).is_absolute():
        yield "/adapter_folder", "must be an absolute path"
    if not spec.adapter or spec.adapter in modules:
        yield "/adapter", "must name the adapter of adapter_folder, and none of lora-modules"
    if spec.server_flags.get("enable-lora") is not True:
        yield "/adapter", "needs the flag enable-lora"
    if not spec.adapter_sha256:
        yield "/adapter_sha256", "must map each file of the adapter's folder to its SHA-256"
