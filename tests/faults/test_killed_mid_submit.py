"""The web process dies (kill -9) while a submit is being written."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from review.actions.leasing import Lease, lease_next_task, lease_task
from review.actions.saving import save_field
from review.actions.submitting import FieldVerdict, submit_task
from review.models import (
    AuditEntry,
    Document,
    DocumentStatus,
    Event,
    FieldEdit,
    FieldReview,
    Project,
    Record,
    ReviewTask,
    Role,
    TaskState,
    User,
)
from tests import factories
from tests.review.actions.review_room import actor, let_lease_lapse, make_open_task

ROOT = Path(__file__).resolve().parents[2]


def database_url() -> str:
    """The test database, as another process reaches it."""
    parts = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{parts['NAME']}"
    password = f":{parts['PASSWORD']}" if parts["PASSWORD"] else ""
    return f"postgres://{parts['USER']}{password}@{parts['HOST']}:{parts['PORT'] or 5432}/{parts['NAME']}"


@contextmanager
def killed_inside_the_transaction(lease: Lease, data_dir: Path) -> Iterator[None]:
    """A process that has written a submit and is killed before it commits."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.submit_and_pause", str(lease.task.pk), lease.token],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url(), "STET_DATA_DIR": str(data_dir)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "inside\n"
        yield
    finally:
        child.kill()
        child.wait(timeout=30)
        child.stdout.close()
    assert child.returncode == -9


@pytest.fixture
def project(transactional_db: None) -> Project:
    return factories.make_project()


@pytest.fixture
def reviewer(project: Project) -> User:
    return factories.make_member(project, Role.REVIEWER)


@pytest.fixture
def lease(project: Project, reviewer: User) -> Lease:
    task = make_open_task(factories.make_document_type(project))
    lease = lease_task(actor=actor(reviewer), task=task)
    save_field(
        actor=actor(reviewer),
        task=task,
        lease_token=lease.token,
        field_path="/total",
        verdict="corrected",
        value="8.00",
        base_version=0,
    )
    return lease


def test_a_submit_that_was_killed_leaves_the_task_open_with_every_edit(
    lease: Lease, reviewer: User, tmp_path: Path
) -> None:
    with killed_inside_the_transaction(lease, tmp_path):
        pass
    task = ReviewTask.objects.get()
    assert (task.state, task.lease_token, task.lease_holder) == (TaskState.OPEN, lease.token, reviewer)
    assert list(FieldEdit.objects.values_list("field_path", "version", "value")) == [("/total", 1, "8.00")]
    assert not Record.objects.exists()
    assert not FieldReview.objects.exists()
    assert Document.objects.get().status == DocumentStatus.REVIEW
    assert not AuditEntry.objects.filter(action="review_task.submitted").exists()
    assert not Event.objects.filter(name="document.reviewed").exists()


def test_after_the_restart_the_same_submit_works_exactly_once(lease: Lease, reviewer: User, tmp_path: Path) -> None:
    with killed_inside_the_transaction(lease, tmp_path):
        pass
    for _ in range(2):
        record = submit_task(
            actor=actor(reviewer),
            task=lease.task,
            lease_token=lease.token,
            verdicts=[FieldVerdict("/company", "corrected", "A shop")],
        )
        assert (record.revision, record.values["/total"], record.values["/company"]) == (1, "8.00", "A shop")
    assert (Record.objects.count(), FieldReview.objects.count()) == (1, 2)
    assert AuditEntry.objects.filter(action="review_task.submitted").count() == 1
    assert Document.objects.get().status == DocumentStatus.STORED


def test_nothing_of_a_submit_is_seen_before_it_is_whole(lease: Lease, tmp_path: Path) -> None:
    with killed_inside_the_transaction(lease, tmp_path):
        assert ReviewTask.objects.get().state == TaskState.OPEN
        assert not Record.objects.exists()
        assert not FieldReview.objects.exists()


def test_another_reviewer_can_finish_what_the_dead_process_held(project: Project, lease: Lease, tmp_path: Path) -> None:
    with killed_inside_the_transaction(lease, tmp_path):
        pass
    let_lease_lapse(lease.task)
    other = factories.make_member(project, Role.REVIEWER)
    taken = lease_next_task(actor=actor(other), project=project)
    assert taken is not None
    record = submit_task(actor=actor(other), task=taken.task, lease_token=taken.token, verdicts=[])
    assert (record.values["/total"], record.reviewer) == ("8.00", other)
