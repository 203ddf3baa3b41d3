"""PaddleOCR's label files, parsed as its loaders parse them."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from inference.types import BBox, Word
from tests.conftest import Cast
from tests.review.snapshots import SIZE, WORDS, add_reviewed, taken, unpacked


def label_lines(path: Path) -> list[tuple[str, str]]:
    """As `SimpleDataSet` splits them: the picture, a tab, the label."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    return [(file, label) for file, label in (line.split("\t") for line in lines)]


def test_detection_has_the_corners_of_every_run_of_text(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    folder = unpacked(taken(cast.project), "paddleocr_det", tmp_path)
    ((name, label),) = label_lines(folder / "det_gt_train.txt")
    with Image.open(folder / name) as picture:
        assert picture.size == SIZE
    runs = json.loads(label)
    assert [one["transcription"] for one in runs] == [word.text for word in WORDS]
    assert runs[3]["points"] == [[140, 180], [160, 180], [160, 195], [140, 195]]


def test_recognition_has_a_crop_of_every_value_that_a_person_settled(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("confirmed", "9.00")})
    folder = unpacked(taken(cast.project), "paddleocr_rec", tmp_path)
    ((name, label),) = label_lines(folder / "rec_gt_train.txt")
    assert label == "9.00"
    with Image.open(folder / name) as crop:
        assert crop.size == (20, 15)


def test_a_corrected_value_is_cropped_where_the_page_says_it(cast: Cast, tmp_path: Path) -> None:
    words = [*WORDS, Word("9.10", BBox(0.2, 0.8, 0.5, 0.9), 0.9)]
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("corrected", "9.10")}, words=words)
    folder = unpacked(taken(cast.project), "paddleocr_rec", tmp_path)
    ((name, label),) = label_lines(folder / "rec_gt_train.txt")
    with Image.open(folder / name) as crop:
        assert (label, crop.size) == ("9.10", (60, 30))


@pytest.mark.parametrize("n_printed", [0, 2])
def test_a_corrected_value_that_stands_nowhere_or_twice_is_not_cropped(
    cast: Cast, tmp_path: Path, n_printed: int
) -> None:
    more = [Word("9.10", BBox(0.2, 0.7 + n / 10, 0.5, 0.75 + n / 10), 0.9) for n in range(n_printed)]
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("corrected", "9.10")}, words=[*WORDS, *more])
    assert not (unpacked(taken(cast.project), "paddleocr_rec", tmp_path) / "rec_gt_train.txt").exists()


def test_a_value_over_two_lines_is_no_line_of_text(cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [Word("NO 1", BBox(0.12, 0.06, 0.3, 0.075), 0.9), Word("MAIN STREET", BBox(0.12, 0.08, 0.5, 0.095), 0.9)]
    add_reviewed(cast.document_type, "a", verdicts={"/company": ("confirmed", "BOOK a")}, words=words)
    assert not (unpacked(taken(cast.project), "paddleocr_rec", tmp_path) / "rec_gt_train.txt").exists()


@pytest.mark.parametrize("text", ["a\tb", "a\nb"])
def test_a_tab_in_a_value_breaks_no_line(cast: Cast, tmp_path: Path, text: str) -> None:
    values: dict[str, Any] = {"/total": text}
    add_reviewed(cast.document_type, "a", values=values)
    folder = unpacked(taken(cast.project), "paddleocr_rec", tmp_path)
    assert [label for _, label in label_lines(folder / "rec_gt_train.txt")] == ["a b"]
