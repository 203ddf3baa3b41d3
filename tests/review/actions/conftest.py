"""Tasks of a reviewer's desk (an open one, its lease, one that will be looked at twice), and a process that is gone."""

import subprocess
import sys

import pytest

from review.actions._claims import process_mark
from review.actions.leasing import Lease, lease_task
from review.models import ReviewTask
from tests.conftest import Cast
from tests.review.actions.review_room import actor, make_open_task
from tests.review.actions.second_room import draw_all, make_first_task


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    """Open, for anybody to take."""
    return make_open_task(cast.document_type)


@pytest.fixture
def lease(cast: Cast, task: ReviewTask) -> Lease:
    """That task, held by the reviewer."""
    return lease_task(actor=actor(cast.reviewer), task=task)


@pytest.fixture
def drawn(cast: Cast) -> ReviewTask:
    """Open, and the draw of a second review falls on it."""
    draw_all(cast)
    return make_first_task(cast)


@pytest.fixture(scope="package")
def dead_mark() -> str:
    """The mark of a process of this host that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return process_mark(child.pid)
