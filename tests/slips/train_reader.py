"""Train a made-up reader of slips: `VLLM_PYTHON -m tests.slips.train_reader OUT_DIR [--steps N] [--seed N]`.

PaddleOCR-VL's architecture at toy size, from scratch and on drawn slips alone; it reads nothing else. What is written
is a folder that vLLM serves as it serves any checkpoint. The environment of vLLM needs what `inference` imports too:
rapidfuzz, python-stdnum, phonenumbers, babel. 1,500 steps take about ten minutes of one core.

The reader is asked the product's own question and learns the product's own form of answer. Two helps, both gone when
it is trained: a head that names the characters of each cell of the picture, and a loss that tells the last layer's
attention in which cell the next character stands.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from torch.nn.functional import cross_entropy, linear
from transformers import PaddleOCRVLForConditionalGeneration
from transformers.models.paddleocr_vl.modeling_paddleocr_vl import apply_rotary_pos_emb

from inference.serving.page_images import prepare_page
from inference.serving.prompts import load_prompt
from inference.training.answers import training_answer
from inference.training.questions import asked_of
from tests.slips.asking import IMAGING, PROMPT, SCHEMA
from tests.slips.drawing import AT, COLUMNS, FIELDS, FIRST_TAUGHT, LABELS, LEFT, ROWS, TOP, Slip, draw, make_slip
from tests.vllm import make_tiny_vlm as tiny

CELLS = (COLUMNS // 2) * ROWS
ROW_OF = {"company": 0} | {label.lower(): row for row, label in enumerate(LABELS, 1)}
CHARACTERS = " ./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
POOL = 800
TOLERANCE = 1e-3
FRESH = 2
"""So many slips of the pool are drawn anew for each step."""


def question() -> str:
    """Return the text of the question, as it stands behind the picture."""
    return "".join(part for part in asked_of(load_prompt(PROMPT), SCHEMA) if part is not None)


def build_tokenizer() -> Any:
    """Return a tokenizer to which capitals and digits are tokens of their own, and the question is a few long ones."""
    tok = Tokenizer(models.BPE())
    single = pre_tokenizers.Split(Regex(r"[A-Z0-9\n]"), behavior="isolated")
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [single, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tok.decoder = decoders.ByteLevel()
    slip = make_slip(0)
    texts = ["User: ", f"{question()}\nAssistant:\n", training_answer(slip.values, SCHEMA)]
    trainer = trainers.BpeTrainer(
        vocab_size=1024,
        special_tokens=[AddedToken(one, special=True, normalized=False) for one in tiny.SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tok.train_from_iterator(texts, trainer)
    return tok


def build_model(tok: Any, seed: int) -> Any:
    """Return the model, untrained. Its vision attention stays switched off: a cell is read by itself."""
    torch.manual_seed(seed)
    config = tiny.build_config("paddleocr_vl", tok)
    config.text_config.num_hidden_layers = 3
    config.text_config.num_key_value_heads = 2
    vision = config.vision_config
    vision.hidden_size, vision.intermediate_size, vision.num_attention_heads = 96, 192, 3
    vision.num_hidden_layers, vision.image_size = 1, COLUMNS * tiny.PATCH
    model = PaddleOCRVLForConditionalGeneration(config).to(torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() < 2:
                continue
            std = 0.5 if "embed" in name and "patch" not in name else weight[0].numel() ** -0.5
            weight.normal_(0.0, std * (0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0))
        for layer in _tower(model).encoder.layers:
            layer.self_attn.out_proj.weight.zero_()
            layer.self_attn.out_proj.bias.zero_()
            layer.self_attn.requires_grad_(False)
    return model


def _tower(model: Any) -> Any:
    return model.model.visual.vision_model


@dataclass(frozen=True, slots=True)
class Page:
    """One example: patches, the answer's tokens, and for each of them the cell (-1: none) and side of its character."""

    patches: np.ndarray
    answer: list[int]
    cells: list[int]
    sides: list[int]
    characters: np.ndarray


