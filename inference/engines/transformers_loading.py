"""How a model's weights are held in memory on an edge box: the words that a version's `quantisation` may have."""

from pathlib import Path
from typing import Any

import torch
from transformers import BitsAndBytesConfig

from inference.errors import EngineUnavailableError

WORDS = ("bfloat16", "half", "8bit", "4bit", "offload")


def is_offloaded(quantisation: str) -> bool:
    """Whether the words ask for a folder to off-load to."""
    return "offload" in quantisation.split("+")


def loading_arguments(quantisation: str, offload_folder: Path | None = None) -> dict[str, Any]:
    """Return arguments of `from_pretrained` for words joined by "+" ("", "half", "4bit", "8bit+offload").

    Nothing said is bfloat16. "offload" keeps on the processor, and then on disk in `offload_folder`, what the graphics
    card has no room for. Raise EngineUnavailableError for words that are not known or cannot stand together.
    """
    words = [word for word in quantisation.split("+") if word]
    unknown = sorted(set(words) - set(WORDS))
    if unknown:
        raise EngineUnavailableError(f"quantisation {', '.join(unknown)} is not one of: {', '.join(WORDS)}")
    if len({"bfloat16", "half", "8bit", "4bit"} & set(words)) > 1:
        raise EngineUnavailableError("of bfloat16, half, 8bit and 4bit only one can be meant")
    arguments: dict[str, Any] = {"dtype": torch.float16 if "half" in words else torch.bfloat16}
    if "8bit" in words:
        arguments["quantization_config"] = BitsAndBytesConfig(
            load_in_8bit=True, llm_int8_enable_fp32_cpu_offload="offload" in words
        )
    if "4bit" in words:
        arguments["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16, bnb_4bit_quant_type="nf4"
        )
    if "offload" in words:
        arguments |= {"device_map": "auto", "offload_folder": str(offload_folder)}
    elif "quantization_config" in arguments:
        arguments["device_map"] = {"": torch.cuda.current_device() if torch.cuda.is_available() else "cpu"}
    return arguments
