"""What Label Studio's SDK makes of the tasks and of the labelling configuration."""

import json
from pathlib import Path
from typing import Any

import pytest
from label_studio_sdk._extensions.label_studio_tools.core.label_config import parse_config
from label_studio_sdk.label_interface import LabelInterface

from review.exports.label_studio import LOCAL_FILES
from tests.conftest import Cast
from tests.review.snapshots import add_reviewed, taken, unpacked


def read(folder: Path) -> tuple[LabelInterface, list[Any]]:
    interface = LabelInterface(config=(folder / "label_config.xml").read_text(encoding="utf-8"))
    return interface, json.loads((folder / "train.json").read_text(encoding="utf-8"))


def test_the_sdk_takes_configuration_tasks_predictions_and_annotations(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(
        cast.document_type, "a", verdicts={"/total": ("corrected", None), "/date": ("confirmed", "2018-12-25")}
    )
    folder = unpacked(taken(cast.project), "label_studio", tmp_path)
    interface, tasks = read(folder)
    interface.validate()
    assert set(parse_config(interface._config)["field"]["labels"]) == {"company", "date", "total"}
    (task,) = tasks
    assert interface.validate_task({"data": task["data"]})
    (prediction,) = task["predictions"]
    assert interface.validate_prediction(prediction)
    assert interface.validate_annotation(task["annotations"][0])
    assert len(prediction["result"]) == 6
    assert [one["value"]["text"] for one in task["annotations"][0]["result"] if one["type"] == "textarea"] == [
        ["2018-12-25"]
    ]
    assert (folder / task["data"]["image"].removeprefix(LOCAL_FILES)).is_file()


def test_boxes_are_percent_of_the_page_and_name_its_size(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    _, (task,) = read(unpacked(taken(cast.project), "label_studio", tmp_path))
    results = {one["meta"]["field_path"][0]: one for one in task["predictions"][0]["result"]}
    total = results["/total"]
    assert (total["original_width"], total["original_height"], total["image_rotation"]) == (200, 300, 0)
    assert [total["value"][key] for key in ("x", "y", "width", "height")] == pytest.approx([70, 60, 10, 5])


def test_text_and_box_of_a_region_share_an_id_and_are_told_apart_by_type(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    _, (task,) = read(unpacked(taken(cast.project), "label_studio", tmp_path))
    by_id: dict[str, set[str]] = {}
    for one in task["predictions"][0]["result"]:
        by_id.setdefault(one["id"], set()).add(one["type"])
        assert ("text" in one["value"]) is (one["type"] == "textarea")
    assert list(by_id.values()) == [{"rectanglelabels", "textarea"}] * 3


def test_every_page_is_a_task(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", n_pages=3)
    add_reviewed(cast.document_type, "b")
    _, tasks = read(unpacked(taken(cast.project), "label_studio", tmp_path))
    assert [task["data"]["page_number"] for task in tasks] == [1, 2, 3, 1]


def test_a_claim_without_a_confidence_breaks_nothing(cast: Cast, tmp_path: Path) -> None:
    record = add_reviewed(cast.document_type, "a", verdicts={})
    record.run.predictions.update(confidence=None)
    interface, (task,) = read(unpacked(taken(cast.project, holding="everything"), "label_studio", tmp_path))
    assert task["predictions"][0]["score"] is None
    assert "annotations" not in task
    assert interface.validate_prediction(task["predictions"][0])
