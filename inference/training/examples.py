"""The folder that a training reads, in TRL's conversational vision form; only what is whole is trained on.

`train/metadata.jsonl` and, where there is one, `validation/metadata.jsonl`: one conversation a line, `messages` of the
user (typed parts, one of them the picture) and of the assistant (the answer), and the picture's file name in
`images_file_names`. The pictures lie beside the file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.training.errors import TrainingError

METADATA = "metadata.jsonl"


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One page: its picture, what is asked (typed parts, texts and the picture in their order), and the answer."""

    picture: Path
    asked: tuple[Mapping[str, str], ...]
    answer: str

    def as_line(self) -> dict[str, Any]:
        """Return it as a line of `metadata.jsonl`."""
        said = [{"type": "text", "text": self.answer}]
        messages = [{"role": "user", "content": list(self.asked)}, {"role": "assistant", "content": said}]
        return {"images_file_names": [self.picture.name], "messages": messages}


def read_examples(folder: Path, split: str) -> list[TrainingExample]:
    """Return the examples of one side, in their order; none where the folder has no such side.

    Raise TrainingError naming the line for anything that is not one picture, one question, one answer.
    """
    path = folder / split / METADATA
    if not path.is_file():
        return []
    examples = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                examples.append(_example(path.parent, json.loads(line)))
            except (ValueError, LookupError, TypeError, AttributeError):
                message = f"{split}/{METADATA}, line {number}: is no question about one picture with one answer"
                raise TrainingError("training_data_unusable", message) from None
            if not examples[-1].picture.is_file():
                message = f"{split}/{METADATA}, line {number}: its picture is not there"
                raise TrainingError("training_data_unusable", message)
    return examples


def _example(folder: Path, line: Mapping[str, Any]) -> TrainingExample:
    [name] = line["images_file_names"]
    question, said = line["messages"]
    if (question["role"], said["role"]) != ("user", "assistant") or Path(name).name != name:
        raise ValueError
    asked = tuple(_part(part) for part in question["content"])
    if sum(part["type"] == "image" for part in asked) != 1:
        raise ValueError
    [answer] = said["content"]
    if answer["type"] != "text" or not answer["text"]:
        raise ValueError
    return TrainingExample(folder / name, asked, answer["text"])


def _part(part: Mapping[str, Any]) -> Mapping[str, str]:
    if part["type"] == "image":
        return {"type": "image"}
    if part["type"] != "text" or not isinstance(part["text"], str):
        raise ValueError
    return {"type": "text", "text": part["text"]}
