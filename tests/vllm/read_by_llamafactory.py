"""Run by the Python that trains: LLaMA-Factory's own loader and template read an export; the last line is what it got.

`python -m tests.vllm.read_by_llamafactory WEIGHTS FOLDER SCRATCH`. The readers' folder is on PYTHONPATH.
"""

import json
import sys
from typing import Any

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.hparams import DataArguments, ModelArguments
from transformers import AutoProcessor, Seq2SeqTrainingArguments

NO_LOSS = -100
# The template whose pictures are cut up as those of the made-up model are.
TEMPLATE = "pixtral"
STAGES = {"sft": ("stet_train", ["labels"]), "rm": ("stet_train_preferences", ["chosen_labels", "rejected_labels"])}


def main(weights: str, folder: str, scratch: str) -> None:
    processor = AutoProcessor.from_pretrained(weights, local_files_only=True)
    # What its own loader of models sets.
    processor.image_max_pixels, processor.image_min_pixels = 768 * 768, 32 * 32
    tokenizer = processor.tokenizer
    model = ModelArguments(model_name_or_path=weights, cache_dir=f"{scratch}/cache")
    training = Seq2SeqTrainingArguments(output_dir=f"{scratch}/out", report_to=[], use_cpu=True)
    found: dict[str, Any] = {}
    for stage, (name, learned) in STAGES.items():
        data = DataArguments(template=TEMPLATE, dataset=name, dataset_dir=folder, cutoff_len=8192, overwrite_cache=True)
        template = get_template_and_fix_tokenizer(tokenizer, data)
        rows = get_dataset(template, model, data, training, stage, tokenizer, processor)["train_dataset"]
        asked = learned[0].replace("labels", "input_ids")
        found[stage] = [
            {
                "images": row["images"],
                "learned": [tokenizer.decode([one for one in row[key] if one != NO_LOSS]) for key in learned],
                "n_picture_tokens": tokenizer.decode(row[asked]).count(template.mm_plugin.image_token),
            }
            for row in rows
        ]
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
