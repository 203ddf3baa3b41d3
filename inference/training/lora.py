"""Which weights of a model learn: the linear layers of its language part, as vLLM can serve them.

Importing this module imports torch and peft (the extra `train`).
"""

from typing import Any

from peft import LoraConfig, TaskType
from torch import nn

from inference.training.errors import TrainingError
from inference.training.plan import TrainingPlan


def lora_config(model: Any, plan: TrainingPlan) -> LoraConfig:  # noqa: ANN401 - untyped libraries
    """Return the adapter's form for a model with its head on; raise TrainingError where there is nothing to adapt."""
    return LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=plan.rank,
        lora_alpha=2 * plan.rank,
        lora_dropout=plan.dropout,
        bias="none",
        target_modules=language_layers(model),
    )


def language_layers(model: Any) -> list[str]:  # noqa: ANN401
    """Return the full names of the language part's linear layers, without the head.

    By their full names: the picture's part has layers of the same last names, and servers load no adapter for those.
    """
    decoder = model.get_decoder()
    prefix = next((name for name, module in model.named_modules() if module is decoder and name), None)
    found = [
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and prefix is not None and name.startswith(f"{prefix}.")
    ]
    head = model.get_output_embeddings()
    found = [name for name in found if model.get_submodule(name) is not head]
    if not found:
        raise TrainingError(
            "training_failed", f"{type(model).__name__} has no language part that an adapter can change"
        )
    return found
