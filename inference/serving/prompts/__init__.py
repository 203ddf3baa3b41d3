"""The prompts, one file a version: short, fixed, never edited, only added (R3)."""

import functools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Any

import msgspec

from inference.answers.schema import constrained
from inference.errors import EngineUnavailableError
from inference.serving.page_images import PreparedImage
from inference.serving.questions import Turn
from inference.types import Example

PARTS = ("task", "schema", "example", "image", "again")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version: the order of its parts, and the text of each but the image."""

    version: str
    order: tuple[str, ...]
    texts: Mapping[str, str]


def prompt_versions() -> tuple[str, ...]:
    """Return the versions that exist, oldest first."""
    names = [entry.name.removesuffix(".toml") for entry in resources.files(__name__).iterdir()]
    return tuple(sorted((name for name in names if name[1:].isdigit()), key=lambda name: int(name[1:])))


@functools.cache
def load_prompt(version: str) -> Prompt:
    """Return a version of the prompt; raise EngineUnavailableError for one that does not exist."""
    if version not in prompt_versions():
        raise EngineUnavailableError(f"no prompt version {version!r}; there are: {', '.join(prompt_versions())}")
    data = tomllib.loads(resources.files(__name__).joinpath(f"{version}.toml").read_text(encoding="utf-8"))
    order = tuple(data.pop("order"))
    if sorted(order) != sorted(PARTS) or set(data) != set(PARTS) - {"image"}:
        raise ValueError(f"prompt {version} must order and word exactly these parts: {', '.join(PARTS)}")
    return Prompt(version, order, data)


def turns_for(
    prompt: Prompt,
    schema: Mapping[str, Any],
    image: PreparedImage,
    *,
    examples: Sequence[tuple[Example, PreparedImage | None]] = (),
    message: str = "",
) -> tuple[Turn, ...]:
    """Return what the model is told about one page.

    Nothing of the page stands in the text: it reaches the model as an image alone. An example with an image is shown
    as a question of the same form and its answer; one without (servers that take one image a prompt) as text.
    `message` says what was wrong with the answer before, or nothing.
    """
    shown = [(example, picture) for example, picture in examples if picture is not None]
    told = [example for example, picture in examples if picture is None]
    turns: list[Turn] = []
    for example, picture in shown:
        turns.append(Turn("user", _parts(prompt, schema, picture)))
        turns.append(Turn("assistant", (compact_json(example.values),)))
    turns.append(Turn("user", _parts(prompt, schema, image, told=told, message=message)))
    return tuple(turns)


def _parts(
    prompt: Prompt,
    schema: Mapping[str, Any],
    image: PreparedImage,
    *,
    told: Sequence[Example] = (),
    message: str = "",
) -> tuple[str | PreparedImage, ...]:
    """Put the parts in the prompt's order; texts that stand beside each other become one."""
    given: dict[str, list[dict[str, str]]] = {
        "task": [{}],
        "schema": [_schema_texts(msgspec.json.encode(schema))],
        "example": [{"example": compact_json(example.values)} for example in told],
        "again": [{"message": message}] if message else [],
    }
    parts: list[str | PreparedImage] = []
    for name in prompt.order:
        if name == "image":
            parts.append(image)
            continue
        for values in given[name]:
            text = Template(prompt.texts[name]).substitute(values)
            if parts and isinstance(parts[-1], str):
                parts[-1] = f"{parts[-1].rstrip()}\n{text.strip()}"
            else:
                parts.append(text.strip())
    return tuple(parts)


@functools.lru_cache(maxsize=64)
def _schema_texts(schema: bytes) -> dict[str, str]:
    """Return what a schema, given as JSON, is told as: for one type of document it is the same page after page."""
    node = json.loads(schema)
    return {"schema": compact_json(described(node)), "form": compact_json(form(node))}


def described(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema that binds the answer, with the document type's labels as descriptions."""
    described_schema = constrained(schema)
    _describe(described_schema, schema)
    return described_schema


def _describe(target: dict[str, Any], source: Mapping[str, Any]) -> None:
    if label := " / ".join(dict.fromkeys(source.get("x-label", {}).values())):
        target["description"] = label
    for name, child in source.get("properties", {}).items():
        _describe(target["properties"][name], child)
    if isinstance(source.get("items"), Mapping):
        _describe(target["items"], source["items"])


def form(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return an empty answer: "" for each single value, one empty row for each repeated group."""
    if "properties" in schema:
        return {name: form(child) for name, child in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        return [form(schema["items"])]
    return ""


def compact_json(value: object) -> str:
    """Return JSON without white space, in the characters of its language."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
