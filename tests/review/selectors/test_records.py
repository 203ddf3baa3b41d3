from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.actions._records import store_record
from review.models import Document, DocumentStatus, Record
from review.selectors.records import current_record, record_history, records_for
from tests import factories
from tests.conftest import Cast


def make_record(document: Document, **values: Any) -> Record:
    return store_record(document, run=document.runs.get(), values={"/total": "9.00"}, provenance={}, **values)


@pytest.fixture
def auto(cast: Cast) -> Record:
    return make_record(factories.make_routed(cast.document_type, band="auto", is_selected=False))


@pytest.fixture
def reviewed(cast: Cast) -> Record:
    return make_record(factories.make_routed(cast.document_type), reviewer=cast.reviewer)


def test_records_are_listed_newest_first_for_their_project_only(cast: Cast, auto: Record, reviewed: Record) -> None:
    make_record(factories.make_routed(cast.other_document_type))
    assert list(records_for(cast.project)) == [reviewed, auto]


def test_only_the_current_revision_counts(cast: Cast, auto: Record) -> None:
    second = make_record(auto.document, reviewer=cast.reviewer)
    assert list(records_for(cast.project)) == [second]
    assert (second.revision, Record.objects.get(pk=auto.pk).is_current) == (2, False)
    assert list(record_history(auto.document)) == [second, auto]
    assert current_record(auto.document) == second


def test_records_are_filtered_by_type_band_status_and_reviewer(cast: Cast, auto: Record, reviewed: Record) -> None:
    other_type = factories.make_document_type(cast.project, "slip")
    assert list(records_for(cast.project, document_type=other_type)) == []
    assert list(records_for(cast.project, document_type=cast.document_type)) == [reviewed, auto]
    assert list(records_for(cast.project, band="auto")) == [auto]
    assert list(records_for(cast.project, status=DocumentStatus.REVIEW)) == [reviewed]
    assert list(records_for(cast.project, reviewer="rui")) == [reviewed]
    assert list(records_for(cast.project, reviewer="mia")) == []
    assert list(records_for(cast.project, band="review", reviewer="rui")) == [reviewed]


def test_times_bound_the_revision_with_its_first_moment_only(cast: Cast, auto: Record, reviewed: Record) -> None:
    noon = timezone.now()
    Record.objects.filter(pk=auto.pk).update(created_at=noon)
    Record.objects.filter(pk=reviewed.pk).update(created_at=noon + timedelta(hours=1))
    assert list(records_for(cast.project, created_from=noon)) == [reviewed, auto]
    assert list(records_for(cast.project, created_before=noon + timedelta(hours=1))) == [auto]
    assert list(records_for(cast.project, created_from=noon + timedelta(seconds=1))) == [reviewed]


def test_a_duplicate_has_the_record_of_its_original(cast: Cast, auto: Record) -> None:
    duplicate = factories.make_document(cast.document_type, duplicate_of=auto.document)
    assert current_record(duplicate) == auto
    assert list(record_history(duplicate)) == [auto]


def test_a_document_without_a_record_has_none(cast: Cast) -> None:
    document = factories.make_document(cast.document_type)
    assert current_record(document) is None
    assert not record_history(document).exists()


def test_a_page_of_records_with_their_documents_is_one_query(
    cast: Cast, auto: Record, reviewed: Record, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        labels = [
            (record.document.filename, record.document.document_type.slug, record.reviewer)
            for record in records_for(cast.project)
        ]
    assert len(labels) == 2
