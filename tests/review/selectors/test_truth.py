from django.db import connection
from django.test.utils import CaptureQueriesContext

from review.models import Document, GroundTruth, Record, TruthOrigin
from review.selectors.truth import reviewed_documents, truths_of
from tests.conftest import Cast
from tests.factories import make_routed


def reviewed(cast: Cast, **sources: dict[str, str]) -> Document:
    document = make_routed(cast.document_type)
    Record.objects.create(
        project=cast.project,
        document=document,
        revision=1,
        run=document.runs.get(),
        reviewer=cast.reviewer if any(one["source"] == "person" for one in sources.values()) else None,
        values={"/total": "9.00", "/date": None, "/company": "X"},
        provenance={f"/{name}": source for name, source in sources.items()},
    )
    return document


PERSON = {"source": "person", "verdict": "confirmed"}


def test_what_a_person_said_is_known_also_that_the_page_shows_nothing(cast: Cast) -> None:
    document = reviewed(cast, total=PERSON, date=PERSON, company={"source": "model"})
    assert truths_of([document.pk]) == {document.pk: {"/total": "9.00", "/date": None}}


def test_what_nobody_could_read_is_not_known(cast: Cast) -> None:
    document = reviewed(cast, total={"source": "person", "verdict": "illegible"})
    assert truths_of([document.pk]) == {}


def test_an_agreed_value_comes_before_what_one_person_said(cast: Cast) -> None:
    document = reviewed(cast, total=PERSON)
    task = document.review_tasks.get()
    GroundTruth.objects.create(
        project=cast.project, document=document, field_path="/total", value="9.10", origin=TruthOrigin.AGREED, task=task
    )
    assert truths_of([document.pk]) == {document.pk: {"/total": "9.10"}}


def test_an_earlier_revision_does_not_count(cast: Cast) -> None:
    document = reviewed(cast, total=PERSON)
    Record.objects.update(is_current=False)
    assert truths_of([document.pk]) == {}
    assert list(reviewed_documents(cast.document_type)) == []


def test_reviewed_documents_are_those_that_a_person_stands_behind_newest_first(cast: Cast) -> None:
    documents = [reviewed(cast, total=PERSON) for _ in range(2)]
    reviewed(cast, total={"source": "model"})
    make_routed(cast.document_type)
    assert list(reviewed_documents(cast.document_type)) == documents[::-1]


def test_many_documents_cost_two_queries(cast: Cast) -> None:
    ids = [reviewed(cast, total=PERSON).pk for _ in range(4)]
    with CaptureQueriesContext(connection) as queries:
        assert len(truths_of(ids)) == 4
    assert len(queries) == 2
