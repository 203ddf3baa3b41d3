"""The layouts of three public sets of forms and receipts: FUNSD, SROIE and CORD."""

import io
import itertools
import json
from collections.abc import Iterator
from typing import Any

from PIL import Image

from inference.imaging.pages import decode_page
from inference.types import BBox, Word
from review.exports.archive import Archive
from review.exports.chat import utf8
from review.exports.samples import Sample, SamplePage, quad, whole_pixels

_SIDES = {"train": "training_data", "validation": "validation_data", "test": "testing_data"}


def write_funsd(archive: Archive, sample: Sample) -> None:
    """FUNSD: a picture and a form a page; a field is an `answer` with its words, every other word is `other`."""
    side = _SIDES[sample.split]
    for page in sample.pages:
        stem = sample.picture(page).removesuffix(".jpg")
        buffer = io.BytesIO()
        Image.fromarray(decode_page(page.jpeg(), page.number).pixels).save(buffer, "PNG")
        archive.put(f"{side}/images/{stem}.png", buffer.getvalue())
        text = json.dumps({"form": list(_funsd_form(sample, page))}, ensure_ascii=False)
        archive.put(f"{side}/annotations/{stem}.json", utf8(text))


def _funsd_form(sample: Sample, page: SamplePage) -> Iterator[dict[str, Any]]:
    free = [part for word in page.words for part in word.parts()]
    blocks: list[dict[str, Any]] = []
    for truth, box in sample.on(page):
        inside = [part for part in free if _holds(box, part)]
        free = [part for part in free if not _holds(box, part)]
        blocks.append(_funsd_block(page, str(truth.text), box, "answer", inside) | {"field": truth.name})
    blocks += [_funsd_block(page, part.text, part.bbox, "other", [part]) for part in free]
    yield from ({"id": number, **block} for number, block in enumerate(blocks))


def _funsd_block(page: SamplePage, text: str, box: BBox, label: str, words: list[Word]) -> dict[str, Any]:
    return {
        "text": text,
        "box": list(whole_pixels(box, page.width, page.height)),
        "label": label,
        "words": [{"text": one.text, "box": list(whole_pixels(one.bbox, page.width, page.height))} for one in words],
        "linking": [],
    }


def write_sroie(archive: Archive, sample: Sample) -> None:
    """SROIE: picture, lines of text with their corners, and the key; a document of one page, as its receipts are."""
    if len(sample.pages) != 1:
        return
    (page,) = sample.pages
    stem = sample.picture(page).removesuffix(".jpg")
    archive.put(f"{sample.split}/img/{stem}.jpg", page.jpeg())
    rows = [",".join([*map(str, itertools.chain(*quad(page, word.bbox))), word.text]) for word in page.words]
    archive.put(f"{sample.split}/box/{stem}.txt", utf8("".join(f"{row}\n" for row in rows)))
    key = {truth.path.removeprefix("/"): truth.text for truth in sample.truths if truth.path.count("/") == 1}
    archive.put(f"{sample.split}/key/{stem}.json", utf8(json.dumps(key, ensure_ascii=False, indent=1)))


def write_cord(archive: Archive, sample: Sample) -> None:
    """CORD: a picture and its ground truth, the values as `gt_parse`, the words by the field they belong to."""
    for page in sample.pages:
        stem = sample.picture(page).removesuffix(".jpg")
        archive.put(f"{sample.split}/image/{stem}.jpg", page.jpeg())
        told = {
            "gt_parse": cord_values(sample),
            "meta": {
                "version": "stet",
                "split": sample.split,
                "image_id": sample.row["document"]["id"],
                "image_size": {"width": page.width, "height": page.height},
            },
            "valid_line": list(_cord_lines(sample, page)),
            "roi": {},
            "repeating_symbol": [],
            "dontcare": [],
        }
        archive.put(f"{sample.split}/json/{stem}.json", utf8(json.dumps(told, ensure_ascii=False)))


def cord_values(sample: Sample) -> dict[str, Any]:
    """Return the values as CORD nests them, as printed; a field that the page does not show is left out."""
    values: dict[str, Any] = {}
    for truth in sample.truths:
        if truth.text is None:
            continue
        node, tokens = values, truth.path.split("/")[1:]
        for token, following in zip(tokens, [*tokens[1:], None], strict=True):
            if following is None:
                node[token] = truth.text
            else:
                node = node.setdefault(token, {})
    return {key: _rows(child) for key, child in values.items()}


def _rows(node: Any) -> Any:  # noqa: ANN401 - a tree of mappings and lists
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() for key in node):
        return [_rows(node[key]) for key in sorted(node, key=int)]
    return {key: _rows(child) for key, child in node.items()}


def _cord_lines(sample: Sample, page: SamplePage) -> Iterator[dict[str, Any]]:
    parts = [part for word in page.words for part in word.parts()]
    for number, (truth, box) in enumerate(sample.on(page)):
        rows = [int(token) for token in truth.path.split("/") if token.isdecimal()]
        row = rows[0] if rows else number
        words = [_cord_word(page, part.text, part.bbox, row) for part in parts if _holds(box, part)]
        words = words or [_cord_word(page, str(truth.text), box, row)]
        yield {"words": words, "category": truth.name, "group_id": row, "sub_group_id": 0}


def _cord_word(page: SamplePage, text: str, box: BBox, row: int) -> dict[str, Any]:
    corners = zip("1234", quad(page, box), strict=True)
    return {
        "quad": {f"{axis}{n}": corner[place] for n, corner in corners for place, axis in enumerate("xy")},
        "is_key": 0,
        "row_id": row,
        "text": text,
    }


def _holds(box: BBox, part: Word) -> bool:
    x, y = part.bbox.center
    return box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1
