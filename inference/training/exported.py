"""A snapshot as its export in TRL's form says it: checked, and each page with its schema, its values, its picture."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from inference.serving.prompts import load_prompt, prompt_versions
from inference.training.answers import NotTeachableError, understood_strictly
from inference.training.errors import TrainingError
from inference.training.examples import TrainingExample, read_examples
from inference.training.questions import asked_of

MANIFEST, SUMS, DOCUMENTS = "manifest.json", "SHA256SUMS", "documents.jsonl"
NO_REGRESSION_SETS = "is_without_regression_sets"
UNSETTLED, KEPT = "everything", "kept"


@dataclass(frozen=True, slots=True)
class TaughtPage:
    """One page that people stand behind: its picture, the schema of its document type, its values as printed."""

    picture: Path
    schema: Mapping[str, Any]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Exported:
    """An export that may be trained on. `sha256` is that of its manifest, which freezes what the snapshot holds."""

    folder: Path
    manifest: Mapping[str, Any]
    sha256: str

    @classmethod
    def open(cls, folder: Path) -> "Exported":
        """Check the export in a folder; raise TrainingError for anything but a whole one, fit to learn from."""
        _check_sums(folder)
        data = (folder / MANIFEST).read_bytes()
        manifest = json.loads(data)
        if manifest.get(NO_REGRESSION_SETS) is not True:
            _refuse("the snapshot does not say that it is without regression sets: take a new one")
        if manifest.get("holding") == UNSETTLED:
            _refuse(
                "the snapshot holds values that nobody settled: take one that holds what people settled or reviewed"
            )
        if manifest.get("personal", KEPT) != KEPT:
            _refuse("personal fields are masked or left out of the snapshot: the model would learn to read none")
        return cls(folder, manifest, hashlib.sha256(data).hexdigest())

    def document_ids(self, split: str) -> list[int]:
        """Return the ids of the documents of one side, where the export was written."""
        lines = (self.folder / DOCUMENTS).read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return [int(row["document"]["id"]) for row in rows if row["split"] == split]

    def pages(self, split: str, left_out: dict[str, int]) -> Iterator[TaughtPage]:
        """Yield the pages of one side; count in `left_out`, by why, those that teach nothing.

        Raise TrainingError for a page that was asked otherwise than Stet asks.
        """
        schemas = self._schemas()
        for number, example in enumerate(read_examples(self.folder, split), start=1):
            schema = schemas.get(_key(example))
            if schema is None:
                _refuse(f"{split}, line {number}: was asked otherwise than Stet asks of this snapshot's document types")
            try:
                values = understood_strictly(example.answer, schema).values
            except NotTeachableError as why:
                left_out[str(why)] = left_out.get(str(why), 0) + 1
                continue
            yield TaughtPage(example.picture, schema, values)

    def _schemas(self) -> dict[tuple[str | None, ...], Mapping[str, Any]]:
        """Return each schema by what is asked for it, in any prompt version: exports are asked in one of them."""
        return {
            tuple(asked_of(load_prompt(version), one["schema"])): one["schema"]
            for one in self.manifest["document_types"]
            for version in prompt_versions()
        }


def _key(example: TrainingExample) -> tuple[str | None, ...]:
    return tuple(part.get("text") for part in example.asked)


def _check_sums(folder: Path) -> None:
    """See that every file is the one that was written, and the manifest among them."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except OSError:
        _refuse(f"{folder} is no export of a snapshot: {SUMS} is not there")
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    missing = [name for name in (MANIFEST, DOCUMENTS) if name not in sums]
    if missing:
        _refuse(f"{folder} is no export of a snapshot: {', '.join(missing)} is not in {SUMS}")
    for name, digest in sums.items():
        path = folder / name
        if not path.is_file() or _sha256(path) != digest:
            _refuse(f"{name} is not the file that the export wrote")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse(message: str) -> NoReturn:
    raise TrainingError("training_data_unusable", message)
