import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inference.imaging.pages import decode_page
from inference.serving.page_images import prepare_page
from inference.serving.prompts import load_prompt
from inference.training.errors import TrainingError
from inference.training.examples import read_examples
from inference.training.exported import Exported
from inference.training.prepare import Prepared, prepare
from inference.training.questions import as_parts, asked_of
from tests.inference.serving.asking import SCHEMA, VALUES, a_spec
from tests.inference.training.exports import sign, write_export

TOTAL_ONLY = {"total": "3.00"}


def prepared(tmp_path: Path, answers: dict[str, list[Any]], name: str = "data", **spec: Any) -> Prepared:
    export = tmp_path / "export"
    if not export.exists():
        write_export(export, answers)
    return prepare(Exported.open(export), a_spec(**spec), tmp_path / name)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_page_is_asked_in_the_versions_own_prompt_whatever_the_exports(tmp_path: Path, version: str) -> None:
    made = prepared(tmp_path, {"train": [VALUES]}, prompt_version=version)
    [example] = read_examples(made.folder, "train")
    assert example.asked == as_parts(asked_of(load_prompt(version), SCHEMA))


def test_a_page_has_the_pixels_that_the_server_is_given(tmp_path: Path) -> None:
    spec: dict[str, Any] = {"imaging": {"long_side": 200, "max_pixels": 20_000, "jpeg_quality": 40}}
    made = prepared(tmp_path, {"train": [VALUES]}, **spec)
    [example] = read_examples(made.folder, "train")
    page = decode_page((tmp_path / "export" / "train" / "00000001-001.jpg").read_bytes(), 1)
    served = prepare_page(page, a_spec(**spec).imaging)
    assert example.picture.read_bytes() == served.as_jpeg()
    read = cv2.imdecode(np.fromfile(example.picture, np.uint8), cv2.IMREAD_COLOR)
    assert read is not None
    assert read.shape[0] * read.shape[1] <= 20_000


def test_the_answer_is_whole_and_strict(tmp_path: Path) -> None:
    made = prepared(tmp_path, {"train": [TOTAL_ONLY]})
    assert [one.answer for one in read_examples(made.folder, "train")] == ['{"company":null,"total":"3.00","items":[]}']


def test_the_test_side_is_never_touched(tmp_path: Path) -> None:
    made = prepared(tmp_path, {"train": [VALUES] * 2, "validation": [VALUES], "test": [VALUES] * 3})
    assert made.n_examples == {"train": 2, "validation": 1}
    assert sorted(path.name for path in made.folder.iterdir()) == ["train", "validation"]


def test_what_teaches_nothing_is_counted_by_why(tmp_path: Path) -> None:
    write_export(tmp_path / "export", {"train": [VALUES, "mended", VALUES]})
    damaged = tmp_path / "export" / "train" / "00000003-001.jpg"
    damaged.write_bytes(damaged.read_bytes()[:200])
    sign(tmp_path / "export")
    made = prepared(tmp_path, {})
    assert made.n_examples["train"] == 1
    assert made.left_out.pop("answer_unreadable") == 1
    assert list(made.left_out.values()) == [1], "the damaged picture"


def test_a_snapshot_without_a_page_to_train_on_is_refused_with_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"no page to train on \(answer_unreadable 2\)"):
        prepared(tmp_path, {"train": ["no", "nothing"]})


def test_an_empty_training_side_is_told(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="its training side is empty"):
        prepared(tmp_path, {"test": [VALUES]})


def test_the_same_snapshot_gives_the_same_data_and_another_imaging_other_data(tmp_path: Path) -> None:
    one, again, other = (
        prepared(tmp_path, {"train": [VALUES]}, name, **spec).sha256
        for name, spec in (("a", {}), ("b", {}), ("c", {"imaging": {"long_side": 80, "second_long_side": 0}}))
    )
    assert one == again != other


def test_lines_hold_characters_as_they_are(tmp_path: Path) -> None:
    made = prepared(tmp_path, {"train": [{"company": "茶屋"}]})
    line = (made.folder / "train" / "metadata.jsonl").read_text(encoding="utf-8")
    assert "茶屋" in line
    assert json.loads(line)["images_file_names"] == ["00000001-001.jpg"]
