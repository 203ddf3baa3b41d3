"""Whether boxes and polygons find their way back to the original page, however it was turned."""

import hashlib
import io
import json
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from PIL import Image, ImageDraw, ImageOps

from inference.imaging.limits import Limits
from inference.imaging.pages import OpenedPage, encode_page, open_pages
from review.models import DocumentType
from tests.conftest import Cast
from tests.inference.imaging.documents import pdf, stream
from tests.review.snapshots import add_reviewed, taken, unpacked

Box = tuple[float, float, float, float]
INK = (40, 30, 120, 50)
# What EXIF calls the ways a camera may be held, and by what each is undone.
ORIENTATIONS = range(1, 9)
TURNS = (0, 90, 180, 270)
# In points, x to the right and y up: a page that begins nowhere near 0, and one of which only a part is shown.
MEDIA: Box = (-150, 210, 250, 510)
CROPS: dict[str, Box] = {"whole": MEDIA, "cropped": (-140, 230, 190, 500)}
PDF_INK: Box = (-100, 440, 20, 470)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_box_finds_its_way_back_to_an_original_that_was_turned(cast: Cast, tmp_path: Path, orientation: int) -> None:
    upright = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(upright).rectangle(INK, fill="black")
    original = tmp_path / "original.jpg"
    original.write_bytes(_held(upright, orientation))
    (opened,) = open_pages(original, Limits())
    x0, y0, x1, y1 = _exported(cast.document_type, opened, tmp_path)
    # The same share of the page at any resolution, laid on the original as it is to be seen.
    with Image.open(original) as picture:
        seen = ImageOps.exif_transpose(picture).convert("L")
    assert _ink_of(seen) == pytest.approx([x0 * 400, y0 * 300, x1 * 400, y1 * 300], abs=1)


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("crop", CROPS)
def test_a_box_finds_its_way_back_to_a_pdf_that_is_turned_and_cropped(
    cast: Cast, tmp_path: Path, turn: int, crop: str
) -> None:
    original = tmp_path / "original.pdf"
    original.write_bytes(_pdf(turn, CROPS[crop]))
    (opened,) = open_pages(original, Limits())
    shares = _exported(cast.document_type, opened, tmp_path)
    # A pixel is a quarter of a point here.
    assert _in_points(shares, turn, CROPS[crop]) == pytest.approx(PDF_INK, abs=0.5)


def _pdf(turn: int, crop: Box) -> bytes:
    """A page with one black box, which its viewer is to turn clockwise."""
    x0, y0, x1, y1 = PDF_INK
    boxes = b"/MediaBox[%d %d %d %d]/CropBox[%d %d %d %d]" % (*MEDIA, *crop)
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R%s/Rotate %d/Contents 4 0 R>>" % (boxes, turn),
            stream(b"0 g %d %d %d %d re f" % (x0, y0, x1 - x0, y1 - y0)),
        ]
    )


def _in_points(shares: Box, turn: int, crop: Box) -> Box:
    """What a box in shares of the page as it is seen is in the PDF's own coordinates, as its specification has it."""
    left, bottom, right, top = crop

    def place(u: float, v: float) -> tuple[float, float]:
        # Turned clockwise by 90 degrees, the page's bottom left corner is seen at the top left.
        x, y = {0: (u, 1 - v), 90: (v, u), 180: (1 - u, v), 270: (1 - v, 1 - u)}[turn]
        return left + x * (right - left), bottom + y * (top - bottom)

    (x0, y0), (x1, y1) = place(*shares[:2]), place(*shares[2:])
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _exported(document_type: DocumentType, opened: OpenedPage, folder: Path) -> Box:
    """The box of the ink of a page, in shares of it, as it comes out of an export; the polygon says the same."""
    width, height = opened.image.size
    x0, y0, x1, y1 = _ink_of(Image.fromarray(opened.image.pixels).convert("L"))
    box = [x0 / width, y0 / height, x1 / width, y1 / height]
    _add_document(document_type, encode_page(opened.image), (width, height), box)
    snapshot = taken(document_type.project)
    found = json.loads((unpacked(snapshot, "coco", folder) / "annotations" / "train.json").read_text())
    (annotation,), (image,) = found["annotations"], found["images"]
    x, y, across, down = annotation["bbox"]
    polygon = annotation["segmentation"][0]
    assert (min(polygon[::2]), max(polygon[::2])) == pytest.approx((x, x + across))
    assert (min(polygon[1::2]), max(polygon[1::2])) == pytest.approx((y, y + down))
    width, height = image["width"], image["height"]
    return x / width, y / height, (x + across) / width, (y + down) / height


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
    row.image_sha256 = hashlib.sha256(page).hexdigest()
    row.save()
