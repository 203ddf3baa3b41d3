"""A frozen version of a vision-language model: everything that may change one of its answers (R2, R3)."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

SHA256 = re.compile(r"[0-9a-f]{64}")
KINDS = ("vllm_server", "vllm_offline", "transformers_local", "scripted")
"""The engines that a version may be of; the last one answers from a script, for tests and drills."""


class VlmSpecError(ValueError):
    """A specification that cannot be used. `problems` lists (JSON Pointer, message) pairs, each exact."""

    code = "invalid_engine_version"

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{pointer or '/'}: {message}" for pointer, message in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ImagingProfile:
    """How a page is prepared for the model: long side in pixels, JPEG quality; `max_pixels` is the pixel budget.

    `long_side` is that of a page of office paper; a narrower page may be longer, with as many pixels in all.
    `second_long_side` is the other scale of the vote for types marked high value (R7); 0 means that there is none.
    `is_cropped`: empty margins and black borders go first (S2).
    """

    long_side: int = 1440
    max_pixels: int = 1_600_000
    jpeg_quality: int = 92
    second_long_side: int = 1120
    is_cropped: bool = True


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the answer is generated. `max_tokens` is an upper bound; the document type's output limit may be lower."""

    temperature: float = 0.0
    seed: int = 0
    top_logprobs: int = 5
    max_tokens: int = 4096
    is_constrained: bool = True


@dataclass(frozen=True, slots=True)
class VlmSpec:
    """What is stored as `EngineVersion.spec`. Changing anything makes another version.

    `kind` is the engine that runs it. `weights_folder` is where the weights lie on the machine that serves them,
    `weights_sha256` maps each file in it (POSIX path relative to the folder) to its checksum. `server_flags` are
    vLLM's flags by their long names without dashes ("max-model-len": 8192); `server_environment` goes with them.
    `words_by` names the OCR engine whose words the values are grounded in. `adapter` is a LoRA adapter's served name.
    """

    kind: str
    served_model_name: str
    weights_folder: str
    weights_sha256: Mapping[str, str]
    prompt_version: str
    chat_template_sha256: str
    vllm_version: str
    imaging: ImagingProfile = ImagingProfile()
    decoding: Decoding = Decoding()
    server_flags: Mapping[str, Any] = field(default_factory=dict)
    server_environment: Mapping[str, str] = field(default_factory=dict)
    words_by: str = "rapidocr"
    adapter: str = ""
    is_remote_code_trusted: bool = False
    quantisation: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data; `from_json` is its inverse."""
        return {**asdict(self), "engine": self.kind}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "VlmSpec":
        """Build a specification from JSON data, strictly. Raise VlmSpecError with every problem found."""
        values = {name: value for name, value in data.items() if name != "engine"}
        problems = _problems(values)
        if problems:
            raise VlmSpecError(problems)
        if "imaging" in values:
            values["imaging"] = ImagingProfile(**values["imaging"])
        if "decoding" in values:
            values["decoding"] = Decoding(**values["decoding"])
        return cls(**values)


_NESTED: Mapping[str, type[ImagingProfile | Decoding]] = {"imaging": ImagingProfile, "decoding": Decoding}
_REQUIRED = (
    "kind", "served_model_name", "weights_folder", "weights_sha256", "prompt_version", "chat_template_sha256",
    "vllm_version",
)  # fmt: skip


def _problems(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    known = {one.name for one in fields(VlmSpec)}
    problems = [(f"/{name}", "is not a known key") for name in data if name not in known]
    problems += [(f"/{name}", "is required") for name in _REQUIRED if name not in data]
    if "kind" in data and data["kind"] not in KINDS:
        problems.append(("/kind", f"must be one of {', '.join(KINDS)}"))
    for name in ("served_model_name", "prompt_version", "vllm_version"):
        if name in data and not (isinstance(data[name], str) and data[name].strip()):
            problems.append((f"/{name}", "must be a text that is not empty"))
    if "weights_sha256" in data:
        problems += _manifest_problems(data["weights_sha256"])
    for name, kind in _NESTED.items():
        if name in data:
            problems += _nested_problems(name, kind, data[name])
    return problems


def _manifest_problems(manifest: object) -> list[tuple[str, str]]:
    if not isinstance(manifest, Mapping) or not manifest:
        return [("/weights_sha256", "must map each file of the weights folder to its SHA-256")]
    wrong = [name for name, digest in manifest.items() if not (isinstance(digest, str) and SHA256.fullmatch(digest))]
    return [(f"/weights_sha256/{name}", "must be 64 hexadecimal digits") for name in wrong]


def _nested_problems(name: str, kind: type, data: object) -> list[tuple[str, str]]:
    if not isinstance(data, Mapping):
        return [(f"/{name}", "must be an object")]
    known = {one.name: one.type for one in fields(kind)}
    problems = [(f"/{name}/{key}", "is not a known key") for key in data if key not in known]
    for key, value in data.items():
        is_flag = known.get(key) in (bool, "bool")
        if key in known and (isinstance(value, bool) != is_flag or not isinstance(value, int | float) or value < 0):
            problems.append((f"/{name}/{key}", "must be true or false" if is_flag else "must be a number from 0"))
    return problems
