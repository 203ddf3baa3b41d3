import csv
import io
from typing import Any

import pytest

from review.exports.csv import COLUMNS, HEADER, encode

LABEL: dict[str, Any] = {
    "verdict": "corrected",
    "value": "9.90",
    "predicted_value": "9.00",
    "is_correct": False,
    "is_in_sample": True,
    "inclusion_probability": 0.25,
    "confidence": None,
    "band": "review",
    "engine_digest": "abc",
    "reviewer": "rui",
    "created_at": "2026-01-01T00:00:00Z",
}


def row(**field: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "field_path": "/total",
        "value": "9.90",
        "provenance": None,
        "prediction": None,
        "labels": [],
    }
    return {
        "record_id": 7,
        "revision": 2,
        "created_at": "2026-01-01T00:00:00Z",
        "project": "demo",
        "document_type": "receipt",
        "schema_version": 1,
        "document": {
            "id": 3,
            "filename": "a.jpg",
            "sha256": "ff",
            "media_type": "image/jpeg",
            "n_pages": 1,
            "received_at": "2026-01-01T00:00:00Z",
        },
        "engine": {"name": "rapidocr", "digest": "abc"},
        "policy": None,
        "band": "auto",
        "reviewer": None,
        "is_held_out": False,
        "fields": [shown | field],
    }


def read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((HEADER + data).decode(), newline=""), strict=True))


def test_the_first_line_names_the_columns() -> None:
    assert HEADER.decode() == ",".join(COLUMNS) + "\r\n"
    assert len(set(COLUMNS)) == len(COLUMNS)


@pytest.mark.parametrize("text", ["plain", "书,店", 'quo"te', "two\nlines", "\r\n", "🧾", "sep\u2028", "=1+1", " x "])
def test_any_text_comes_back_as_it_was(text: str) -> None:
    (line,) = read(encode(row(value=text)))
    assert line["value"] == text


def test_null_is_an_empty_cell() -> None:
    (line,) = read(encode(row(value=None)))
    for column in ("value", "policy", "reviewer", "source", "predicted_x0", "label_number", "label_verdict"):
        assert line[column] == ""


def test_a_prediction_is_spread_over_its_columns() -> None:
    prediction = {
        "value": "9.00",
        "raw_text": "RM 9.00",
        "confidence": 0.5,
        "findings": [],
        "page_number": 2,
        "bbox": [0.1, 0.2, 0.3, 0.4],
    }
    (line,) = read(encode(row(prediction=prediction, provenance={"source": "model"})))
    assert (line["source"], line["predicted_raw_text"], line["predicted_confidence"]) == ("model", "RM 9.00", "0.5")
    assert [line[f"predicted_{key}"] for key in ("page_number", "x0", "y0", "x1", "y1")] == [
        "2", "0.1", "0.2", "0.3", "0.4",
    ]  # fmt: skip


def test_each_label_has_a_line_of_its_own() -> None:
    lines = read(encode(row(labels=[LABEL, LABEL | {"value": "8.00", "is_correct": None}])))
    assert [line["label_number"] for line in lines] == ["1", "2"]
    assert [line["label_value"] for line in lines] == ["9.90", "8.00"]
    assert [line["label_is_correct"] for line in lines] == ["false", ""]
    assert {line["record_id"] for line in lines} == {"7"}
    assert lines[0]["label_inclusion_probability"] == "0.25"


def test_a_record_without_fields_has_no_line() -> None:
    assert encode(row() | {"fields": []}) == b""


def test_half_a_surrogate_pair_does_not_stop_the_export() -> None:
    (line,) = read(encode(row(value="a\ud800b")))
    assert line["value"] == "a\\ud800b"


def test_nested_values_are_json() -> None:
    (line,) = read(encode(row(value={"a": ["书"]})))
    assert line["value"] == '{"a": ["书"]}'
