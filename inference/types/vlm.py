"""A frozen version of a vision-language model: everything that may change one of its answers (R2, R3)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from inference.types.identity import engine_digest
from inference.types.vlm_problems import TIED_PREFIX, spec_problems

TIED_LETTERS = 16
"""So many letters of a version's digest stand in its tied name."""


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
    `words_by` names the OCR engine whose words the values are grounded in. `adapter` is a LoRA adapter's name: among
    the flags, or of the one in `adapter_folder`, whose files `adapter_sha256` maps to their checksums as those of the
    weights. `library_versions` are those of the libraries that run a model in this process ("torch": "2.13.0").
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
    library_versions: Mapping[str, str] = field(default_factory=dict)
    adapter_folder: str = ""
    adapter_sha256: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data; `from_json` is its inverse."""
        data = {**asdict(self), "engine": self.kind}
        for name in ("library_versions", "adapter_folder", "adapter_sha256"):
            if not data[name]:
                # As it was before there was such a key: what was declared then keeps its digest.
                del data[name]
        return data

    @property
    def digest(self) -> str:
        """The digest that the version is stored under: over all of it, so that nothing can change and keep it."""
        return engine_digest(self.kind, self.as_json())

    @property
    def tied_name(self) -> str:
        """The name under which a server serves exactly this version: its weights, or its adapter where it has one.

        Whoever starts a server or loads an adapter for the version gives this name, and whoever asks the version asks
        for it. A server that was started otherwise, with whatever model of the same name, does not know it.
        """
        return f"{TIED_PREFIX}{self.digest[:TIED_LETTERS]}"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "VlmSpec":
        """Build a specification from JSON data, strictly. Raise VlmSpecError with every problem found."""
        values = {name: value for name, value in data.items() if name != "engine"}
        problems = spec_problems(values)
        if problems:
            raise VlmSpecError(problems)
        values["imaging"] = ImagingProfile(**values.get("imaging", {}))
        values["decoding"] = Decoding(**values.get("decoding", {}))
        if values["imaging"].second_long_side == values["imaging"].long_side:
            message = "must differ from long_side, or the vote is one image's with itself; 0 for no second reading"
            raise VlmSpecError([("/imaging/second_long_side", message)])
        return cls(**values)
