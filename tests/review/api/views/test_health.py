"""Alive, ready, and how much there is to do, told to anybody without a word about anybody's documents."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage, default_storage
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import ThroughputRollup, WorkerHeartbeat
from tests import factories
from tests.conftest import Cast


def beat(*, engine_error: str = "", ago: timedelta = timedelta()) -> None:
    moment = timezone.now() - ago
    WorkerHeartbeat.objects.create(
        name=f"w{WorkerHeartbeat.objects.count()}",
        n_workers=2,
        engine_name="rapidocr",
        engine_error=engine_error,
        started_at=moment,
        seen_at=moment,
    )


def ready() -> tuple[int, dict[str, str]]:
    answer = Client().get("/readyz")
    checks = answer.json()["checks"]
    assert all(check["is_ok"] is (check["code"] == "") for check in checks.values())
    return answer.status_code, {name: check["code"] for name, check in checks.items()}


def test_alive_needs_nothing_else(django_assert_num_queries: DjangoAssertNumQueries, db: None) -> None:
    with django_assert_num_queries(0):
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-cache" in answer["Cache-Control"]


def test_ready_is_when_everything_is(db: None) -> None:
    beat()
    assert ready() == (200, {"database": "", "storage": "", "worker": "", "engine": ""})
    assert Client().get("/readyz").json()["status"] == "ready"


def test_the_probe_of_the_storage_leaves_nothing_behind(db: None) -> None:
    ready()
    assert default_storage.listdir("probes")[1] == []


def test_without_a_worker_it_is_not_ready(db: None) -> None:
    beat(ago=timedelta(minutes=5))
    assert ready() == (503, {"database": "", "storage": "", "worker": "no_worker", "engine": "no_worker"})


def test_without_an_engine_it_is_not_ready(db: None) -> None:
    beat(engine_error="engine_unavailable")
    status, checks = ready()
    assert (status, checks["worker"], checks["engine"]) == (503, "", "engine_unavailable")


def test_a_language_model_that_nobody_can_ask_is_named(db: None) -> None:
    beat()
    WorkerHeartbeat.objects.update(model_errors={"7": "version_not_served"})
    status, checks = ready()
    assert (status, checks["worker"], checks["engine"]) == (503, "", "version_not_served")


def test_one_worker_with_an_engine_is_enough(db: None) -> None:
    beat(engine_error="engine_unavailable")
    beat()
    assert ready()[0] == 200


def test_a_full_storage_is_seen_and_hides_nothing_else(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> str:
        raise OSError(28, "No space left on device")

    beat()
    with monkeypatch.context() as patched:
        patched.setattr(FileSystemStorage, "save", full)
        found = ready()
    assert found == (503, {"database": "", "storage": "storage_failed", "worker": "", "engine": ""})


def test_a_lost_database_is_an_answer_too(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost:
        def cursor(self) -> None:
            raise ConnectionError

    beat()
    monkeypatch.setattr("review.selectors.readiness.connection", Lost())
    assert ready() == (503, {"database": "database_failed", "storage": "", "worker": "", "engine": ""})


def test_the_load_is_told_in_numbers(cast: Cast) -> None:
    beat()
    factories.make_document(cast.document_type)
    factories.make_routed(cast.document_type)
    ThroughputRollup.objects.create(
        project=cast.project, document_type=cast.document_type, day=timezone.localdate(), n_pages=7, n_auto=3
    )
    text = Client().get("/metrics").content.decode()
    for line in (
        "stet_documents_unfinished 1.0",
        "stet_review_tasks_open 1.0",
        "stet_review_tasks_held 0.0",
        "stet_workers 2.0",
        "stet_pages_routed_total 7.0",
        "stet_pages_near_duplicate_total 0.0",
        'stet_documents_routed_total{band="auto"} 3.0',
    ):
        assert line in text.splitlines()
    assert cast.project.slug not in text
    assert cast.project.tenant.name not in text


@pytest.mark.parametrize("n_documents", [0, 20])
def test_the_load_costs_as_many_queries_however_much_there_is(
    cast: Cast, n_documents: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(n_documents):
        factories.make_routed(cast.document_type)
    with django_assert_num_queries(8):
        assert Client().get("/metrics").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/api/v1/schema/"])
def test_probes_only_ask(db: None, path: str) -> None:
    assert Client().post(path).status_code == 405
    assert Client().head(path).content == b""
