"""Recorded exchanges with a real vLLM server: how they are written down and read again."""

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent / "recordings"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response. In `request` images are told by size and checksum only; None for a GET."""

    path: str
    request: Any
    status: int
    response: Any

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "request": self.request, "status": self.status, "response": self.response}


def without_images(value: Any) -> Any:
    """Replace each image's data: its bytes differ between releases of the encoder, the question does not."""
    if isinstance(value, dict):
        return {key: without_images(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_images(inner) for inner in value]
    if isinstance(value, str) and value.startswith("data:image/"):
        kind, _, data = value.partition(";base64,")
        return f"{kind}; sha256 {hashlib.sha256(base64.b64decode(data)).hexdigest()}"
    return value


def is_same_question(one: Any, other: Any) -> bool:
    """Whether two requests (images replaced) ask the same but for the images' bytes."""
    return bool(_blind(one) == _blind(other))


def _blind(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _blind(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_blind(inner) for inner in value]
    return value.partition("; sha256 ")[0] if isinstance(value, str) and value.startswith("data:image/") else value


def keep(name: str, exchanges: list[Exchange]) -> Path:
    """Write a recording."""
    path = RECORDINGS / f"{name}.json"
    data = [exchange.as_json() for exchange in exchanges]
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def recorded(name: str) -> list[Exchange]:
    """Read a recording."""
    return [Exchange(**one) for one in json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))]
