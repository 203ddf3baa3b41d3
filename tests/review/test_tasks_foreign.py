"""Readings of other engines: sent with a document, reviewed like others, never trusted for sure."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from review.actions.reading import rerun_document
from review.models import (
    Document,
    DocumentStatus,
    EngineVersion,
    ExtractionRun,
    FieldDecision,
    FieldPrediction,
    ForeignReading,
    ReviewTask,
)
from review.selectors.access import SYSTEM
from review.selectors.engines import is_foreign, is_proven
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off

DOCUMENTS = "/api/v1/projects/receipts/documents/"
TOTAL = {
    "field_path": "/total",
    "value": "RM 1,234.50",
    "confidence": 0.99,
    "page_number": 1,
    "bbox": [0.7, 0.6, 0.8, 0.63],
}
SENT = {"engine": {"name": "otherocr", "version": "2.1"}, "fields": [TOTAL]}


@pytest.fixture
def as_manager(cast: Cast) -> APIClient:
    client = APIClient()
    client.force_authenticate(cast.manager)
    return client


def send(client: APIClient, predictions: Any, name: str = "a") -> Any:
    return client.post(
        DOCUMENTS,
        {
            "file": SimpleUploadedFile(f"{name}.jpg", picture(name), content_type="image/jpeg"),
            "document_type": "receipt",
            "predictions": predictions if isinstance(predictions, str) else json.dumps(predictions),
        },
        format="multipart",
    )


@pytest.fixture
def sent(cast: Cast, script: Script, as_manager: APIClient) -> Document:
    """A receipt that came with the total that another engine read, worked off."""
    answer = send(as_manager, SENT)
    assert answer.status_code == 201, answer.json()
    work_off()
    return Document.objects.get(pk=answer.json()["id"])


def test_what_was_sent_becomes_the_predictions_of_an_engine_of_that_name(sent: Document) -> None:
    run = ExtractionRun.objects.get(document=sent)
    assert (run.engine_version.name, run.engine_version.spec["version"]) == ("otherocr", "2.1")
    total = FieldPrediction.objects.get(run=run, field_path="/total")
    assert (total.raw_text, total.value, total.confidence) == ("RM 1,234.50", "1234.50", 0.99)
    assert (total.page_number, total.bbox) == (1, [0.7, 0.6, 0.8, 0.63])


def test_what_the_other_engine_does_not_mention_is_not_found(sent: Document) -> None:
    company = FieldPrediction.objects.get(run__document=sent, field_path="/company")
    assert (company.value, company.confidence, company.findings) == (None, None, ["not_found"])


def test_the_words_are_read_here_so_that_people_can_pick_from_them(sent: Document) -> None:
    (read,) = ExtractionRun.objects.get(document=sent).page_reads.all()
    assert read.reading is not None
    assert read.reading.engine_version.name == "scripted"
    assert "9.00" in json.dumps(read.reading.payload)


def test_nothing_is_stored_for_sure_however_confident_the_other_engine_is(sent: Document) -> None:
    bands = dict(FieldDecision.objects.filter(decision__document=sent).values_list("field_path", "band"))
    assert bands["/total"] == "sampled"
    assert "auto" not in bands.values()
    decision = FieldDecision.objects.get(decision__document=sent, field_path="/total")
    assert "engine_not_proven" in decision.reasons


def test_an_engine_that_is_not_ours_is_never_proven(sent: Document) -> None:
    version = EngineVersion.objects.get(name="otherocr")
    assert is_foreign(version)
    assert not is_proven(version)


def test_a_value_without_a_confidence_goes_to_a_person(cast: Cast, script: Script, as_manager: APIClient) -> None:
    send(as_manager, SENT | {"fields": [{"field_path": "/total", "value": "9.00"}]})
    work_off()
    assert Document.objects.get().status == DocumentStatus.REVIEW
    assert ReviewTask.objects.count() == 1


def test_two_versions_of_an_engine_are_two_engine_versions(cast: Cast, script: Script, as_manager: APIClient) -> None:
    for version in ("1", "2", "2"):
        predictions = {"engine": {"name": "otherocr", "version": version}, "fields": []}
        assert send(as_manager, predictions, name=f"{version}{ForeignReading.objects.count()}").status_code == 201
    assert EngineVersion.objects.filter(name="otherocr").count() == 2


def test_reading_it_again_is_the_work_of_an_engine_of_ours(sent: Document) -> None:
    ReviewTask.objects.all().delete()
    rerun_document(actor=SYSTEM, document=sent)
    work_off()
    run = ExtractionRun.objects.get(document=sent, is_current=True)
    assert run.engine_version.name == "scripted"
    assert FieldPrediction.objects.get(run=run, field_path="/total").value == "9.00"


def test_predictions_for_a_copy_are_not_kept(cast: Cast, script: Script, as_manager: APIClient) -> None:
    assert send(as_manager, SENT).json()["is_duplicate"] is False
    assert send(as_manager, SENT).json()["is_duplicate"] is True
    assert ForeignReading.objects.count() == 1


def test_a_box_on_a_page_that_is_not_there_is_no_box(cast: Cast, script: Script, as_manager: APIClient) -> None:
    send(as_manager, SENT | {"fields": [TOTAL | {"page_number": 9}]})
    work_off()
    total = FieldPrediction.objects.get(field_path="/total")
    assert (total.value, total.page_number, total.bbox) == ("1234.50", None, None)


BARE = {
    "/total": "RM 9",
    "/date": "2018-12-25",
    "/company": "KEDAI PAPAN YEW CHUAN",
}


def test_a_value_without_a_box_is_looked_for_among_the_words(cast: Cast, script: Script, as_manager: APIClient) -> None:
    fields = [{"field_path": path, "value": value, "confidence": 0.9} for path, value in BARE.items()]
    send(as_manager, SENT | {"fields": fields})
    work_off()
    found = {one.field_path: one for one in FieldPrediction.objects.filter(run__engine_version__name="otherocr")}
    assert (found["/total"].page_number, found["/total"].bbox) == (1, pytest.approx([0.7, 0.6, 0.8, 0.63]))
    box = found["/date"].bbox
    assert box is not None
    x0, y0, x1, y1 = box
    assert (y0, y1) == pytest.approx((0.2, 0.23))
    assert 0.1 < x0 < 0.3 < x1 <= 0.5
    # What nobody printed has no place, and whoever reviews it is told.
    assert (found["/company"].page_number, found["/company"].bbox) == (None, None)
    assert "not_grounded" in found["/company"].findings
    assert {"not_grounded"}.isdisjoint([*found["/total"].findings, *found["/date"].findings])
    assert {one.confidence for one in found.values()} == {0.9}


def test_where_no_words_were_read_a_value_without_a_box_is_left_as_it_is(
    cast: Cast, script: Script, as_manager: APIClient
) -> None:
    script(default={"words": []})
    send(as_manager, SENT | {"fields": [{"field_path": "/total", "value": "9.00", "confidence": 0.9}]})
    work_off()
    total = FieldPrediction.objects.get(field_path="/total")
    assert (total.value, total.bbox) == ("9.00", None)
    assert "not_grounded" not in total.findings


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in SENT.items() if name != key}


def with_field(**values: Any) -> dict[str, Any]:
    return SENT | {"fields": [TOTAL | values]}


@pytest.mark.parametrize(
    ("predictions", "pointer"),
    [
        ("{", "/predictions"),
        ("[]", "/predictions"),
        ("[" * 100_000, "/predictions"),
        (without("engine"), "/predictions"),
        (SENT | {"more": 1}, "/predictions"),
        (SENT | {"engine": "otherocr"}, "/predictions/engine"),
        (SENT | {"engine": {"name": ""}}, "/predictions/engine"),
        (SENT | {"engine": {"name": "n" * 61}}, "/predictions/engine"),
        (SENT | {"fields": {}}, "/predictions/fields"),
        (SENT | {"fields": ["/total"]}, "/predictions/fields/0"),
        (SENT | {"fields": [TOTAL, TOTAL]}, "/predictions/fields/1/field_path"),
        (with_field(field_path="/sum"), "/predictions/fields/0/field_path"),
        (with_field(field_path=None), "/predictions/fields/0/field_path"),
        (with_field(value=9.0), "/predictions/fields/0/value"),
        (with_field(value="a\0"), "/predictions/fields/0/value"),
        (with_field(confidence=1.5), "/predictions/fields/0/confidence"),
        (with_field(confidence=float("nan")), "/predictions/fields/0/confidence"),
        (with_field(confidence=True), "/predictions/fields/0/confidence"),
        (with_field(page_number=0), "/predictions/fields/0/page_number"),
        (with_field(bbox=[0, 0, 2, 1]), "/predictions/fields/0/bbox"),
        (with_field(bbox=[0.5, 0, 0.1, 1]), "/predictions/fields/0/bbox"),
        (with_field(page_number=None), "/predictions/fields/0/bbox"),
        (with_field(score=0.9), "/predictions/fields/0"),
    ],
)
def test_predictions_that_cannot_be_are_refused_where_they_are_wrong(
    cast: Cast, script: Script, as_manager: APIClient, predictions: Any, pointer: str
) -> None:
    answer = send(as_manager, predictions)
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == pointer
    assert not Document.objects.exists()


def test_every_problem_is_said_at_once(cast: Cast, script: Script, as_manager: APIClient) -> None:
    answer = send(as_manager, SENT | {"fields": [TOTAL | {"confidence": 2}, {"field_path": "/sum"}]})
    assert len(answer.json()["problems"]) == 2
