"""The line that is frozen of a record, and what becomes of personal values in it."""

import json
from typing import Any

import pytest

from review.exports.frozen import MASK, frozen_line, frozen_row, has_unlocated_personal
from review.models import DocumentType, Record, Snapshot
from review.selectors.snapshots import Candidate, candidates_of
from tests import factories
from tests.conftest import Cast
from tests.review.snapshots import BOXES, add_reviewed


@pytest.fixture
def personal(cast: Cast) -> DocumentType:
    """A type whose company is personal."""
    schema = json.loads(json.dumps(factories.SCHEMA))
    schema["properties"]["company"]["x-personal"] = True
    return factories.make_document_type(cast.project, "letter", schema)


def candidate(record: Record) -> Candidate:
    snapshot = Snapshot.objects.create(project=record.project, seed="x", validation_share=0, test_share=0)
    ((found,),) = candidates_of(snapshot, is_first_look=False)
    return found


def row(record: Record, treatment: str = "kept") -> dict[str, Any]:
    return frozen_row(record.project, candidate(record), split="train", group="g", personal=treatment)


def test_a_line_is_one_line_of_json_with_its_characters(cast: Cast) -> None:
    record = add_reviewed(cast.document_type, "a", values={"/company": "a\nb\u2028壹"})
    line = frozen_line(row(record))
    assert "\n" not in line
    assert "壹" in line
    assert json.loads(line)["fields"][0]["value"] == "a\nb\u2028壹"


def test_half_of_a_surrogate_pair_becomes_an_escape() -> None:
    assert frozen_line({"a": "\ud800"}) == '{"a":"\\ud800"}'


def test_what_is_not_personal_stays_when_what_is_goes(personal: DocumentType) -> None:
    found = row(add_reviewed(personal, "Jane"), "left_out")
    assert [field["field_path"] for field in found["fields"]] == ["/date", "/total"]
    assert found["pages"][0]["covered"] == [BOXES["/company"]]


def test_a_mask_says_that_there_was_a_value_and_not_which(personal: DocumentType) -> None:
    company = row(add_reviewed(personal, "Jane"), "masked")["fields"][0]
    assert (company["value"], company["prediction"]["raw_text"]) == (MASK, MASK)
    assert company["prediction"]["bbox"] == BOXES["/company"]
    assert {label["value"] for label in company["labels"]} == {MASK}


def test_nothing_masked_stays_nothing(personal: DocumentType) -> None:
    record = add_reviewed(personal, "a", values={"/company": None, "/total": "9.00"})
    assert row(record, "masked")["fields"][0]["value"] is None


def test_kept_is_untouched(personal: DocumentType) -> None:
    found = row(add_reviewed(personal, "Jane"))
    assert (found["fields"][0]["value"], found["pages"][0]["covered"]) == ("BOOK Jane", [])


@pytest.mark.parametrize(
    ("verdict", "is_unlocated"),
    [
        (("confirmed", "BOOK Jane"), False),
        (("corrected", "Jane Doe"), True),
        (("missing", "Jane Doe"), True),
        (("spurious", None), False),
    ],
)
def test_a_personal_value_is_located_only_where_it_was_read_right(
    personal: DocumentType, verdict: tuple[str, Any], *, is_unlocated: bool
) -> None:
    record = add_reviewed(personal, "Jane", verdicts={"/company": verdict})
    assert has_unlocated_personal(candidate(record)) is is_unlocated


def test_a_personal_value_without_a_box_is_not_located(personal: DocumentType) -> None:
    record = add_reviewed(personal, "Jane")
    record.run.predictions.filter(field_path="/company").update(bbox=None)
    assert has_unlocated_personal(candidate(record))


def test_a_typed_value_of_another_field_is_no_matter(personal: DocumentType) -> None:
    record = add_reviewed(personal, "Jane", verdicts={"/total": ("corrected", "1.00")})
    assert not has_unlocated_personal(candidate(record))
