#!/usr/bin/env python3
"""Write a tiny random-weight OCR vision-language model that a real vLLM can serve.

The folder has what a checkpoint on a hub has (config, weights, tokenizer, image
processor, chat template, generation config) at about 2 MB, made here from a seed:
nothing is downloaded. It reads nothing; it exists so that a client can be tested
against the real server.

    make_tiny_vlm.py OUT_DIR [--arch paddleocr_vl|lighton_ocr] [--seed 0]
                     [--max-image-tokens 1280] [--script TEXT] [--pure-random]
                     [--lora DIR]

Two architectures, both served by vLLM without torchvision:
  paddleocr_vl  PaddleOCR-VL (0.9B in life). vLLM 0.32 serves no LoRA adapter on it.
  lighton_ocr   LightOnOCR (1B in life). vLLM runs it through its Transformers backend,
                and serves LoRA adapters on it; --lora writes one.

Needs: torch, transformers >= 5.16, tokenizers, safetensors.

Unless --pure-random is given, the output head is steered a little, so that greedy
decoding ends by itself. Each token leads to a next one: any token to the first token
of the script, each script token to the one after it, and the last one to the end of
text, or to the closing quote where a JSON grammar forbids the end. So at temperature 0
plain decoding writes the script and stops, and each string of a schema-constrained
answer is the script. The other logits stay random and depend on the image.
"""

import argparse
import json
import random
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LightOnOcrConfig,
    LightOnOcrForConditionalGeneration,
    PaddleOCRVLConfig,
    PaddleOCRVLForConditionalGeneration,
)

PAD, BOS, EOS, UNK = "<pad>", "<|begin_of_sentence|>", "</s>", "<unk>"
IMAGE, IMAGE_START, IMAGE_END = "<|IMAGE_PLACEHOLDER|>", "<|IMAGE_START|>", "<|IMAGE_END|>"
VIDEO, IMAGE_BREAK = "<|video_pad|>", "<|image_break|>"
# The order gives the ids: pad 0, begin 1, end 2.
SPECIAL_TOKENS = [PAD, BOS, EOS, UNK, IMAGE, VIDEO, IMAGE_START, IMAGE_END, IMAGE_BREAK]

PATCH, MERGE = 14, 2
CELL = PATCH * MERGE  # one image token stands for CELL x CELL pixels
CONTEXT = 16384

SCRIPT = "tiny OCR 42"  # no token may come twice in it
WORDS = (  # noqa: SIM905 - a column of forty literals says less
    "invoice total date amount paid name address street city number page table figure title author "
    "abstract section the of and to in is for on with as by tiny OCR text line cell true false null "
    "key value type label score box lines confidence kind formula"
).split()
HAN = (
    "的一是不了在人有我他这中大来上个国和地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道"
    "行所然家事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日"
)


def corpus(seed: int, lines: int = 4000) -> list[str]:
    """Return made-up text (words, numbers, JSON, Chinese) to train the tokenizer on."""
    rng = random.Random(seed)
    out = []
    for _ in range(lines):
        words = " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 9)))
        number = rng.randint(0, 999999) / 100
        record = {rng.choice(WORDS): words, "value": number}
        out += [
            f"{words} {number}",
            "".join(rng.choice(HAN) for _ in range(rng.randint(2, 12))),
            json.dumps(record),
            f"User: OCR:\nAssistant:\n{words}",
        ]
    return out


def build_tokenizer(seed: int, vocab_size: int) -> Any:
    """Train a byte-level BPE tokenizer."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        corpus(seed),
        trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL_TOKENS],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return tok


def build_config(arch: str, tok: Any) -> Any:
    """Return the architecture's configuration at toy sizes."""
    ids = tok.token_to_id
    ends = {"pad_token_id": ids(PAD), "bos_token_id": ids(BOS), "eos_token_id": ids(EOS)}
    text: dict[str, Any] = {
        "vocab_size": -(-tok.get_vocab_size() // 64) * 64,
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 32,  # vLLM's CPU attention takes 32, 64, 80, 96, 112, 128, ...
        "max_position_embeddings": CONTEXT,
        "tie_word_embeddings": False,
        **ends,
    }
    vision: dict[str, Any] = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "patch_size": PATCH,
    }
    if arch == "paddleocr_vl":
        text["rope_parameters"] = {
            "rope_type": "default",
            "rope_theta": 500000.0,
            "mrope_section": [4, 6, 6],  # sums to head_dim / 2
        }
        # image_size sets the learned positions, interpolated to any image's grid.
        vision |= {"image_size": 8 * PATCH, "spatial_merge_size": MERGE}
        return PaddleOCRVLConfig(
            text_config=text,
            vision_config=vision,
            image_token_id=ids(IMAGE),
            video_token_id=ids(VIDEO),
            vision_start_token_id=ids(IMAGE_START),
            vision_end_token_id=ids(IMAGE_END),
            tie_word_embeddings=False,
            dtype="bfloat16",
            **ends,
        )
    vision |= {"model_type": "pixtral", "head_dim": 32, "image_size": 55 * CELL}
    return LightOnOcrConfig(
        text_config=text | {"model_type": "qwen3"},
        vision_config=vision,
        spatial_merge_size=MERGE,
        image_token_id=ids(IMAGE),
        image_token_index=ids(IMAGE),
        projector_hidden_act="gelu",
        multimodal_projector_bias=False,
        vision_feature_layer=-1,
        tie_word_embeddings=False,
        dtype="bfloat16",
        **ends,
    )


