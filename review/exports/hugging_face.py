"""What `datasets` loads as it is: Parquet with the pictures in it, and a folder of images with metadata."""

import json
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from inference.types.nesting import nested
from review.exports.archive import Archive
from review.exports.chat import line
from review.exports.samples import Sample, SamplePage

_ROWS_AT_ONCE = 64
_BOX = pa.list_(pa.float32(), 4)
_FIELD = pa.struct(
    [
        ("field_path", pa.string()),
        ("text", pa.string()),
        ("value", pa.string()),
        ("state", pa.string()),
        ("page_number", pa.int32()),
        ("bbox", _BOX),
    ]
)
_WORD = pa.struct([("text", pa.string()), ("bbox", _BOX), ("score", pa.float32())])
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_PLAIN: dict[str, pa.DataType] = {
    "document_id": pa.int64(),
    "document_sha256": pa.string(),
    "document_type": pa.string(),
    "group": pa.string(),
    "page_number": pa.int32(),
    "n_pages": pa.int32(),
    "width": pa.int32(),
    "height": pa.int32(),
    "values": pa.string(),
}


def _feature(dtype: pa.DataType) -> dict[str, Any]:
    return {"dtype": str(dtype), "_type": "Value"}


def _box_feature() -> dict[str, Any]:
    return {"feature": _feature(pa.float32()), "length": 4, "_type": "List"}


def _list_of(struct: pa.StructType) -> dict[str, Any]:
    fields = (struct.field(number) for number in range(struct.num_fields))
    inner = {one.name: _box_feature() if one.name == "bbox" else _feature(one.type) for one in fields}
    return {"feature": inner, "_type": "List"}


FEATURES: dict[str, Any] = {
    "image": {"_type": "Image"},
    **{name: _feature(dtype) for name, dtype in _PLAIN.items()},
    "fields": _list_of(_FIELD),
    "words": _list_of(_WORD),
}
SCHEMA = pa.schema(
    [("image", _IMAGE), *_PLAIN.items(), ("fields", pa.list_(_FIELD)), ("words", pa.list_(_WORD))],
    metadata={"huggingface": json.dumps({"info": {"features": FEATURES}})},
)


@dataclass(slots=True)
class ParquetWriter:
    """One Parquet file a side, written beside the archive in groups of a few pages, put into it at the end."""

    _writers: dict[str, pq.ParquetWriter] = field(default_factory=dict)
    _rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, archive: Archive, sample: Sample) -> None:
        """Add a row for each page."""
        rows = self._rows.setdefault(sample.split, [])
        rows += [
            {"image": {"bytes": page.jpeg(), "path": sample.picture(page)}, **_columns(sample, page)}
            for page in sample.pages
        ]
        if sample.split not in self._writers:
            target = archive.part(f"data/{sample.split}.parquet")
            self._writers[sample.split] = pq.ParquetWriter(pa.PythonFile(target, "w"), SCHEMA, compression="zstd")
        if len(rows) >= _ROWS_AT_ONCE:
            self._flush(sample.split)

    def close(self) -> None:
        """Write what is left, and the ends of the files."""
        for split, writer in self._writers.items():
            self._flush(split)
            writer.close()

    def _flush(self, split: str) -> None:
        if self._rows[split]:
            self._writers[split].write_table(pa.Table.from_pylist(self._rows[split], schema=SCHEMA))
            self._rows[split] = []


def _columns(sample: Sample, page: SamplePage) -> dict[str, Any]:
    """Return one page as a row without its picture: the fields of the document, the words of the page."""
    document = sample.row["document"]
    return {
        "document_id": document["id"],
        "document_sha256": document["sha256"],
        "document_type": sample.row["document_type"],
        "group": sample.row["group"],
        "page_number": page.number,
        "n_pages": len(sample.pages),
        "width": page.width,
        "height": page.height,
        "values": _text(nested({truth.path: truth.value for truth in sample.truths})),
        "fields": [
            {
                "field_path": truth.path,
                "text": _clean(truth.text),
                "value": _clean(truth.value)
                if truth.value is None or isinstance(truth.value, str)
                else _text(truth.value),
                "state": truth.state,
                "page_number": truth.page_number,
                "bbox": list(truth.bbox) if truth.bbox is not None else None,
            }
            for truth in sample.truths
        ],
        "words": [{"text": _clean(word.text), "bbox": list(word.bbox), "score": word.score} for word in page.words],
    }


def write_imagefolder(archive: Archive, sample: Sample) -> None:
    """Write a folder a side with its pictures, and metadata.jsonl with the values and boxes of each."""
    for page in sample.pages:
        name = sample.picture(page)
        archive.put(f"{sample.split}/{name}", page.jpeg())
        columns = _columns(sample, page)
        told = {"file_name": name, **{key: columns[key] for key in (*_PLAIN, "fields")}}
        archive.part(f"{sample.split}/metadata.jsonl").write(line(told))


def _text_of(value: object) -> str | None:
    return _clean(value) if value is None or isinstance(value, str) else _text(value)


def _text(value: object) -> str:
    return _clean(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) or ""


def _clean(text: str | None) -> str | None:
    """Return text that Arrow takes: halves of surrogate pairs become an escape, everything else stays."""
    return None if text is None else text.encode("utf-8", errors="backslashreplace").decode("utf-8")
