"""An exported snapshot becomes what one version learns from: its own question, its own pixels, the strict answer."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from inference.errors import EngineError, UnreadableFileError
from inference.imaging.pages import decode_page
from inference.serving.page_images import prepare_page
from inference.serving.prompts import load_prompt
from inference.serving.weights import manifest_of
from inference.training.answers import NotTeachableError, training_answer
from inference.training.errors import TrainingError
from inference.training.examples import METADATA, TrainingExample
from inference.training.exported import Exported, TaughtPage
from inference.training.questions import as_parts, asked_of
from inference.types import VlmSpec

SPLITS = ("train", "validation")


@dataclass(slots=True)
class Prepared:
    """What was written: examples by side, pages left out by why, and the SHA-256 over the names and bytes of all."""

    folder: Path
    n_examples: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))
    left_out: dict[str, int] = field(default_factory=dict)
    sha256: str = ""

    def leave_out(self, why: str) -> None:
        """Count a page that is not learned from."""
        self.left_out[why] = self.left_out.get(why, 0) + 1


def prepare(exported: Exported, spec: VlmSpec, folder: Path) -> Prepared:
    """Write the training's data into `folder`, which must not exist yet; the test side is never touched.

    A page is cropped, scaled and compressed as it is for the server, and asked in the version's prompt, without
    examples. Raise TrainingError where nothing is left to train on.
    """
    prepared = Prepared(folder)
    for split in SPLITS:
        side = folder / split
        side.mkdir(parents=True)
        with (side / METADATA).open("w", encoding="utf-8") as lines:
            for page in exported.pages(split, prepared.left_out):
                example = _example(page, spec, side, prepared)
                if example is not None:
                    lines.write(json.dumps(example.as_line(), ensure_ascii=False, separators=(",", ":")) + "\n")
                    prepared.n_examples[split] += 1
    if not prepared.n_examples["train"]:
        why = ", ".join(f"{name} {n}" for name, n in sorted(prepared.left_out.items())) or "its training side is empty"
        raise TrainingError("training_data_unusable", f"the snapshot has no page to train on ({why})")
    manifest = json.dumps(manifest_of(folder), sort_keys=True)
    prepared.sha256 = hashlib.sha256(manifest.encode()).hexdigest()
    return prepared


def _example(page: TaughtPage, spec: VlmSpec, side: Path, prepared: Prepared) -> TrainingExample | None:
    try:
        answer = training_answer(page.values, page.schema)
        image = prepare_page(decode_page(page.picture.read_bytes(), 1), spec.imaging)
    except NotTeachableError as why:
        prepared.leave_out(str(why))
        return None
    except UnreadableFileError as failure:
        prepared.leave_out(failure.code)
        return None
    except EngineError:
        prepared.leave_out("no_model_reads_it")
        return None
    picture = side / f"{page.picture.stem}.jpg"
    picture.write_bytes(image.as_jpeg())
    return TrainingExample(picture, as_parts(asked_of(load_prompt(spec.prompt_version), page.schema)), answer)
