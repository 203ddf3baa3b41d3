"""What pycocotools makes of the annotations, and whether boxes find their way back to the original page."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from PIL import Image, ImageDraw, ImageOps
from pycocotools.coco import COCO

from inference.imaging.limits import Limits
from inference.imaging.pages import encode_page, open_pages
from review.models import DocumentType
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


# What EXIF calls the ways a camera may be held, and by what each is undone.
ORIENTATIONS = range(1, 9)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_box_finds_its_way_back_to_an_original_that_was_turned(cast: Cast, tmp_path: Path, orientation: int) -> None:
    ink = (40, 30, 120, 50)
    upright = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(upright).rectangle(ink, fill="black")
    original = tmp_path / "original.jpg"
    original.write_bytes(_held(upright, orientation))
    (opened,) = open_pages(original, Limits())
    width, height = opened.image.size
    box = [ink[0] / 400, ink[1] / 300, (ink[2] + 1) / 400, (ink[3] + 1) / 300]
    _add_document(cast.document_type, encode_page(opened.image), (width, height), box)
    found = json.loads((unpacked(taken(cast.project), "coco", tmp_path) / "annotations" / "train.json").read_text())
    (annotation,) = found["annotations"]
    x, y, across, down = annotation["bbox"]
    polygon = annotation["segmentation"][0]
    assert (min(polygon[::2]), max(polygon[::2])) == pytest.approx((x, x + across))
    assert (min(polygon[1::2]), max(polygon[1::2])) == pytest.approx((y, y + down))
    # The same share of the page at any resolution, laid on the original as it is to be seen.
    with Image.open(original) as picture:
        seen = ImageOps.exif_transpose(picture).convert("L")
    shares = (x / width, y / height, (x + across) / width, (y + down) / height)
    assert _ink_of(seen) == pytest.approx([shares[0] * 400, shares[1] * 300, shares[2] * 400, shares[3] * 300], abs=1)


def _held(upright: Image.Image, orientation: int) -> bytes:
    """The picture as a camera stores it that was held like this."""
    undone = {
        2: [Image.Transpose.FLIP_LEFT_RIGHT],
        3: [Image.Transpose.ROTATE_180],
        4: [Image.Transpose.FLIP_TOP_BOTTOM],
        5: [Image.Transpose.TRANSPOSE],
        6: [Image.Transpose.ROTATE_90],
        7: [Image.Transpose.TRANSVERSE],
        8: [Image.Transpose.ROTATE_270],
    }
    for turn in undone.get(orientation, []):
        upright = upright.transpose(turn)
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    upright.save(buffer, "JPEG", quality=95, exif=exif)
    return buffer.getvalue()


def _ink_of(picture: Image.Image) -> list[int]:
    found = picture.point(lambda level: 255 if level < 128 else 0).getbbox()
    assert found is not None
    return list(found)


def _add_document(document_type: DocumentType, page: bytes, size: tuple[int, int], box: list[float]) -> None:
    record = add_reviewed(document_type, "a", values={"/total": "9.00"})
    record.run.predictions.update(bbox=box)
    row = record.document.pages.get()
    row.image.save("turned.jpg", ContentFile(page))
    row.width, row.height = size
    row.save()
