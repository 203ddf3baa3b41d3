"""Run by the Python that trains: whole weights are kept of a model whose tensors have two precisions.

`python -m tests.vllm.kept_weights FOLDER LEARNED`; LEARNED is added to one weight. The last line says what was kept.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file, save_file

from inference.training.errors import TrainingError
from inference.training.kept import keep_merged


class Merging:
    """What `keep_merged` asks of a trained model: it writes its tensors, and more than them."""

    def __init__(self, tensors: dict[str, torch.Tensor]) -> None:
        self.tensors = tensors

    def merge_and_unload(self) -> "Merging":
        return self

    def to(self, dtype: torch.dtype) -> "Merging":
        return Merging({name: tensor.to(dtype) for name, tensor in self.tensors.items()})

    def save_pretrained(self, folder: str) -> None:
        (Path(folder) / "more").mkdir(parents=True)
        (Path(folder) / "config.json").write_text("of the library")
        save_file(self.tensors, Path(folder) / "model.safetensors")


def main(folder: str, learned: str) -> None:
    weights, kept = Path(folder) / "weights", Path(folder) / "kept"
    (weights / "code").mkdir(parents=True)
    (weights / "code" / "model.py").write_text("of the model")
    (weights / "config.json").write_text("of the model")
    (weights / "adapters").mkdir()
    save_file({"other": torch.ones(1)}, weights / "adapters" / "adapter_model.safetensors")
    tensors = {"linear": torch.ones(4, 4, dtype=torch.bfloat16), "norm": torch.full((4,), 1.0001)}
    save_file(tensors, weights / "model.safetensors")
    after = {"linear": tensors["linear"].float() + float(learned), "norm": tensors["norm"]}
    refused = ""
    try:
        keep_merged(SimpleNamespace(model=Merging(after)), weights, kept)
    except TrainingError as failure:
        refused = str(failure)
    found = load_file(kept / "model.safetensors")
    said = {
        "refused": refused,
        "linear": float(found["linear"][0, 0]),
        "dtypes": sorted({str(tensor.dtype) for tensor in found.values()}),
        "files": sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()),
        "config": (kept / "config.json").read_text(),
    }
    sys.stdout.write(f"\n{json.dumps(said)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
