import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inference.training.errors import TrainingError
from inference.training.examples import TrainingExample, read_examples

Line = dict[str, Any]
ASKED = ({"type": "image"}, {"type": "text", "text": "Read the slip."})


@pytest.fixture
def example(tmp_path: Path) -> TrainingExample:
    side = tmp_path / "train"
    side.mkdir()
    (side / "1.jpg").write_bytes(b"picture")
    return TrainingExample(side / "1.jpg", ASKED, '{"total":"茶"}')


def write(folder: Path, *lines: str) -> None:
    (folder / "train" / "metadata.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_what_is_written_is_read(tmp_path: Path, example: TrainingExample) -> None:
    write(tmp_path, *[json.dumps(example.as_line())] * 2)
    assert read_examples(tmp_path, "train") == [example, example]


def test_a_side_that_is_not_there_has_no_examples(tmp_path: Path) -> None:
    assert read_examples(tmp_path, "validation") == []


def _without_picture(line: Line) -> None:
    del line["messages"][0]["content"][0]


def _two_pictures(line: Line) -> None:
    line["messages"][0]["content"].append({"type": "image"})


def _two_files(line: Line) -> None:
    line["images_file_names"].append("2.jpg")


def _elsewhere(line: Line) -> None:
    line["images_file_names"] = ["../1.jpg"]


def _no_answer(line: Line) -> None:
    line["messages"].pop()


def _empty_answer(line: Line) -> None:
    line["messages"][1]["content"][0]["text"] = ""


def _turned_round(line: Line) -> None:
    line["messages"].reverse()


def _longer(line: Line) -> None:
    line["messages"] *= 2


def _plain_text(line: Line) -> None:
    line["messages"][1]["content"] = "{}"


def _no_text(line: Line) -> None:
    line["messages"][0]["content"][1]["text"] = None


def _other_part(line: Line) -> None:
    line["messages"][0]["content"][1]["type"] = "video"


SPOILERS: list[Callable[[Line], None]] = [
    _without_picture, _two_pictures, _two_files, _elsewhere, _no_answer, _empty_answer, _turned_round, _longer,
    _plain_text, _no_text, _other_part,
]  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILERS)
def test_a_line_of_another_form_is_refused_with_its_number(
    tmp_path: Path, example: TrainingExample, spoil: Callable[[Line], None]
) -> None:
    good = json.dumps(example.as_line())
    bad = json.loads(good)
    spoil(bad)
    write(tmp_path, good, json.dumps(bad))
    with pytest.raises(
        TrainingError, match=r"train/metadata\.jsonl, line 2: is no question about one picture"
    ) as refused:
        read_examples(tmp_path, "train")
    assert refused.value.code == "training_data_unusable"


@pytest.mark.parametrize("line", ["", "not JSON", "[]", "null", "{}"])
def test_a_line_that_is_no_object_is_refused(tmp_path: Path, example: TrainingExample, line: str) -> None:
    write(tmp_path, line)
    with pytest.raises(TrainingError, match="line 1"):
        read_examples(tmp_path, "train")


def test_a_picture_that_is_not_there_is_told(tmp_path: Path, example: TrainingExample) -> None:
    write(tmp_path, json.dumps(example.as_line()))
    example.picture.unlink()
    with pytest.raises(TrainingError, match="line 1: its picture is not there"):
        read_examples(tmp_path, "train")