def build_model(config: Any, seed: int) -> Any:
    """Return the model with weights drawn from `seed`."""
    cls = {
        "paddleocr_vl": PaddleOCRVLForConditionalGeneration,
        "lighton_ocr": LightOnOcrForConditionalGeneration,
    }[config.model_type]
    model = cls(config).to(torch.float32)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            if weight.dim() < 2:
                continue  # norms stay at 1, biases at 0
            std = 1.0 if "embed_tokens" in name else weight[0].numel() ** -0.5
            weight.normal_(0.0, std, generator=generator)
            if name.endswith(("o_proj.weight", "down_proj.weight", "lm_head.weight")):
                weight.mul_(0.25)  # the last token outweighs the rest of the context
    return model


def bias_of(piece: str) -> float:
    """Return how much likelier than others a token is made, by its text without white space around it."""
    if not piece:
        return -2.0  # white space between JSON fields may go on for ever
    if piece in ("}", "]"):
        return 1.5  # where the grammar leaves a choice, close
    if piece in ('"', ",", ":"):
        return 1.0
    if piece[0].isdigit() or piece[0] in ".-eE":
        return -1.0  # numbers end
    return 0.0


def steer(model: Any, tok: Any, script: str) -> None:
    """Make greedy decoding write `script` and end; see the module's text."""
    ids = tok.encode(script).ids
    if len(set(ids)) != len(ids):
        raise ValueError(f"a token comes twice in the script: {tok.encode(script).tokens}")
    embed, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    with torch.no_grad():
        # Dimension 0 of the hidden state is kept constant, so column 0 of the head is a
        # bias for each token.
        embed[:, 0] = 4.0
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight[0] = 0
            layer.mlp.down_proj.weight[0] = 0
        head[:, 0] = 0
        text = {i: tok.decode([i], skip_special_tokens=False) for i in range(tok.get_vocab_size())}
        for i, piece in text.items():
            head[i, 0] = bias_of(piece.strip())
        head[ids[0], 0] = 2.0

        def lead(source: int, target: int, strength: float) -> None:
            direction = embed[source].clone()
            direction[0] = 0
            head[target] += strength * direction / embed.shape[1]

        for source, target in pairwise(ids):
            lead(source, target, 20.0)
        lead(ids[-1], tok.token_to_id(EOS), 36.0)
        for i, piece in text.items():
            if piece.startswith('"'):
                lead(ids[-1], i, 20.0 if piece == '"' else 18.0)


def chat_template(arch: str) -> str:
    """Return a template in the manner of PaddleOCR-VL's: User: <image>text, Assistant:."""
    image = IMAGE_START + IMAGE + IMAGE_END if arch == "paddleocr_vl" else IMAGE
    return (
        "{{- bos_token -}}"
        "{%- for message in messages -%}"
        "{%- if message['role'] == 'user' -%}{{- 'User: ' -}}"
        "{%- elif message['role'] == 'assistant' -%}{{- 'Assistant:\\n' -}}{%- endif -%}"
        "{%- if message['content'] is string -%}{{- message['content'] -}}{%- else -%}"
        "{%- for part in message['content'] if part['type'] == 'image' -%}{{- '" + image + "' -}}{%- endfor -%}"
        "{%- for part in message['content'] if part['type'] == 'text' -%}{{- part['text'] -}}{%- endfor -%}"
        "{%- endif -%}"
        "{%- if message['role'] == 'assistant' -%}{{- eos_token -}}{%- else -%}{{- '\\n' -}}{%- endif -%}"
        "{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- 'Assistant:\\n' -}}{%- endif -%}"
    )


