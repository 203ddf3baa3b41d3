"""What an export would hold, by state, before it is asked for: the same records that it then writes."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import Document, DocumentStatus, Record, ReviewTask, TaskState
from review.selectors.exports import export_counts, items_to_export
from tests import factories
from tests.conftest import Cast
from tests.review.labels import add_record

pytestmark = pytest.mark.django_db


def test_an_empty_project_would_write_nothing(cast: Cast) -> None:
    counts = export_counts(cast.project)
    assert (counts.n_records, counts.n_by_model, counts.n_by_people, counts.n_left_out) == (0, 0, 0, 0)


def test_the_count_is_that_of_what_is_written(cast: Cast) -> None:
    first = add_record(cast.document_type)
    add_record(cast.document_type, reviewer=cast.reviewer)
    Record.objects.filter(pk=first.pk).update(is_current=False)
    Record.objects.create(
        project=cast.project,
        document=first.document,
        revision=2,
        run=first.run,
        reviewer=cast.reviewer,
        values={},
        provenance={},
    )
    given_up = add_record(cast.document_type)
    ReviewTask.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        document=given_up.document,
        run=given_up.run,
        state=TaskState.UNUSABLE,
        finished_at=timezone.now(),
    )
    counts = export_counts(cast.project)
    written = [item for batch in items_to_export(cast.project, snapshot_at=timezone.now()) for item in batch]
    assert counts.n_records == len(written) == 2
    assert counts.n_by_people == 2


def test_since_counts_only_what_was_made_since(cast: Cast) -> None:
    old = add_record(cast.document_type)
    Record.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=9))
    add_record(cast.document_type)
    assert export_counts(cast.project).n_records == 2
    assert export_counts(cast.project, since=timezone.now() - timedelta(days=1)).n_records == 1


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (DocumentStatus.REVIEW, "n_in_review"),
        (DocumentStatus.RECEIVED, "n_on_their_way"),
        (DocumentStatus.PROCESSING, "n_on_their_way"),
        (DocumentStatus.UNREADABLE, "n_unreadable"),
    ],
)
def test_what_is_left_out_is_counted_by_why(cast: Cast, status: DocumentStatus, name: str) -> None:
    document = factories.make_document(cast.document_type, status=status)
    factories.make_document(cast.other_document_type, status=status)
    counts = export_counts(cast.project)
    assert (getattr(counts, name), counts.n_left_out) == (1, 1)
    factories.make_document(cast.document_type, status=status, duplicate_of=document)
    counts = export_counts(cast.project)
    assert (getattr(counts, name), counts.n_copies, counts.n_left_out) == (1, 1, 2)


def test_it_costs_the_same_queries_for_more_records(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        add_record(cast.document_type)
        with django_assert_num_queries(3):
            export_counts(cast.project)
    assert Document.objects.count() == 3
