"""Run by the Python that trains: one batch as the model learns from it; the last line is what is in it.

`python -m tests.vllm.collated WEIGHTS DATA`
"""

import copy
import json
import sys
from pathlib import Path
from typing import Any

from transformers import AutoProcessor

from inference.training.collate import NO_LOSS, AnswerOnlyCollator
from inference.training.errors import TrainingError
from inference.training.examples import read_examples
from inference.training.train import _dataset


def main(weights: str, data: str) -> None:
    processor = AutoProcessor.from_pretrained(weights, local_files_only=True)
    rows = list(_dataset(read_examples(Path(data), "train")))
    batch = AnswerOnlyCollator(processor, longest=4096)(copy.deepcopy(rows))
    found: list[dict[str, Any]] = []
    for ids, labels, mask in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True):
        has_loss = (labels != NO_LOSS).tolist()
        found.append(
            {
                "learned": processor.tokenizer.decode(labels[labels != NO_LOSS]),
                "n_asked": has_loss.index(True),
                "is_one_piece": all(has_loss[has_loss.index(True) : int(mask.sum())]),
                "n_learned_padding": int((labels[mask == 0] != NO_LOSS).sum()),
                "labels_are_ids": bool((labels[labels != NO_LOSS] == ids[labels != NO_LOSS]).all()),
                "n_tokens": int(mask.sum()),
            }
        )
    longest = max(int(row["n_tokens"]) for row in found)
    refused = ""
    try:
        AnswerOnlyCollator(processor, longest=longest - 1)(rows)
    except TrainingError as error:
        refused = str(error)
    sys.stdout.write(f"\n{json.dumps({'rows': found, 'longest': longest, 'refused': refused})}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
