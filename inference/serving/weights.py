"""A weights folder, frozen: the SHA-256 of every file, checked before a server starts with it (R2).

Weights are local and pinned. A file that is missing, has changed or was added would make another model of it, so each
of the three is refused.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from inference.errors import InferenceError

# What tools leave behind in a folder (`.cache`, `.git`, `__pycache__`): no server reads it.
_LEFT_BY_TOOLS = "__pycache__"


class WeightsError(InferenceError):
    """The weights on this machine are not those of the version. `problems` lists (file, what is wrong with it)."""

    code = "weights_differ"

    def __init__(self, folder: Path, problems: list[tuple[str, str]]) -> None:
        super().__init__(f"{folder}: " + "; ".join(f"{name} {what}" if name else what for name, what in problems))
        self.problems = problems


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield (POSIX path relative to the folder, path), sorted by the first."""
    if not folder.is_dir():
        raise WeightsError(folder, [("", "is no folder on this machine")])
    for path in sorted(folder.rglob("*"), key=lambda found: found.relative_to(folder).as_posix()):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") or part == _LEFT_BY_TOOLS for part in parts):
            yield "/".join(parts), path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256, in hex, of every file in `folder` by its POSIX path relative to it.

    Links to files are followed (download caches are made of them); hidden files do not count. Raise WeightsError where
    there is no such folder or nothing in it.
    """
    manifest = {name: _sha256(path) for name, path in _files(folder)}
    if not manifest:
        raise WeightsError(folder, [("", "holds no files")])
    return manifest


def verify_weights(folder: Path, manifest: Mapping[str, str]) -> None:
    """Return when the folder holds the files of the manifest, byte for byte, and no other.

    Raise WeightsError with every file that differs. What is missing or too many is told without reading gigabytes.
    """
    present = dict(_files(folder))
    problems = [(name, "is missing") for name in sorted(set(manifest) - set(present))]
    problems += [(name, "is not part of this version") for name in sorted(set(present) - set(manifest))]
    if not problems:
        problems = [(name, "has another checksum") for name, path in present.items() if _sha256(path) != manifest[name]]
    if problems:
        raise WeightsError(folder, problems)


def chat_template_sha256(folder: Path) -> str:
    """Return the SHA-256 of the folder's chat template as text, "" where it has none.

    The template is looked for where transformers looks: `chat_template.jinja`, `chat_template.json`, then the
    tokenizer's configuration.
    """
    file = folder / "chat_template.jinja"
    template = file.read_text(encoding="utf-8") if file.is_file() else ""
    for name in ("chat_template.json", "tokenizer_config.json"):
        path = folder / name
        if not template and path.is_file():
            template = _as_text(json.loads(path.read_text(encoding="utf-8")).get("chat_template", ""))
    return hashlib.sha256(template.encode()).hexdigest() if template else ""


def _as_text(template: object) -> str:
    # Several named templates stand as a list.
    return template if isinstance(template, str) else json.dumps(template, sort_keys=True, ensure_ascii=False)
