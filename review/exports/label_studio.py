"""Label Studio: one task a page, with what the reader claims as its prediction and what people said as annotation."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from inference.types import BBox
from review.exports.archive import Archive
from review.exports.chat import line, utf8
from review.exports.samples import Sample, SamplePage, Truth

LOCAL_FILES = "/data/local-files/?d="


def write_label_studio(archive: Archive, sample: Sample) -> None:
    """Add the pages; the picture's address is that of Label Studio's local storage, under the archive's folder."""
    for page in sample.pages:
        name = f"images/{sample.picture(page)}"
        archive.put(name, page.jpeg())
        target = archive.part(f"{sample.split}.json")
        target.write(b"," if target.n_lines else b"[")
        target.write(line(_task(sample, page, name)))


def close_label_studio(archive: Archive, names: Sequence[str]) -> None:
    """Close the lists, and add the labelling configuration that the tasks fit; `names` are those of the fields."""
    for name in archive.part_names():
        if name.endswith(".json"):
            archive.part(name).write(b"]\n")
    labels = "".join(f"    <Label value={quoteattr(name)}/>\n" for name in names)
    archive.put(
        "label_config.xml",
        utf8(
            "<View>\n"
            '  <Image name="image" value="$image" zoom="true"/>\n'
            f'  <RectangleLabels name="field" toName="image">\n{labels}  </RectangleLabels>\n'
            '  <TextArea name="text" toName="image" perRegion="true" editable="true" displayMode="region-list"/>\n'
            "</View>\n"
        ),
    )


def _task(sample: Sample, page: SamplePage, name: str) -> dict[str, Any]:
    document = sample.row["document"]
    scores = [truth.confidence for truth, _ in sample.on(page) if truth.confidence is not None]
    claimed = list(_results(page, _claimed(sample, page)))
    told: dict[str, Any] = {
        "data": {
            "image": f"{LOCAL_FILES}{name}",
            "document_id": document["id"],
            "document_sha256": document["sha256"],
            "page_number": page.number,
            "document_type": sample.row["document_type"],
        },
        "predictions": [
            {
                "model_version": f"{sample.row['engine']['name']} {sample.row['engine']['digest'][:12]}",
                "score": min(scores) if scores else None,
                "result": claimed,
            }
        ],
    }
    settled = [(truth, box, truth.text) for truth, box in sample.on(page) if truth.is_settled]
    if settled:
        told["annotations"] = [{"result": list(_results(page, settled)), "was_cancelled": False}]
    return told


def _claimed(sample: Sample, page: SamplePage) -> Iterator[tuple[Truth, BBox, str | None]]:
    for field, truth in zip(sample.row["fields"], sample.truths, strict=True):
        prediction = field["prediction"]
        if prediction is not None and prediction["bbox"] and prediction["page_number"] == page.number:
            yield truth, BBox(*prediction["bbox"]), truth.predicted


def _results(page: SamplePage, boxes: Iterable[tuple[Truth, BBox, str | None]]) -> Iterator[dict[str, Any]]:
    for number, (truth, box, text) in enumerate(boxes, 1):
        place = {
            "x": 100 * box.x0,
            "y": 100 * box.y0,
            "width": 100 * box.width,
            "height": 100 * box.height,
            "rotation": 0,
        }
        shared = {
            "id": f"{page.number}-{number}",
            "to_name": "image",
            "original_width": page.width,
            "original_height": page.height,
            "image_rotation": 0,
            "score": truth.confidence,
            "meta": {"field_path": [truth.path]},
        }
        labelled = place | {"rectanglelabels": [truth.name]}
        yield {**shared, "from_name": "field", "type": "rectanglelabels", "value": labelled}
        yield {**shared, "from_name": "text", "type": "textarea", "value": place | {"text": [text or ""]}}
