"""FUNSD, SROIE and CORD, as their loaders read them."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from PIL import Image

from review.management.sroie import read_sroie
from tests.conftest import Cast
from tests.review.snapshots import BOXES, SIZE, WORDS, add_reviewed, taken, unpacked

BOX: dict[str, Any] = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 4, "maxItems": 4}
# After the annotations of FUNSD (Jaume et al., 2019).
FUNSD: dict[str, Any] = {
    "required": ["form"],
    "properties": {
        "form": {
            "items": {
                "required": ["id", "text", "box", "label", "words", "linking"],
                "properties": {
                    "id": {"type": "integer"},
                    "text": {"type": "string"},
                    "box": BOX,
                    "label": {"enum": ["question", "answer", "header", "other"]},
                    "words": {
                        "items": {
                            "required": ["text", "box"],
                            "properties": {"text": {"type": "string"}, "box": BOX},
                        }
                    },
                    "linking": {"items": {"type": "array", "minItems": 2, "maxItems": 2}},
                },
            }
        }
    },
}
CORNERS = [f"{axis}{n}" for n in range(1, 5) for axis in "xy"]
# After the ground truth of CORD v2 (Park et al., 2019).
CORD: dict[str, Any] = {
    "required": ["gt_parse", "meta", "valid_line", "roi", "repeating_symbol", "dontcare"],
    "properties": {
        "meta": {"required": ["version", "split", "image_id", "image_size"]},
        "valid_line": {
            "items": {
                "required": ["words", "category", "group_id"],
                "properties": {
                    "words": {
                        "minItems": 1,
                        "items": {
                            "required": ["quad", "is_key", "row_id", "text"],
                            "properties": {
                                "quad": {
                                    "required": CORNERS,
                                    "additionalProperties": False,
                                    "properties": {name: {"type": "integer"} for name in CORNERS},
                                }
                            },
                        },
                    }
                },
            }
        },
    },
}


def test_a_funsd_form_has_a_picture_fields_and_other_words(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    folder = unpacked(taken(cast.project), "funsd", tmp_path) / "training_data"
    (annotation,) = (folder / "annotations").iterdir()
    form = json.loads(annotation.read_text(encoding="utf-8"))
    Draft202012Validator(FUNSD).validate(form)
    with Image.open(folder / "images" / f"{annotation.stem}.png") as picture:
        assert (picture.format, picture.size) == ("PNG", SIZE)
    blocks = form["form"]
    assert [(one["label"], one["text"]) for one in blocks] == [
        ("answer", "BOOK a"),
        ("answer", "2018-12-25"),
        ("answer", "9.00"),
        ("other", "TOTAL"),
    ]
    assert [one["id"] for one in blocks] == [0, 1, 2, 3]
    assert [word["text"] for word in blocks[0]["words"]] == ["BOOK", "TA", "K"]
    assert blocks[2]["box"] == [140, 180, 160, 195]


def test_every_word_of_a_page_stands_in_one_block_of_its_form(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    folder = unpacked(taken(cast.project), "funsd", tmp_path) / "training_data"
    form = json.loads(next((folder / "annotations").iterdir()).read_text())["form"]
    words = [word["text"] for block in form for word in block["words"]]
    assert sorted(words) == sorted(part.text for word in WORDS for part in word.parts())


@pytest.mark.parametrize(
    ("wishes", "side"),
    [
        ({"validation_share": 0.9}, "validation"),
        ({"test_share": 0.9}, "testing"),
    ],
)
def test_the_sides_of_funsd_have_their_own_folders(
    cast: Cast, tmp_path: Path, wishes: dict[str, float], side: str
) -> None:
    add_reviewed(cast.document_type, "a")
    folder = unpacked(taken(cast.project, **wishes), "funsd", tmp_path)
    assert [one.name for one in folder.iterdir() if one.is_dir()] == [f"{side}_data"]


def test_sroie_is_read_back_as_it_was_written(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("corrected", "9.10"), "/date": ("spurious", None)})
    layout = read_sroie(unpacked(taken(cast.project), "sroie", tmp_path) / "train")
    assert layout.problems == []
    (file,) = layout.files
    assert file.truth == {"/company": "BOOK a", "/date": None, "/total": "9.10"}


def test_the_lines_of_sroie_are_corners_and_text(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    (boxes,) = (unpacked(taken(cast.project), "sroie", tmp_path) / "train" / "box").iterdir()
    lines = [line.split(",", 8) for line in boxes.read_text(encoding="utf-8").splitlines()]
    assert [line[8] for line in lines] == [word.text for word in WORDS]
    assert [int(number) for number in lines[3][:8]] == [140, 180, 160, 180, 160, 195, 140, 195]


def test_sroie_has_no_place_for_a_second_page(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", n_pages=2)
    assert not (unpacked(taken(cast.project), "sroie", tmp_path) / "train").exists()


def test_cord_has_values_and_the_words_of_each(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", verdicts={"/date": ("spurious", None)})
    folder = unpacked(taken(cast.project), "cord", tmp_path) / "train"
    (file,) = (folder / "json").iterdir()
    told = json.loads(file.read_text(encoding="utf-8"))
    Draft202012Validator(CORD).validate(told)
    assert told["gt_parse"] == {"company": "BOOK a", "total": "9.00"}
    assert [one["category"] for one in told["valid_line"]] == ["company", "total"]
    (total,) = told["valid_line"][1]["words"]
    assert (total["text"], total["quad"]["x1"], total["quad"]["y3"]) == ("9.00", 140, 195)
    assert told["meta"]["image_size"] == {"width": 200, "height": 300}
    assert (folder / "image" / f"{file.stem}.jpg").is_file()


def test_rows_of_a_group_are_a_list_in_cord(cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = {f"/menu/{row}/nm": [0.1, 0.3 + row / 10, 0.4, 0.35 + row / 10] for row in range(2)}
    for path, box in boxes.items():
        monkeypatch.setitem(BOXES, path, box)
    add_reviewed(cast.document_type, "a", values={"/menu/0/nm": "Tea", "/menu/1/nm": "Rice"})
    (file,) = (unpacked(taken(cast.project), "cord", tmp_path) / "train" / "json").iterdir()
    told = json.loads(file.read_text())
    assert told["gt_parse"] == {"menu": [{"nm": "Tea"}, {"nm": "Rice"}]}
    assert [(one["category"], one["group_id"]) for one in told["valid_line"]] == [("menu.nm", 0), ("menu.nm", 1)]
