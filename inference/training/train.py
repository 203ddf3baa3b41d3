"""One LoRA training with TRL and PEFT, in this process.

Importing this module imports torch, transformers, trl, peft and datasets (the extra `train`).
"""

import importlib.metadata
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset, Image, List
from transformers import AutoModelForImageTextToText, AutoProcessor, TrainerCallback, set_seed
from trl import SFTConfig, SFTTrainer

from inference.training.collate import AnswerOnlyCollator
from inference.training.errors import TrainingError
from inference.training.examples import TrainingExample, read_examples
from inference.training.kept import keep_adapter, keep_merged
from inference.training.lora import lora_config
from inference.training.plan import TrainingPlan

TRAINING_FILE = "training.json"
KEPT = "kept"
LIBRARIES = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
WARM_UP_SHARE = 0.03

Tell = Callable[[Mapping[str, Any]], None]


def train(plan: TrainingPlan, tell: Tell) -> None:
    """Train as planned; `tell` hears of each step. The plan's folder appears when everything in it is written.

    Raise TrainingError.
    """
    examples = read_examples(Path(plan.data_folder), "train")
    if not examples:
        raise TrainingError("training_data_unusable", "there is no example to train on")
    held_back = read_examples(Path(plan.data_folder), "validation")
    scratch = Path(f"{plan.out_folder}.part")
    started = time.monotonic()
    try:
        trainer = _trainer(plan, examples, held_back, scratch, tell)
        before = trainer.evaluate()["eval_loss"] if held_back else None
        trainer.train()
        after = trainer.evaluate()["eval_loss"] if held_back else None
    except torch.OutOfMemoryError:
        raise TrainingError(
            "training_out_of_memory", "too little memory on the graphics card: lower --batch-size, --rank or max_pixels"
        ) from None
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    if plan.is_merged:
        keep_merged(trainer, Path(plan.weights_folder), scratch / KEPT)
    else:
        keep_adapter(trainer, scratch / KEPT)
    told = {
        "plan": {name: value for name, value in plan.as_json().items() if not name.endswith("_folder")},
        "n_train": len(examples),
        "n_validation": len(held_back),
        "losses": losses,
        "validation_loss": {"before": before, "after": after},
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
    }
    _put_in_place(scratch, Path(plan.out_folder), told)
    tell({"event": "done", "seconds": round(time.monotonic() - started, 1), **told})


def _trainer(
    plan: TrainingPlan,
    examples: Sequence[TrainingExample],
    held_back: Sequence[TrainingExample],
    scratch: Path,
    tell: Tell,
) -> SFTTrainer:
    set_seed(plan.seed)
    is_on_gpu = torch.cuda.is_available()
    if not is_on_gpu:
        # Several threads add up in an order that depends on how many there are: the same plan would give other bytes.
        torch.set_num_threads(1)
    source = {"local_files_only": True, "trust_remote_code": plan.is_remote_code_trusted}
    processor = AutoProcessor.from_pretrained(plan.weights_folder, **source)
    dtype = torch.bfloat16 if is_on_gpu else torch.float32
    model = AutoModelForImageTextToText.from_pretrained(plan.weights_folder, dtype=dtype, **source)
    config = SFTConfig(
        output_dir=str(scratch),
        max_steps=plan.steps,
        per_device_train_batch_size=plan.batch_size,
        per_device_eval_batch_size=plan.batch_size,
        gradient_accumulation_steps=plan.gradient_accumulation,
        learning_rate=plan.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=int(WARM_UP_SHARE * plan.steps),
        seed=plan.seed,
        data_seed=plan.seed,
        bf16=is_on_gpu,
        gradient_checkpointing=is_on_gpu,
        use_cpu=not is_on_gpu,
        max_length=None,
        completion_only_loss=True,
        remove_unused_columns=False,
        logging_steps=1,
        disable_tqdm=True,
        save_strategy="no",
        report_to="none",
    )
    return SFTTrainer(
        model=model,
        args=config,
        train_dataset=_dataset(examples),
        eval_dataset=_dataset(held_back) if held_back else None,
        processing_class=processor,
        data_collator=AnswerOnlyCollator(processor, longest=plan.max_length),
        peft_config=lora_config(model, plan),
        callbacks=[_Progress(plan.steps, tell)],
    )


def _dataset(examples: Sequence[TrainingExample]) -> Dataset:
    """Return the examples as TRL takes them; pictures are opened when they are needed."""
    rows = [
        {
            "images": [str(one.picture)],
            "prompt": [{"role": "user", "content": list(one.asked)}],
            "completion": [{"role": "assistant", "content": [{"type": "text", "text": one.answer}]}],
        }
        for one in examples
    ]
    return Dataset.from_list(rows).cast_column("images", List(Image()))


class _Progress(TrainerCallback):
    """Tells of each step as it is made."""

    def __init__(self, n_steps: int, tell: Tell) -> None:
        self._n_steps, self._tell = n_steps, tell

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **more: Any) -> None:  # noqa: ANN401, ARG002
        """Hear of a step's loss."""
        if "loss" in logs:
            self._tell(
                {"event": "step", "step": state.global_step, "steps": self._n_steps, "loss": float(logs["loss"])}
            )


def _put_in_place(scratch: Path, target: Path, told: Mapping[str, Any]) -> None:
    """Add what is told of the training, and put it all under its final name at once."""
    kept = scratch / KEPT
    (kept / TRAINING_FILE).write_text(json.dumps(told, indent=1, sort_keys=True), encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    kept.rename(target)
    shutil.rmtree(scratch)
