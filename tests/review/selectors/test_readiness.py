"""Checks that fail one by one, and a load that is counted cheaply."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from review.actions.leasing import lease_next_task
from review.models import ReviewTask, ThroughputRollup
from review.selectors.access import Actor
from review.selectors.readiness import Check, load, readiness
from tests import factories
from tests.conftest import Cast


def test_a_check_is_well_when_it_has_nothing_to_say() -> None:
    assert Check("storage").is_ok
    assert not Check("storage", "storage_failed").is_ok


def test_every_check_is_made_in_one_order(db: None) -> None:
    assert [check.name for check in readiness()] == ["database", "storage", "worker", "engine"]


def test_an_idle_installation_has_no_load(db: None) -> None:
    found = load()
    assert (found.n_documents_unfinished, found.n_tasks_open, found.n_tasks_held, found.n_queued) == (0, 0, 0, 0)
    assert (found.oldest_queued_seconds, found.n_clusters, found.n_documents_routed) == (0.0, 0, 0)
    assert found.documents_by_band == {"auto": 0, "sampled": 0, "review": 0}


def test_the_load_adds_up_over_projects(cast: Cast) -> None:
    for document_type in (cast.document_type, cast.other_document_type):
        factories.make_document(document_type)
        factories.make_routed(document_type)
        ThroughputRollup.objects.create(
            project=document_type.project,
            document_type=document_type,
            day=timezone.localdate(),
            n_documents=10,
            n_pages=12,
            n_auto=6,
            n_sampled=3,
            n_review=1,
        )
    found = load()
    assert (found.n_documents_unfinished, found.n_tasks_open) == (2, 2)
    assert (found.n_documents_routed, found.n_pages_routed) == (20, 24)
    assert found.documents_by_band == {"auto": 12, "sampled": 6, "review": 2}


def test_a_lapsed_lease_holds_nothing(cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    lease_next_task(actor=Actor(cast.reviewer), project=cast.project)
    assert load().n_tasks_held == 1
    ReviewTask.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert load().n_tasks_held == 0


def test_the_oldest_task_in_the_queue_has_an_age(db: None) -> None:
    OrmQ.objects.create(key="stet", payload="", lock=timezone.now() - timedelta(seconds=90))
    found = load()
    assert found.n_queued == 1
    assert found.oldest_queued_seconds == pytest.approx(90, abs=30)
