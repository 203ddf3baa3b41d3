"""What is wrong with a declared version of a language model: each problem at its place, each message exact."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SHA256 = re.compile(r"[0-9a-f]{64}")
KINDS = ("vllm_server", "vllm_offline", "transformers_local", "scripted")
"""The engines that a version may be of; the last one answers from a script, for tests and drills."""

TIED_PREFIX = "stet-"
"""So begin the names that servers give to versions; no declared name does."""

Problems = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Range:
    """The numbers that a key may have, both ends included."""

    least: int
    most: int
    is_whole: bool = True
    is_off_at_0: bool = False

    def _allows(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        # NaN is within no bounds.
        return self.least <= value <= self.most or (self.is_off_at_0 and value == 0)

    def problems(self, value: object) -> Problems:
        if self._allows(value):
            return
        word = "a whole number" if self.is_whole else "a number"
        yield "", f"must be {'0, or ' if self.is_off_at_0 else ''}{word} from {self.least} to {self.most}"


# A page of fewer pixels shows nothing; one of more than the ceiling is refused where it is opened.
_LONG_SIDE = (64, 20_000)
_IMAGING: Mapping[str, _Range | None] = {
    "long_side": _Range(*_LONG_SIDE),
    "max_pixels": _Range(64 * 64, 400_000_000),
    "jpeg_quality": _Range(1, 100),
    "second_long_side": _Range(*_LONG_SIDE, is_off_at_0=True),
    "is_cropped": None,
}
_DECODING: Mapping[str, _Range | None] = {
    "temperature": _Range(0, 2, is_whole=False),
    "seed": _Range(0, 2**63 - 1),
    # vLLM's bound, unless a server is told otherwise.
    "top_logprobs": _Range(0, 20),
    "max_tokens": _Range(1, 1_000_000),
    "is_constrained": None,
}


def _one_of(value: object) -> Problems:
    if value not in KINDS:
        yield "", f"must be one of {', '.join(KINDS)}"


def _words(value: object) -> Problems:
    if not (isinstance(value, str) and value.strip()):
        yield "", "must be a text that is not empty"


def _text(value: object) -> Problems:
    if not isinstance(value, str):
        yield "", "must be a text"


def _own_name(value: object) -> Problems:
    yield from _words(value)
    if isinstance(value, str) and value.startswith(TIED_PREFIX):
        yield "", f"cannot begin with {TIED_PREFIX}: such names say which version a server serves"


def _switch(value: object) -> Problems:
    if not isinstance(value, bool):
        yield "", "must be true or false"


def _checksum(value: object) -> Problems:
    if value != "" and not (isinstance(value, str) and SHA256.fullmatch(value)):
        yield "", "must be 64 hexadecimal digits, or empty where there is none"


def _manifest(value: object) -> Problems:
    if not isinstance(value, Mapping) or not value:
        yield "", "must map each file of the weights folder to its SHA-256"
        return
    for name, digest in value.items():
        if not (isinstance(digest, str) and SHA256.fullmatch(digest)):
            yield f"/{name}", "must be 64 hexadecimal digits"


def _adapter_manifest(value: object) -> Problems:
    if value != {}:
        yield from ((at, message.replace("weights", "adapter")) for at, message in _manifest(value))


def _object(value: object) -> Problems:
    if not isinstance(value, Mapping):
        yield "", "must be an object"


def _texts(value: object) -> Problems:
    yield from _object(value)
    for name, text in value.items() if isinstance(value, Mapping) else ():
        if not isinstance(text, str):
            yield f"/{name}", "must be a text"


def _numbers(ranges: Mapping[str, _Range | None]) -> Callable[[object], Problems]:
    """Return a check of an object whose keys have these ranges; None stands for true or false."""

    def check(value: object) -> Problems:
        yield from _object(value)
        for name, given in value.items() if isinstance(value, Mapping) else ():
            if name not in ranges:
                yield f"/{name}", "is not a known key"
                continue
            bounds = ranges[name]
            found = _switch(given) if bounds is None else bounds.problems(given)
            yield from ((f"/{name}", message) for _, message in found)

    return check


CHECKS: Mapping[str, Callable[[object], Problems]] = {
    "kind": _one_of,
    "served_model_name": _own_name,
    "weights_folder": _text,
    "weights_sha256": _manifest,
    "prompt_version": _words,
    "chat_template_sha256": _checksum,
    "vllm_version": _words,
    "imaging": _numbers(_IMAGING),
    "decoding": _numbers(_DECODING),
    "server_flags": _object,
    "server_environment": _texts,
    "words_by": _words,
    "adapter": _text,
    "is_remote_code_trusted": _switch,
    "quantisation": _text,
    "library_versions": _texts,
    "adapter_folder": _text,
    "adapter_sha256": _adapter_manifest,
}
REQUIRED = (
    "kind", "served_model_name", "weights_folder", "weights_sha256", "prompt_version", "chat_template_sha256",
    "vllm_version",
)  # fmt: skip


def spec_problems(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (JSON Pointer, message) for everything in `data` that no version can have."""
    problems = [(f"/{name}", "is not a known key") for name in data if name not in CHECKS]
    problems += [(f"/{name}", "is required") for name in REQUIRED if name not in data]
    for name, check in CHECKS.items():
        if name in data:
            problems += [(f"/{name}{at}", message) for at, message in check(data[name])]
    return problems
