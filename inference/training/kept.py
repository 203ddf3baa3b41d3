"""What a training leaves: an adapter for servers that load one, or whole weights with the adapter merged into them.

Importing this module imports torch and safetensors (the extra `train`).
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from inference.training.errors import TrainingError

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
WEIGHT_ENDINGS = (".safetensors", ".safetensors.index.json", ".bin", ".bin.index.json")


def keep_adapter(trainer: Any, folder: Path) -> None:  # noqa: ANN401 - an untyped library
    """Write the adapter that was trained, and nothing else, into `folder`."""
    trainer.save_model(str(folder))
    for path in folder.iterdir():
        if path.name not in ADAPTER_FILES:
            path.unlink() if path.is_file() else shutil.rmtree(path)
    _sort_config(folder / "adapter_config.json")


def keep_merged(trainer: Any, weights: Path, folder: Path) -> None:  # noqa: ANN401
    """Write a copy of the folder `weights` with the adapter added to its weights, in the precision of the largest one.

    Whatever is no weights is taken over as it is: tokenizer, processor, template, code. Raise TrainingError where the
    rounding to that precision leaves nothing of what was learned, and where there is nothing to merge into.
    """
    model = trainer.model.merge_and_unload()
    model.to(_dtype_of(weights)).save_pretrained(str(folder))
    if not _differ(weights, folder):
        raise TrainingError("training_failed", "what was learned is smaller than the weights' rounding: train longer")
    for path in folder.iterdir():
        if not path.name.endswith(WEIGHT_ENDINGS):
            path.unlink() if path.is_file() else shutil.rmtree(path)
    shutil.copytree(weights, folder, dirs_exist_ok=True, ignore=_not_taken_over(weights))


def _dtype_of(weights: Path) -> torch.dtype:
    """Return the precision of the largest tensor in a folder of weights."""
    largest: torch.Tensor | None = None
    for path in sorted(weights.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118 - it is no mapping
                tensor = file.get_tensor(name)
                if largest is None or tensor.numel() > largest.numel():
                    largest = tensor
    if largest is None:
        raise TrainingError("training_failed", f"{weights} holds no file of safetensors to merge into")
    return largest.dtype


def _differ(weights: Path, folder: Path) -> bool:
    """Whether a tensor of one name has other numbers in `folder`; raise TrainingError where the names differ.

    One that is kept in another precision than before has none for that alone.
    """
    before, after = _files_by_tensor(weights), _files_by_tensor(folder)
    if before.keys() != after.keys():
        raise TrainingError("training_failed", "the merged weights have other names than those that were trained")
    for name, path in before.items():
        with safe_open(path, "pt") as old, safe_open(after[name], "pt") as new:
            kept = new.get_tensor(name)
            if not torch.equal(old.get_tensor(name).to(kept.dtype), kept):
                return True
    return False


def _files_by_tensor(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            found |= dict.fromkeys(file.keys(), path)
    return found


def _not_taken_over(weights: Path) -> Callable[[str, list[str]], list[str]]:
    """Return what names the files that are not copied: the model's weights, and what tools left behind.

    Weights in a folder below are no weights of this model: an adapter that the server loads by name lies there.
    """

    def named(folder: str, names: list[str]) -> list[str]:
        own = WEIGHT_ENDINGS if Path(folder) == weights else ()
        return [name for name in names if name.endswith(own) or name.startswith(".") or name == "__pycache__"]

    return named


def _sort_config(path: Path) -> None:
    """Write PEFT's configuration in one order: it keeps its layers in a set, which has another in each process."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config["target_modules"] = sorted(config["target_modules"])
    path.write_text(json.dumps(config, indent=1, sort_keys=True), encoding="utf-8")
