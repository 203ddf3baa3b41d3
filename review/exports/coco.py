"""COCO: where each field stands, for detectors; boxes and polygons in pixels, not rounded."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from inference.types import BBox
from review.exports.archive import Archive
from review.exports.chat import line
from review.exports.samples import Sample, SamplePage, Truth


def write_coco(archive: Archive, sample: Sample) -> None:
    """COCO: pictures and annotations are gathered apart, and put together by `close_coco`."""
    for page in sample.pages:
        name = sample.picture(page)
        archive.put(f"{sample.split}/{name}", page.jpeg())
        pictures = archive.part(f".{sample.split}.images")
        image_id = pictures.n_lines + 1
        size = {"width": page.width, "height": page.height}
        document = {"document_sha256": sample.row["document"]["sha256"], "page_number": page.number}
        pictures.write(line({"id": image_id, "file_name": name, **size, **document}))
        for truth, box in sample.on(page):
            annotations = archive.part(f".{sample.split}.annotations")
            annotations.write(line(_coco_annotation(annotations.n_lines + 1, image_id, page, truth, box)))


def _coco_annotation(number: int, image_id: int, page: SamplePage, truth: Truth, box: BBox) -> dict[str, Any]:
    x0, y0, x1, y1 = page.pixels(box)
    return {
        "id": number,
        "image_id": image_id,
        "category_id": truth.name,
        "bbox": [x0, y0, x1 - x0, y1 - y0],
        "area": (x1 - x0) * (y1 - y0),
        "segmentation": [[x0, y0, x1, y0, x1, y1, x0, y1]],
        "iscrowd": 0,
        "attributes": {"field_path": truth.path, "text": truth.text, "state": truth.state},
    }


def close_coco(archive: Archive, names: Sequence[str], sides: Iterable[str]) -> None:
    """Put one file a side together; `names` are the fields of all document types, whose places are their ids."""
    ids = {name: number for number, name in enumerate(names, 1)}
    categories = [{"id": number, "name": name, "supercategory": "field"} for name, number in ids.items()]
    for side in sides:
        pictures, annotations = archive.take(f".{side}.images"), archive.take(f".{side}.annotations")
        if pictures is None:
            continue
        target = archive.part(f"annotations/{side}.json")
        target.write(b'{"info":{"description":"Stet"},"licenses":[],"images":[\n')
        for number, one in enumerate(pictures.rewound()):
            target.write((b"," if number else b"") + one)
        target.write(b'],"annotations":[\n')
        for number, one in enumerate(annotations.rewound() if annotations is not None else ()):
            annotation = json.loads(one)
            annotation["category_id"] = ids[annotation["category_id"]]
            target.write((b"," if number else b"") + line(annotation))
        target.write(b'],"categories":' + line(categories).strip() + b"}\n")
