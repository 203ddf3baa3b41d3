"""Run by the Python that trains: one batch as the model learns from it; the last line is what is in it.

`python -m tests.vllm.collated WEIGHTS DATA LONGEST`
"""

import json
import sys
from pathlib import Path

from transformers import AutoProcessor

from inference.training.collate import NO_LOSS, AnswerOnlyCollator
from inference.training.errors import TrainingError
from inference.training.examples import read_examples
from inference.training.train import _dataset


def main(weights: str, data: str, longest: str) -> None:
    processor = AutoProcessor.from_pretrained(weights, local_files_only=True)
    rows = list(_dataset(read_examples(Path(data), "train")))
    try:
        batch = AnswerOnlyCollator(processor, longest=int(longest))(rows)
    except TrainingError as refused:
        sys.stdout.write(f"\n{json.dumps({'refused': str(refused)})}\n")
        return
    found = []
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
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
