"""What `datasets` makes of the Parquet files and of the folder of images."""

import io
import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
from PIL import Image

from inference.types import BBox
from review.exports import hugging_face
from tests.conftest import Cast
from tests.review.snapshots import BOXES, SIZE, WORDS, add_reviewed, taken, unpacked


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()


def loaded(builder: str, folder: Path, **more: Any) -> Any:
    return datasets.load_dataset(builder, data_dir=str(folder), cache_dir=str(folder.parent / "cache"), **more)


def test_datasets_loads_the_parquet_files_with_pictures_boxes_and_sides(cast: Cast, tmp_path: Path) -> None:
    records = [add_reviewed(cast.document_type, f"shop number {n}", words=()) for n in range(5)]
    snapshot = taken(cast.project, validation_share=0.2, test_share=0.2)
    found = loaded("parquet", unpacked(snapshot, "parquet", tmp_path) / "data")
    assert {side: len(found[side]) for side in found} == {"train": 3, "validation": 1, "test": 1}
    rows = {row["document_id"]: row for side in found.values() for row in side}
    assert rows.keys() == {record.document_id for record in records}
    for record in records:
        row = rows[record.document_id]
        assert isinstance(row["image"], Image.Image)
        assert row["image"].size == SIZE == (row["width"], row["height"])
        assert json.loads(row["values"]) == {path[1:]: value for path, value in record.values.items()}
        boxes = {field["field_path"]: field["bbox"] for field in row["fields"]}
        assert boxes == {path: pytest.approx(box, abs=1e-6) for path, box in BOXES.items()}


def test_the_features_that_the_file_declares_are_those_of_its_columns(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    found = loaded("parquet", unpacked(taken(cast.project), "parquet", tmp_path) / "data")
    assert found["train"].features == datasets.Features.from_dict(hugging_face.FEATURES)
    words = found["train"][0]["words"]
    assert [word["text"] for word in words] == [word.text for word in WORDS]


def test_a_large_side_is_written_in_groups_of_few_pages(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hugging_face, "_ROWS_AT_ONCE", 2)
    for number in range(5):
        add_reviewed(cast.document_type, f"r{number}")
    file = unpacked(taken(cast.project), "parquet", tmp_path) / "data" / "train.parquet"
    metadata = pq.ParquetFile(file).metadata
    assert (metadata.num_rows, metadata.num_row_groups) == (5, 3)


def test_datasets_loads_the_folder_of_images(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("corrected", None)}, n_pages=2)
    found = loaded("imagefolder", unpacked(taken(cast.project), "imagefolder", tmp_path))["train"]
    assert [row["image"].size for row in found] == [SIZE, SIZE]
    assert [row["page_number"] for row in found] == [1, 2]
    totals = {field["field_path"]: field for field in found[0]["fields"]}["/total"]
    assert (totals["text"], totals["bbox"], totals["state"]) == (None, None, "corrected")


def test_pictures_are_those_that_were_read(cast: Cast, tmp_path: Path) -> None:
    record = add_reviewed(cast.document_type, "a")
    folder = unpacked(taken(cast.project), "parquet", tmp_path)
    table = pq.read_table(folder / "data" / "train.parquet")
    (image,) = table.column("image").to_pylist()
    with record.document.pages.get().image.open() as file:
        assert image["bytes"] == file.read()


def test_a_masked_value_is_painted_over_in_the_picture_and_gone_from_the_words(cast: Cast, tmp_path: Path) -> None:
    schema = json.loads(json.dumps(cast.document_type.active_version.schema))  # type: ignore[union-attr]
    schema["properties"]["company"]["x-personal"] = True
    version = cast.document_type.active_version
    assert version is not None
    version.schema = schema
    version.save()
    add_reviewed(cast.document_type, "Jane")
    folder = unpacked(taken(cast.project, personal="masked"), "parquet", tmp_path)
    (row,) = pq.read_table(folder / "data" / "train.parquet").to_pylist()
    assert "BOOK TA K" not in [word["text"] for word in row["words"]]
    picture = Image.open(io.BytesIO(row["image"]["bytes"])).convert("L")
    box = BBox(*BOXES["/company"])
    middle = (int(box.center[0] * SIZE[0]), int(box.center[1] * SIZE[1]))
    assert picture.getpixel(middle) == 0
    assert picture.getpixel((190, 290)) > 200  # type: ignore[operator]
