"""What makes an engine version the same version: one digest, wherever it is needed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def as_stored(version: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that may change an answer of an engine as the plain JSON data that is stored."""
    stored: dict[str, Any] = json.loads(json.dumps(dict(version), sort_keys=True, default=str))
    return stored


def engine_digest(name: str, version: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hex, under which the version of the engine `name` is stored."""
    text = json.dumps({"name": name, "version": dict(version)}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
