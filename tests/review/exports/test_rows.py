import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from review.exports.rows import legal, row_of
from review.models import Document, FieldReview, Record, RegressionItem, RegressionSet, Verdict
from review.selectors.exports import items_to_export
from tests import factories
from tests.conftest import Cast
from tests.review.labels import add_record

DOCS = Path(__file__).resolve().parents[3] / "docs" / "exports.md"


def rows(cast: Cast) -> list[dict[str, Any]]:
    batches = items_to_export(cast.project, snapshot_at=timezone.now())
    return [row_of(cast.project, item) for batch in batches for item in batch]


def label(record: Record, reviewer: Any, path: str = "/total", **values: Any) -> FieldReview:
    task = factories.make_task(record.document, record.run)
    type(task).objects.filter(pk=task.pk).update(state="done")
    defaults = {"verdict": Verdict.CORRECTED, "value": "9.90", "predicted_value": "9.00", "is_correct": False}
    return FieldReview.objects.create(
        task=task,
        document=record.document,
        field_path=path,
        reviewer=reviewer,
        is_in_sample=True,
        inclusion_probability=0.25,
        project=record.project,
        document_type=record.document.document_type,
        engine_version=record.run.engine_version,
        confidence=0.4,
        band="review",
        **(defaults | values),
    )


def test_a_row_names_the_type_that_its_fields_are_of(cast: Cast) -> None:
    record = add_record(cast.document_type)
    Document.objects.filter(pk=record.document_id).update(
        document_type=factories.make_document_type(cast.project, "invoice")
    )
    (row,) = rows(cast)
    assert (row["document_type"], row["schema_version"]) == ("receipt", 1)


def test_a_row_says_where_each_value_comes_from(cast: Cast) -> None:
    record = add_record(
        cast.document_type,
        reviewer=cast.reviewer,
        values={"/company": "书店", "/date": "2018-12-25", "/total": "9.90"},
        provenance={
            "/company": {"source": "model", "confidence": 0.97},
            "/date": {"source": "model", "confidence": 0.96},
            "/total": {"source": "person", "reviewer": "rui", "verdict": "corrected", "task": 1},
        },
    )
    label(record, cast.reviewer)
    (row,) = rows(cast)
    assert (row["record_id"], row["revision"], row["reviewer"]) == (record.pk, 1, "rui")
    assert (row["project"], row["document_type"], row["schema_version"]) == ("receipts", "receipt", 1)
    assert row["document"]["sha256"] == record.document.sha256
    assert row["engine"] == {"name": "scripted", "digest": record.run.engine_version.digest}
    assert (row["policy"], row["band"], row["is_held_out"]) == (1, "auto", False)
    fields = {field["field_path"]: field for field in row["fields"]}
    assert list(fields) == ["/company", "/date", "/total"]
    assert fields["/company"]["value"] == "书店"
    assert fields["/company"]["labels"] == []
    assert fields["/company"]["prediction"]["value"] == "BOOK TA K"
    total = fields["/total"]
    assert total["provenance"] == {"source": "person", "reviewer": "rui", "verdict": "corrected", "task": 1}
    assert total["prediction"] == {
        "value": "9.00",
        "raw_text": "9.00",
        "confidence": 0.4,
        "findings": [],
        "page_number": 1,
        "bbox": [0.1, 0.1, 0.4, 0.2],
    }
    (verdict,) = total["labels"]
    assert (verdict["verdict"], verdict["value"], verdict["predicted_value"]) == ("corrected", "9.90", "9.00")
    assert (verdict["is_correct"], verdict["is_in_sample"], verdict["inclusion_probability"]) == (False, True, 0.25)
    assert (verdict["reviewer"], verdict["band"], verdict["confidence"]) == ("rui", "review", 0.4)


def test_a_field_that_only_people_saw_has_no_prediction(cast: Cast) -> None:
    record = add_record(cast.document_type, values={"/total": "1.00", "/line_items/0/amount": "1.00"})
    label(record, cast.reviewer, "/line_items/0/amount", predicted_value=None, verdict=Verdict.MISSING, value="1.00")
    label(record, cast.reviewer, "/note", verdict=Verdict.ILLEGIBLE, value=None, is_correct=None)
    fields = {field["field_path"]: field for field in rows(cast)[0]["fields"]}
    assert fields["/line_items/0/amount"]["prediction"] is None
    assert fields["/line_items/0/amount"]["value"] == "1.00"
    assert (fields["/note"]["value"], fields["/note"]["provenance"]) == (None, None)
    assert fields["/note"]["labels"][0]["is_correct"] is None
    assert fields["/company"]["value"] is None


def test_every_verdict_on_a_field_is_kept_in_order(cast: Cast) -> None:
    record = add_record(cast.document_type)
    label(record, cast.reviewer, value="1.00")
    label(record, cast.manager, value="2.00")
    total = rows(cast)[0]["fields"][2]
    assert [(one["value"], one["reviewer"]) for one in total["labels"]] == [("1.00", "rui"), ("2.00", "mia")]


def test_a_document_of_a_regression_set_is_held_out(cast: Cast) -> None:
    inside, outside = add_record(cast.document_type), add_record(cast.document_type)
    held = RegressionSet.objects.create(project=cast.project, document_type=cast.document_type, name="test", digest="d")
    RegressionItem.objects.create(
        regression_set=held, name="a", original="a", sha256=inside.document.sha256, truth={"/total": "1"}
    )
    found = {row["record_id"]: row["is_held_out"] for row in rows(cast)}
    assert found == {inside.pk: True, outside.pk: False}


def test_another_projects_set_holds_nothing_out(cast: Cast) -> None:
    record = add_record(cast.document_type)
    held = RegressionSet.objects.create(
        project=cast.other_project, document_type=cast.other_document_type, name="test", digest="d"
    )
    RegressionItem.objects.create(regression_set=held, name="a", original="a", sha256=record.document.sha256, truth={})
    assert rows(cast)[0]["is_held_out"] is False


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (0.0, 0.0),
        (None, None),
        ("nan", "nan"),
        (True, True),
        (7, 7),
        ({"a": [math.nan, {"b": math.inf}]}, {"a": [None, {"b": None}]}),
        ((1.5, math.nan), [1.5, None]),
    ],
)
def test_numbers_that_json_does_not_know_become_null(value: object, expected: object) -> None:
    assert legal(value) == expected
    assert json.dumps(legal(value), allow_nan=False)


def documented_keys() -> list[set[str]]:
    """The keys of the first three tables in docs/exports.md: of a record, a field and a label."""
    tables = re.findall(r"(?:^\|.*\n)+", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [
        {key for line in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", line.split("|")[1])}
        for table in tables[:3]
    ]


def documented_parts(key: str) -> set[str]:
    (line,) = re.findall(rf"^\| `{key}` \| (.*)\|$", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return set(re.findall(r"`(\w+)`", line))


def test_the_documentation_names_every_key(cast: Cast) -> None:
    label(add_record(cast.document_type), cast.reviewer)
    (row,) = rows(cast)
    field = row["fields"][2]
    assert documented_keys() == [set(row), set(field), set(field["labels"][0])]
    assert set(row["document"]) == documented_parts("document")
    assert set(row["engine"]) == documented_parts("engine")
    assert set(field["prediction"]) <= documented_parts("prediction")