def processor_files(arch: str, max_image_tokens: int) -> dict[str, dict[str, Any]]:
    """Return the image processor's and the processor's configuration files."""
    image: dict[str, Any] = {
        "do_convert_rgb": True,
        "do_normalize": True,
        "do_rescale": True,
        "do_resize": True,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "rescale_factor": 1 / 255,
        "resample": 3,
    }
    if arch == "paddleocr_vl":
        image |= {
            "image_processor_type": "PaddleOCRVLImageProcessor",
            "processor_class": "PaddleOCRVLProcessor",
            "patch_size": PATCH,
            "temporal_patch_size": 1,
            "merge_size": MERGE,
            "size": {"shortest_edge": 4 * CELL**2, "longest_edge": max_image_tokens * CELL**2},
        }
        return {
            "preprocessor_config.json": image,
            "processor_config.json": {"processor_class": "PaddleOCRVLProcessor"},
        }
    image |= {
        "image_processor_type": "PixtralImageProcessor",
        "processor_class": "LightOnOcrProcessor",
        "patch_size": {"height": CELL, "width": CELL},
        "size": {"longest_edge": 55 * CELL},
    }
    return {
        "preprocessor_config.json": image,
        "processor_config.json": {
            "processor_class": "LightOnOcrProcessor",
            "patch_size": PATCH,
            "spatial_merge_size": MERGE,
        },
    }


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_lora(out: Path, base: Path, config: Any, seed: int, rank: int = 4) -> None:
    """Write a random LoRA adapter, in PEFT's format, for the language model's MLPs."""
    out.mkdir(parents=True, exist_ok=True)
    text, generator = config.text_config, torch.Generator().manual_seed(seed + 1)
    tensors = {}
    for n in range(text.num_hidden_layers):
        name = f"base_model.model.model.language_model.layers.{n}.mlp.down_proj"
        a = torch.randn(rank, text.intermediate_size, generator=generator) * text.intermediate_size**-0.5
        b = torch.randn(text.hidden_size, rank, generator=generator)
        b[0] = 0  # leaves the steering's constant dimension alone
        tensors[f"{name}.lora_A.weight"], tensors[f"{name}.lora_B.weight"] = a, b
    save_file(tensors, out / "adapter_model.safetensors")
    write_json(
        out / "adapter_config.json",
        {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": str(base),
            "r": rank,
            "lora_alpha": 2 * rank,
            "lora_dropout": 0.0,
            "bias": "none",
            "target_modules": ["down_proj"],
        },
    )


def write_rest(out: Path, tok: Any, config: Any, arch: str, max_image_tokens: int) -> None:
    """Write what a checkpoint has beside weights and configuration."""
    tok.save(str(out / "tokenizer.json"))
    write_json(
        out / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": BOS,
            "eos_token": EOS,
            "pad_token": PAD,
            "unk_token": UNK,
            "extra_special_tokens": {
                "image_token": IMAGE,
                "image_break_token": IMAGE_BREAK,
                "image_end_token": IMAGE_END,
            },
            "clean_up_tokenization_spaces": False,
            "model_max_length": CONTEXT,
            "padding_side": "left",
        },
    )
    for name, value in processor_files(arch, max_image_tokens).items():
        write_json(out / name, value)
    (out / "chat_template.jinja").write_text(chat_template(arch), encoding="utf-8")
    text = config.text_config
    write_json(
        out / "generation_config.json",
        {key: getattr(text, key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--arch", choices=["paddleocr_vl", "lighton_ocr"], default="paddleocr_vl")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--vocab-size", type=int, default=1536)
    parser.add_argument(
        "--max-image-tokens",
        type=int,
        default=1280,
        help=f"paddleocr_vl scales images down to this many {CELL}x{CELL} cells",
    )
    parser.add_argument("--script", default=SCRIPT, help="what greedy decoding writes")
    parser.add_argument("--pure-random", action="store_true", help="no steering")
    parser.add_argument("--lora", type=Path, help="also write a random LoRA adapter here")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    tok = build_tokenizer(args.seed, args.vocab_size)
    config = build_config(args.arch, tok)
    model = build_model(config, args.seed)
    if not args.pure_random:
        steer(model, tok, args.script)
    model.to(torch.bfloat16).save_pretrained(args.out)  # model.safetensors, config.json
    if args.lora:
        write_lora(args.lora, args.out, config, args.seed)

    write_rest(args.out, tok, config, args.arch, args.max_image_tokens)
    size = sum(f.stat().st_size for f in args.out.iterdir())
    parameters = sum(p.numel() for p in model.parameters())
    sys.stdout.write(f"{args.out}: {parameters:,} parameters, {size / 1e6:.1f} MB, vocabulary {tok.get_vocab_size()}\n")


if __name__ == "__main__":
    main()
