"""What other programs collect: the records in force, filtered and paged."""

from datetime import UTC, datetime

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.models import Document, DocumentType, Record, User
from tests import factories
from tests.conftest import Cast

RECORDS = "/api/v1/projects/receipts/records/"


def make_record(document_type: DocumentType, *, reviewer: User | None = None, band: str = "auto") -> Record:
    document = factories.make_routed(document_type, band=band, is_selected=False)
    return Record.objects.create(
        project=document_type.project,
        document=document,
        revision=1,
        run=document.runs.get(),
        values={"/total": "9.00", "/date": None},
        provenance={"/total": {"source": "model", "confidence": 0.99}},
        reviewer=reviewer,
    )


def test_a_record_shows_its_values_and_where_each_came_from(cast: Cast, as_viewer: APIClient) -> None:
    record = make_record(cast.document_type)
    body = as_viewer.get(f"{RECORDS}{record.pk}/").json()
    assert body == as_viewer.get(RECORDS).json()["results"][0]
    assert body["document"] == record.document_id
    assert (body["revision"], body["is_current"], body["reviewer"]) == (1, True, None)
    assert body["values"] == {"/total": "9.00", "/date": None}
    assert body["provenance"]["/total"] == {"source": "model", "confidence": 0.99}
    assert (body["document_type"], body["status"], body["band"]) == ("receipt", "stored", "auto")


def test_the_list_has_what_is_in_force_and_an_id_finds_the_rest(cast: Cast, as_viewer: APIClient) -> None:
    record = make_record(cast.document_type)
    Record.objects.update(is_current=False)
    assert as_viewer.get(RECORDS).json()["results"] == []
    assert as_viewer.get(f"{RECORDS}{record.pk}/").json()["is_current"] is False


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"document_type": "invoice"}, "invoice"),
        ({"band": "sampled"}, "sampled"),
        ({"status": "review"}, "open"),
        ({"reviewer": "rui"}, "reviewed"),
        ({"created_before": "2020-02-01T00:00:00Z"}, "old"),
        ({"created_after": "2020-01-01T00:00:00Z", "created_before": "2020-01-01T00:00:01Z"}, "old"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,
)
def test_records_are_filtered(cast: Cast, as_viewer: APIClient, query: dict[str, str], expected: str) -> None:
    records = {
        "invoice": make_record(factories.make_document_type(cast.project, "invoice")),
        "sampled": make_record(cast.document_type, band="sampled"),
        "open": make_record(cast.document_type),
        "reviewed": make_record(cast.document_type, reviewer=cast.reviewer),
        "old": make_record(cast.document_type),
    }
    make_record(cast.other_document_type, band="sampled")
    Document.objects.filter(pk=records["open"].document_id).update(status="review")
    Record.objects.filter(pk=records["old"].pk).update(created_at=datetime(2020, 1, 1, tzinfo=UTC))
    found = as_viewer.get(RECORDS, query).json()["results"]
    assert [record["id"] for record in found] == [records[expected].pk]


@pytest.mark.parametrize("query", [{"status": "waiting"}, {"band": ""}, {"band": "x"}, {"since": "2020-01-01"}])
def test_a_filter_that_cannot_be_is_refused(cast: Cast, as_viewer: APIClient, query: dict[str, str]) -> None:
    assert as_viewer.get(RECORDS, query).status_code == (200 if query == {"band": ""} else 400)


def test_a_record_of_another_project_is_not_found(cast: Cast, as_viewer: APIClient) -> None:
    assert as_viewer.get(f"{RECORDS}{make_record(cast.other_document_type).pk}/").status_code == 404


@pytest.mark.parametrize("n_records", [1, 25])
def test_a_list_costs_as_many_queries_however_long_it_is(
    cast: Cast, as_viewer: APIClient, n_records: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(n_records):
        make_record(cast.document_type, reviewer=cast.reviewer)
    as_viewer.get(RECORDS)
    with django_assert_num_queries(3):
        assert len(as_viewer.get(RECORDS).json()["results"]) == n_records
