"""PaddleOCR's labels for detection (corners of every run of text) and recognition (crops with their text)."""

import io
import itertools
import json

import numpy as np
from PIL import Image

from inference.imaging.pages import decode_page
from inference.types import BBox
from review.exports.archive import Archive
from review.exports.chat import utf8
from review.exports.samples import Sample, SamplePage, quad, whole_pixels

_CROP_QUALITY = 95


def write_paddleocr_det(archive: Archive, sample: Sample) -> None:
    """PaddleOCR's detection labels: a line a page, the picture, a tab, and the corners of every run of text."""
    for page in sample.pages:
        name = f"images/{sample.picture(page)}"
        archive.put(name, page.jpeg())
        runs = [{"transcription": word.text, "points": quad(page, word.bbox)} for word in page.words]
        text = json.dumps(runs, ensure_ascii=False)
        archive.part(f"det_gt_{sample.split}.txt").write(utf8(f"{name}\t{text}\n"))


def write_paddleocr_rec(archive: Archive, sample: Sample) -> None:
    """PaddleOCR's recognition labels: a line a crop, its picture, a tab, and its text.

    Only of values that a person settled, each on one line of print: what a reader read itself teaches it nothing.
    """
    for page in sample.pages:
        settled = [(truth, box) for truth, box in sample.on(page) if truth.is_settled and _is_one_line(page, box)]
        if not settled:
            continue
        pixels = decode_page(page.jpeg(), page.number).pixels
        for number, (truth, box) in enumerate(settled, 1):
            x0, y0, x1, y1 = whole_pixels(box, page.width, page.height)
            buffer = io.BytesIO()
            crop = Image.fromarray(np.ascontiguousarray(pixels[y0:y1, x0:x1]))
            crop.save(buffer, "JPEG", quality=_CROP_QUALITY, subsampling=0)
            name = f"crops/{sample.picture(page).removesuffix('.jpg')}-{number:03d}.jpg"
            archive.put(name, buffer.getvalue())
            text = " ".join(str(truth.text).split())
            archive.part(f"rec_gt_{sample.split}.txt").write(utf8(f"{name}\t{text}\n"))


def _is_one_line(page: SamplePage, box: BBox) -> bool:
    """Whether no two words in the box stand over each other."""
    centres = [(word.bbox, *word.bbox.center) for word in page.words]
    inside = sorted(
        (one for one, x, y in centres if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1), key=lambda one: one.y0
    )
    return all(lower.y0 < upper.center[1] for upper, lower in itertools.pairwise(inside))
