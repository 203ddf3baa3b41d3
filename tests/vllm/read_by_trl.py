"""Run by the Python that trains: TRL's own trainers load an export and learn one step from it; the last line is how.

`python -m tests.vllm.read_by_trl WEIGHTS SFT_FOLDER PREFERENCE_FOLDER SCRATCH`
"""

import json
import sys
from typing import Any

import torch
from datasets import load_dataset
from transformers import AutoModelForImageTextToText, AutoProcessor
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

NO_LOSS = -100


def loaded(folder: str, scratch: str) -> Any:
    return load_dataset("imagefolder", data_dir=folder, cache_dir=f"{scratch}/cache")["train"]


def told(trainer: Any, processor: Any, learned: str) -> dict[str, Any]:
    """What is in the first batch (the texts where `learned` says so), and the loss of one step."""
    batch = next(iter(trainer.get_train_dataloader()))
    picture_token = processor.tokenizer.convert_tokens_to_ids(processor.image_token)
    mask = batch["labels"] != NO_LOSS if learned == "labels" else batch[learned].bool()
    return {
        "n_pictures": len(batch["pixel_values"]),
        "n_picture_tokens": [int((ids == picture_token).sum()) for ids in batch["input_ids"]],
        "learned": [
            processor.tokenizer.decode(ids[where]) for ids, where in zip(batch["input_ids"], mask, strict=True)
        ],
        "loss": trainer.train().training_loss,
    }


def main(weights: str, sft: str, preference: str, scratch: str) -> None:
    processor = AutoProcessor.from_pretrained(weights, local_files_only=True)
    model = AutoModelForImageTextToText.from_pretrained(weights, local_files_only=True, dtype=torch.float32)
    options: dict[str, Any] = {
        "output_dir": f"{scratch}/out",
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "max_steps": 1,
        "save_strategy": "no",
        "per_device_train_batch_size": 2,
        "max_length": None,
    }
    shared = {"model": model, "processing_class": processor}
    teaching = SFTTrainer(args=SFTConfig(**options), train_dataset=loaded(sft, scratch), **shared)
    found = {"sft": told(teaching, processor, "labels")}
    preferring = DPOTrainer(args=DPOConfig(**options), train_dataset=loaded(preference, scratch), **shared)
    found["dpo"] = told(preferring, processor, "completion_mask")
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
