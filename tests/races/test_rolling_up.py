"""Several processes roll up at the same time, while reviewers go on."""

import threading
from collections.abc import Callable

import pytest
from django.db import connections

from review.actions.accuracy import rebuild_rollups, roll_up_reviews
from review.models import AccuracyRollup, FieldReview, ThroughputRollup
from review.selectors.access import SYSTEM
from tests import factories
from tests.review.labels import add_decision, add_labels, mixed_labels

N_THREADS = 4


def together(*works: Callable[[], object]) -> list[object]:
    """Do all works at the same moment, each in a thread with a connection of its own; return what they return."""
    start, results, errors = threading.Barrier(len(works)), [], []

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait()
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert errors == []
    return results


@pytest.mark.django_db(transaction=True)
def test_each_label_is_added_once_by_many_at_a_time() -> None:
    document_type = factories.make_document_type(factories.make_project())
    add_labels(document_type, mixed_labels(400))
    for _ in range(10):
        add_decision(document_type, is_selected=False)
    counts = together(*[lambda: roll_up_reviews(limit=25)] * N_THREADS)
    assert sum(int(str(count)) for count in counts) == 410
    assert sum(AccuracyRollup.objects.filter(day=None, population="reader").values_list("n", flat=True)) == 400
    assert ThroughputRollup.objects.get().n_documents == 10
    assert rebuild_rollups(actor=SYSTEM, project=document_type.project) == []


@pytest.mark.django_db(transaction=True)
def test_projects_in_any_order_do_not_lock_each_other_out() -> None:
    types = [factories.make_document_type(factories.make_project()) for _ in range(3)]
    for document_type in types:
        add_labels(document_type, mixed_labels(60))
    counts = together(*[lambda: roll_up_reviews(limit=10)] * N_THREADS)
    assert sum(int(str(count)) for count in counts) == 180
    for document_type in types:
        assert rebuild_rollups(actor=SYSTEM, project=document_type.project) == []


@pytest.mark.django_db(transaction=True)
def test_labels_that_come_meanwhile_and_a_rebuild_are_counted_once() -> None:
    document_type = factories.make_document_type(factories.make_project())
    add_labels(document_type, mixed_labels(200))

    def review() -> None:
        for _ in range(5):
            add_labels(document_type, mixed_labels(10))

    together(
        review,
        lambda: roll_up_reviews(limit=20),
        lambda: roll_up_reviews(limit=30),
        lambda: rebuild_rollups(actor=SYSTEM, project=document_type.project),
    )
    roll_up_reviews()
    assert not FieldReview.objects.filter(is_rolled_up=False).exists()
    assert sum(AccuracyRollup.objects.filter(day=None, population="reader").values_list("n", flat=True)) == 250
    assert rebuild_rollups(actor=SYSTEM, project=document_type.project) == []
