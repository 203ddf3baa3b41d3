"""Run by the Python that trains: ms-swift's own loader and template read an export; the last line is what it got.

`python -m tests.vllm.read_by_swift WEIGHTS FOLDER`. The readers' folder is on PYTHONPATH, ROOT_IMAGE_DIR is set.
"""

import json
import sys
from typing import Any

from swift import get_processor, get_template
from swift.dataset import load_dataset

NO_LOSS = -100
MODEL = "paddle_ocr"
FILES = {
    "train": ("train.jsonl", ["labels"]),
    "rlhf": ("train_preferences.jsonl", ["chosen_labels", "rejected_labels"]),
}


def main(weights: str, folder: str) -> None:
    template = get_template(get_processor(weights, model_type=MODEL))
    found: dict[str, Any] = {}
    for mode, (name, learned) in FILES.items():
        template.set_mode(mode)
        # Strict: a row that it cannot use ends it instead of being passed over.
        rows, _ = load_dataset([f"{folder}/{name}"], strict=True, load_from_cache_file=False)
        found[mode] = []
        for row in rows:
            encoded = template.encode(row)
            pixels = encoded[learned[0].replace("labels", "pixel_values")]
            texts = [template.tokenizer.decode([one for one in encoded[key] if one != NO_LOSS]) for key in learned]
            found[mode].append({"n_patches": len(pixels), "learned": texts})
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