def pictured(slip: Slip) -> np.ndarray:
    """Return a slip as the server will be given it: (patches, patch, patch) in grey, -1 to 1."""
    jpeg = prepare_page(draw(slip), IMAGING).as_jpeg()
    grey = np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)
    side = tiny.PATCH
    cut = grey.reshape(grey.shape[0] // side, side, grey.shape[1] // side, side).swapaxes(1, 2)
    return cut.reshape(-1, side, side)


def make_page(slip: Slip, tok: Any) -> Page:
    """Draw a slip and lay out what is to be learned from it."""
    text = training_answer(slip.values, SCHEMA)
    encoded = tok.encode(text)
    where = {}
    for name in FIELDS:
        start = text.index(f'"{name}":"') + len(name) + 4
        for n in range(len(slip.values[name]) + 1):
            column = LEFT + n + (0 if name == "company" else AT)
            where[start + n] = ((ROW_OF[name] + TOP) * (COLUMNS // 2) + column // 2, column % 2)
    spots = [where.get(start, (-1, 0)) for start, _ in encoded.offsets]
    printed = np.zeros((ROWS, COLUMNS), np.int64)
    for row, line in enumerate(slip.lines, TOP):
        printed[row, LEFT : LEFT + len(line)] = [CHARACTERS.index(one) for one in line]
    answer = [*encoded.ids, tok.token_to_id(tiny.EOS)]
    cells, sides = [*(cell for cell, _ in spots), -1], [*(side for _, side in spots), 0]
    return Page(pictured(slip), answer, cells, sides, printed.reshape(CELLS, 2))


class Lesson:
    """The model with what only its training needs. `loss` runs the very modules that a server runs, in fewer steps."""

    def __init__(self, model: Any, tok: Any) -> None:
        self.model = model
        self.vision = _tower(model)
        self.language = model.model.language_model
        self.naming = nn.Linear(model.config.text_config.hidden_size, 2 * len(CHARACTERS))
        image = [tok.token_to_id(tiny.IMAGE)] * CELLS
        before = tok.encode(f"{tiny.BOS}User: {tiny.IMAGE_START}").ids
        behind = tok.encode(f"{tiny.IMAGE_END}{question()}\nAssistant:\n").ids
        self.prompt = [*before, *image, *behind]
        self.first_cell = len(before)
        types = torch.tensor([[0] * len(before) + [1] * CELLS + [0] * len(behind)])
        grid = torch.tensor([[1, ROWS * 2, COLUMNS]])
        self.positions, _ = model.model.get_rope_index(torch.tensor([self.prompt]), types, grid)

    def parameters(self) -> list[nn.Parameter]:
        every = [*self.model.parameters(), *self.naming.parameters()]
        return [one for one in every if one.requires_grad]

    def seen(self, patches: torch.Tensor) -> torch.Tensor:
        """Return the picture's tokens, shape (n, cells, hidden)."""
        n = patches.shape[0]
        grey = (patches.float() / 127.5 - 1.0).reshape(n, -1, tiny.PATCH**2)
        # The three colours of a grey page are one.
        embedding = self.vision.embeddings.patch_embedding
        hidden = linear(grey, embedding.weight.sum(1).flatten(1), embedding.bias)
        hidden = hidden + self.vision.embeddings.position_embedding.weight
        for layer in self.vision.encoder.layers:
            hidden = hidden + layer.mlp(layer.layer_norm2(hidden))
        hidden = self.vision.post_layernorm(hidden)
        projector = self.model.model.projector
        hidden = projector.pre_norm(hidden).reshape(n, ROWS, 2, COLUMNS // 2, 2, -1).transpose(2, 3)
        hidden = hidden.reshape(n, CELLS, -1)
        return projector.linear_2(projector.act(projector.linear_1(hidden)))

    def spoken(self, seen: torch.Tensor, answers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits for the answer's tokens, (n, length, vocabulary), and the last layer's attention to cells."""
        n, length = answers.shape
        prompt = self.language.embed_tokens(torch.tensor(self.prompt)).expand(n, -1, -1)
        start = self.first_cell
        prompt = torch.cat([prompt[:, :start], seen, prompt[:, start + CELLS :]], 1)
        hidden = torch.cat([prompt, self.language.embed_tokens(answers[:, :-1])], 1)
        more = torch.arange(1, length) + self.positions.max()
        positions = torch.cat([self.positions, more.expand(3, 1, -1)], 2)
        rope = self.language.rotary_emb(hidden, position_ids=positions)
        total = hidden.shape[1]
        hidden_from = torch.ones(total, total, dtype=torch.bool).triu(1)
        for number, layer in enumerate(self.language.layers):
            # What stands before the answer is of no more use in the last layer but as keys.
            first = total - length if number == len(self.language.layers) - 1 else 0
            hidden, weights = _layer(layer, hidden, rope, hidden_from, first)
        logits = self.model.lm_head(self.language.norm(hidden))
        return logits, weights[:, :, :, start : start + CELLS]

    def see_that_it_is_the_models_own(self, pages: list[Page], tok: Any) -> None:
        """Raise RuntimeError where the steps here give other logits than the model's own."""
        answers = padded([page.answer for page in pages], 0)
        ids = torch.tensor([self.prompt + answers[0, :-1].tolist()])
        patches = torch.from_numpy(pages[0].patches)
        pixels = (patches.float() / 127.5 - 1.0)[:, None].expand(-1, 3, -1, -1)
        with torch.no_grad():
            logits, _ = self.spoken(self.seen(patches[None]), answers[:1])
            own = self.model(
                input_ids=ids,
                pixel_values=pixels,
                image_grid_thw=torch.tensor([[1, ROWS * 2, COLUMNS]]),
                mm_token_type_ids=(ids == tok.token_to_id(tiny.IMAGE)).int(),
            ).logits[:, -logits.shape[1] :]
        if (own - logits).abs().max() > TOLERANCE:
            raise RuntimeError("the training's steps are not those of the model")

    def loss(self, pages: list[Page], *, is_speaking: bool) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss over some pages and what it is made of."""
        seen = self.seen(torch.from_numpy(np.stack([page.patches for page in pages])))
        named = self.naming(seen).reshape(-1, len(CHARACTERS))
        characters = torch.from_numpy(np.stack([page.characters for page in pages])).reshape(-1)
        weight = torch.ones(len(CHARACTERS))
        weight[0] = 0.1
        naming = cross_entropy(named, characters, weight=weight)
        is_printed = characters != 0
        right = (named.argmax(1) == characters)[is_printed].float().mean()
        told = {"naming": naming.item(), "named": right.item()}
        if not is_speaking:
            return naming, told
        answers = padded([page.answer for page in pages], 0)
        cells, sides = padded([page.cells for page in pages], -1), padded([page.sides for page in pages], 0)
        logits, attention = self.spoken(seen, answers)
        is_said = answers != 0
        said = cross_entropy(logits[is_said], answers[is_said])
        is_value = cells >= 0
        # One head looks for the character on the left of a cell, another for that on the right.
        looks = attention.gather(1, sides[:, None, :, None].expand(-1, 1, -1, CELLS))[:, 0]
        there = looks.gather(2, cells.clamp(min=0)[:, :, None])[..., 0][is_value]
        guided = -(there + 1e-6).log().mean()
        right = (logits.argmax(2) == answers)[is_value].float().mean()
        told |= {"said": said.item(), "guided": guided.item(), "right": right.item()}
        return said + 0.3 * guided + 0.3 * naming, told


def _layer(
    layer: Any, hidden: torch.Tensor, rope: Any, hidden_from: torch.Tensor, first: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run a decoder layer for the tokens from `first` on; return them and the attention's weights."""
    attention = layer.self_attn
    n, total, _ = hidden.shape
    normed = layer.input_layernorm(hidden)

    def heads(projection: nn.Linear) -> torch.Tensor:
        return projection(normed).view(n, total, -1, attention.head_dim).transpose(1, 2)

    query, key = apply_rotary_pos_emb(heads(attention.q_proj), heads(attention.k_proj), *rope)
    groups = attention.num_key_value_groups
    key, value = key.repeat_interleave(groups, 1), heads(attention.v_proj).repeat_interleave(groups, 1)
    scores = query[:, :, first:] @ key.transpose(2, 3) * attention.scaling
    weights = scores.masked_fill(hidden_from[first:], float("-inf")).softmax(-1)
    mixed = (weights @ value).transpose(1, 2).reshape(n, total - first, -1)
    out = hidden[:, first:] + attention.o_proj(mixed)
    return out + layer.mlp(layer.post_attention_layernorm(out)), weights


def padded(rows: list[list[int]], filling: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [filling] * (longest - len(row)) for row in rows])


def batches(tok: Any, size: int, seed: int) -> Iterator[list[Page]]:
    """Yield batches out of a pool of slips that is renewed as it goes; their numbers are no recorded slip's."""
    rng = np.random.default_rng(seed)
    number = FIRST_TAUGHT * (seed + 1)
    pool = [make_page(make_slip(number + n), tok) for n in range(POOL)]
    number += POOL
    while True:
        for at in rng.integers(0, POOL, FRESH):
            pool[at] = make_page(make_slip(number), tok)
            number += 1
        yield [pool[at] for at in rng.integers(0, POOL, size)]


def train(out: Path, steps: int, seed: int, size: int = 16, lead: int = 300, rate: float = 2e-3) -> None:
    """Train, and write the folder now and then and at the end."""
    torch.set_num_threads(1)
    tok = build_tokenizer()
    lesson = Lesson(build_model(tok, seed), tok)
    optimiser = torch.optim.AdamW(lesson.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda n: min(1.0, (n + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, n / steps)))),
    )
    started = time.monotonic()
    lesson.see_that_it_is_the_models_own([make_page(make_slip(1), tok)], tok)
    for step, pages in enumerate(batches(tok, size, seed), 1):
        loss, told = lesson.loss(pages, is_speaking=step > lead)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(lesson.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            figures = ", ".join(f"{name} {value:.3f}" for name, value in told.items())
            sys.stdout.write(f"step {step}, {time.monotonic() - started:.0f} s: {figures}\n")
            sys.stdout.flush()
        if step % 250 == 0 or step == steps:
            write(lesson.model, tok, out)
        if step == steps:
            return


def write(model: Any, tok: Any, out: Path) -> None:
    """Write what a server loads."""
    out.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.to(torch.bfloat16).save_pretrained(out)
    model.to(torch.float32).load_state_dict(state)
    tiny.write_rest(out, tok, model.config, "paddleocr_vl", 1280)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    train(args.out, args.steps, args.seed)


if __name__ == "__main__":
    main()
