"""Documents as people see them: the shown status, the list, everything known of one, how a batch ended."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from review.actions.intake import receive_document
from review.actions.recovery import beat, note_models
from review.models import Document, Page, Record
from review.selectors.access import SYSTEM, Actor
from review.selectors.documents import (
    Tally,
    copies_of,
    document_detail,
    documents_for,
    filter_by_status,
    has_content,
    shown_status,
    tally,
    unfinished_among,
)
from review.selectors.workers import worker_summary
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off
from tests.review.vlm import read_with_vlm

Counted = Callable[[int], Any]


def start_worker() -> None:
    beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())


def one_of_each(cast: Cast) -> dict[str, Document]:
    statuses = ("received", "processing", "review", "stored", "unreadable")
    return {status: factories.make_document(cast.document_type, status=status) for status in statuses}


@pytest.mark.parametrize("status", ["received", "processing"])
def test_an_unfinished_document_waits_while_no_worker_is_there(cast: Cast, status: str) -> None:
    document = factories.make_document(cast.document_type, status=status)
    assert shown_status(document) == "waiting"
    start_worker()
    assert shown_status(document) == status


@pytest.mark.parametrize("status", ["review", "stored", "unreadable"])
def test_a_finished_document_never_waits(cast: Cast, status: str, django_assert_num_queries: Counted) -> None:
    document = factories.make_document(cast.document_type, status=status)
    with django_assert_num_queries(0):
        assert shown_status(document) == status


def test_who_shows_many_asks_once(cast: Cast, django_assert_num_queries: Counted) -> None:
    document = factories.make_document(cast.document_type)
    absent = worker_summary()
    start_worker()
    present = worker_summary()
    with django_assert_num_queries(0):
        assert shown_status(document, workers=absent) == "waiting"
        assert shown_status(document, workers=present) == "received"


def test_a_document_waits_while_the_language_model_of_its_project_is_away(cast: Cast) -> None:
    version = read_with_vlm(cast.project)
    document = factories.make_document(cast.document_type, status="processing")
    other = factories.make_document(cast.other_document_type, status="processing")
    start_worker()
    assert shown_status(document) == "processing"
    note_models(name="w", errors={version.pk: "engine_unavailable"})
    assert [shown_status(one) for one in (document, other)] == ["waiting_for_model", "processing"]
    for status, found in (("waiting", [document]), ("processing", []), ("received", [])):
        assert list(filter_by_status(documents_for(cast.project), status)) == found
    assert list(filter_by_status(documents_for(cast.other_project), "processing")) == [other]
    assert list(filter_by_status(documents_for(cast.other_project), "waiting")) == []
    note_models(name="w", errors={})
    assert shown_status(document) == "processing"
    assert list(filter_by_status(documents_for(cast.project), "processing")) == [document]


def test_a_list_asks_for_no_project_row_by_row(cast: Cast, django_assert_num_queries: Counted) -> None:
    one_of_each(cast)
    workers = worker_summary()
    with django_assert_num_queries(1):
        assert {shown_status(one, workers=workers) for one in documents_for(cast.project)} >= {"waiting", "stored"}


@pytest.mark.parametrize(
    ("has_worker", "status", "shown"),
    [
        (False, "waiting", {"received", "processing"}),
        (False, "received", set()),
        (False, "processing", set()),
        (False, "stored", {"stored"}),
        (True, "waiting", set()),
        (True, "received", {"received"}),
        (True, "processing", {"processing"}),
        (True, "review", {"review"}),
        (True, "unreadable", {"unreadable"}),
    ],
)
def test_the_filter_agrees_with_what_is_shown(cast: Cast, has_worker: bool, status: str, shown: set[str]) -> None:
    one_of_each(cast)
    if has_worker:
        start_worker()
    found = filter_by_status(documents_for(cast.project), status)
    assert {document.status for document in found} == shown
    assert {shown_status(document) for document in found} <= {status}


def test_a_status_that_does_not_exist_is_refused(cast: Cast) -> None:
    with pytest.raises(ValueError, match="nonsense"):
        filter_by_status(documents_for(cast.project), "nonsense")


def test_the_list_is_newest_first_and_of_one_project(cast: Cast) -> None:
    ours = list(one_of_each(cast).values())
    factories.make_document(cast.other_document_type)
    assert list(documents_for(cast.project)) == ours[::-1]


def test_the_list_costs_one_query(cast: Cast, django_assert_num_queries: Counted) -> None:
    for _ in range(5):
        factories.make_document(cast.document_type, uploaded_by=cast.reviewer)
    with django_assert_num_queries(1):
        shown = [
            (document.document_type.slug, document.uploaded_by and document.uploaded_by.username)
            for document in documents_for(cast.project)
        ]
    assert shown == [("receipt", "rui")] * 5


def read_one(cast: Cast) -> Document:
    document = receive_document(
        actor=Actor(cast.reviewer),
        project=cast.project,
        document_type=cast.document_type,
        file=ContentFile(picture()),
        filename="scan.jpg",
    ).document
    work_off()
    return Document.objects.get(pk=document.pk)


def test_the_detail_shows_each_field_with_evidence_band_and_provenance(cast: Cast, script: Script) -> None:
    detail = document_detail(read_one(cast))
    total = next(field for field in detail.fields if field.path == "/total")
    assert [field.path for field in detail.fields] == ["/company", "/date", "/total"]
    assert (total.value, total.accepted, total.raw_text, total.value_type) == ("9.00", "9.00", "9.00", "amount")
    assert (total.labels["zh"], total.is_required, total.page_number) == ("合计", True, 1)
    assert total.confidence is not None
    assert total.evidence
    assert total.band in ("auto", "sampled")
    assert total.bbox == (0.7, 0.6, 0.8, 0.63)
    assert total.provenance is not None
    assert total.provenance["source"] == "model"
    assert detail.status == "stored"
    assert [page.page_number for page in detail.pages] == [1]
    assert detail.record == Record.objects.get()
    assert detail.decision is not None
    assert detail.decision.policy == cast.document_type.policies.get()


def test_the_history_tells_who_did_what_newest_first(cast: Cast, script: Script) -> None:
    history = document_detail(read_one(cast)).history
    assert [entry.action for entry in history] == [
        "document.routed",
        "document.page_read",
        "document.opened",
        "document.received",
    ]
    assert [entry.actor_label for entry in history] == ["system", "system", "system", "rui"]


def test_a_copy_shows_what_the_first_document_has(cast: Cast, script: Script) -> None:
    read_one(cast)
    copy = receive_document(
        actor=SYSTEM,
        project=cast.project,
        document_type=cast.document_type,
        file=ContentFile(picture()),
        filename="again.jpg",
    ).document
    detail = document_detail(copy)
    assert detail.document == copy
    assert [field.accepted for field in detail.fields][-1] == "9.00"
    assert list(detail.pages) == list(Page.objects.all())


def test_a_document_that_is_not_opened_yet_has_a_detail_too(cast: Cast) -> None:
    detail = document_detail(factories.make_document(cast.document_type))
    assert (detail.status, detail.pages, detail.run, detail.decision) == ("waiting", (), None, None)
    assert (detail.fields, detail.record) == ((), None)


def test_a_detail_costs_a_constant_number_of_queries(
    cast: Cast, script: Script, django_assert_max_num_queries: Counted
) -> None:
    document = read_one(cast)
    with django_assert_max_num_queries(8):
        document_detail(document)


def test_a_batch_is_counted_by_how_it_ended(cast: Cast) -> None:
    bands = [("stored", "auto"), ("stored", "auto"), ("stored", "sampled"), ("review", "review"), ("unreadable", "")]
    bands += [("received", ""), ("processing", "")]
    ids = [
        factories.make_document(cast.document_type, status=status, band=band, n_pages=2).pk for status, band in bands
    ]
    factories.make_document(cast.document_type, status="stored", band="auto")
    assert tally(ids) == Tally(n_pages=14, stored=2, sampled=1, review=1, failed=1, unfinished=2)
    assert unfinished_among(ids) == set(ids[-2:])


def test_an_unusable_document_has_failed_whatever_its_band_was(cast: Cast) -> None:
    document = factories.make_document(cast.document_type, status="unreadable", band="review")
    assert tally([document.pk]).failed == 1


def test_a_large_batch_is_counted_in_parts(cast: Cast, django_assert_num_queries: Counted) -> None:
    ids = list(range(1, 1201))
    with django_assert_num_queries(3):
        assert tally(ids).n_pages == 0


def test_content_is_known_in_its_project_only(cast: Cast) -> None:
    document = factories.make_document(cast.document_type)
    assert has_content(cast.project, document.sha256)
    assert not has_content(cast.other_project, document.sha256)


def test_copies_are_those_that_were_read(cast: Cast) -> None:
    first = factories.make_document(cast.document_type, sha256="a" * 64)
    factories.make_document(cast.document_type, sha256="a" * 64, duplicate_of=first)
    factories.make_document(cast.document_type, sha256="a" * 64, status="unreadable")
    assert list(copies_of(cast.project, "a" * 64)) == [first]


@pytest.mark.sqlite
def test_copies_are_looked_up_by_content_not_walked_through(cast: Cast) -> None:
    assert "document_by_content" in copies_of(cast.project, "a" * 64).explain()
