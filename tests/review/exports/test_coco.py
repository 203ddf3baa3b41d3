"""What pycocotools makes of the annotations."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pycocotools.coco import COCO

from tests.conftest import Cast
from tests.review.snapshots import BOXES, SIZE, add_reviewed, taken, unpacked


# Its masks are made in numpy's old way.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_pycocotools_loads_pictures_categories_and_boxes(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a", verdicts={"/total": ("confirmed", "9.00")}, n_pages=2)
    folder = unpacked(taken(cast.project), "coco", tmp_path)
    coco = COCO(str(folder / "annotations" / "train.json"))
    assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == ["company", "date", "total"]
    first, second = coco.loadImgs(coco.getImgIds())
    assert (first["width"], first["height"], first["page_number"], second["page_number"]) == (*SIZE, 1, 2)
    with Image.open(folder / "train" / first["file_name"]) as picture:
        assert picture.size == SIZE
    (total,) = coco.loadAnns(coco.getAnnIds(imgIds=first["id"], catIds=coco.getCatIds(catNms=["total"])))
    assert total["bbox"] == pytest.approx([140, 180, 20, 15])
    assert total["attributes"] == {"field_path": "/total", "text": "9.00", "state": "confirmed"}
    assert coco.annToMask(total).sum() == pytest.approx(total["area"], rel=0.15)
    assert coco.getAnnIds(imgIds=second["id"]) == []


def test_rows_of_a_group_are_one_category(cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "x-label": {"en": "Invoice"},
        "properties": {
            "rows": {
                "type": "array",
                "x-label": {"en": "Rows"},
                "items": {"type": "object", "properties": {"sum": {"type": "string", "x-label": {"en": "Sum"}}}},
            }
        },
    }
    version = cast.document_type.active_version
    assert version is not None
    version.schema = schema
    version.save()
    for row in range(2):
        monkeypatch.setitem(BOXES, f"/rows/{row}/sum", [0.1, 0.3 + row / 10, 0.4, 0.35 + row / 10])
    add_reviewed(cast.document_type, "a", values={"/rows/0/sum": "1.00", "/rows/1/sum": "2.00"})
    coco = COCO(str(unpacked(taken(cast.project), "coco", tmp_path) / "annotations" / "train.json"))
    assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == ["rows.sum"]
    assert len(coco.getAnnIds()) == 2
