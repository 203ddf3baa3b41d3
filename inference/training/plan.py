"""What one training is made of: the same plan with the same data on the same libraries gives the same adapter."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from inference.training.errors import TrainingError

WHOLE: Mapping[str, tuple[int, int]] = {
    "max_length": (64, 1_000_000),
    "steps": (1, 1_000_000),
    # vLLM loads no higher rank than 512 (--max-lora-rank).
    "rank": (1, 512),
    "batch_size": (1, 1024),
    "gradient_accumulation": (1, 4096),
    "seed": (0, 2**32 - 1),
}
SHARES: Mapping[str, tuple[float, float]] = {"learning_rate": (1e-8, 1.0), "dropout": (0.0, 0.9)}
TEXTS = ("weights_folder", "data_folder", "out_folder")


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A LoRA training of the language part of a model.

    `data_folder` is what `inference.training.prepare` wrote. The adapter, or the weights with it where `is_merged`,
    appears as `out_folder`, whole or not at all.
    `max_length` is the longest question with its answer in tokens, image included: what the server takes. One step
    sees `batch_size` times `gradient_accumulation` pages. LoRA's alpha is twice the rank.
    """

    weights_folder: str
    data_folder: str
    out_folder: str
    max_length: int
    steps: int = 100
    rank: int = 16
    learning_rate: float = 1e-4
    batch_size: int = 1
    gradient_accumulation: int = 8
    dropout: float = 0.05
    seed: int = 0
    is_remote_code_trusted: bool = False
    is_merged: bool = False

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise TrainingError("training_plan_invalid", "; ".join(problems))

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data; `from_json` is its inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TrainingPlan":
        """Build a plan from JSON data; raise TrainingError with everything that is wrong with it."""
        unknown = sorted(set(data) - {one.name for one in fields(cls)})
        missing = sorted(name for name in (*TEXTS, "max_length") if name not in data)
        if unknown or missing:
            named = [f"{name}: is not a known key" for name in unknown] + [f"{name}: is required" for name in missing]
            raise TrainingError("training_plan_invalid", "; ".join(named))
        return cls(**data)


def _problems(plan: TrainingPlan) -> list[str]:
    found = [
        f"{name}: must be a whole number from {least} to {most}"
        for name, (least, most) in WHOLE.items()
        if not (type(value := getattr(plan, name)) is int and least <= value <= most)
    ]
    found += [
        f"{name}: must be a number from {least:g} to {most:g}"
        for name, (lowest, most) in SHARES.items()
        if not (type(value := getattr(plan, name)) in (int, float) and (least := lowest) <= value <= most)
    ]
    return found + [f"{name}: must name a folder" for name in TEXTS if not getattr(plan, name)]
