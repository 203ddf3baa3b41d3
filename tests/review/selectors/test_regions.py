"""What waits to be read again, and whose it is."""

import pytest

from review.models import RegionReading, RegionState, ReviewTask
from review.selectors.regions import holds, n_unfinished_regions, page_of, region_to_read
from tests.conftest import Cast
from tests.review.actions.review_room import make_open_task


def mark(task: ReviewTask, state: str = RegionState.QUEUED) -> RegionReading:
    page = task.document.pages.get()
    return RegionReading.objects.create(task=task, page=page, bbox=[0, 0, 1, 1], field_path="/total", state=state)


@pytest.mark.parametrize(
    ("state", "is_there"),
    [(RegionState.QUEUED, True), (RegionState.READING, False), (RegionState.DONE, False), (RegionState.FAILED, False)],
)
def test_only_what_waits_is_to_be_read(cast: Cast, state: str, is_there: bool) -> None:
    region = mark(make_open_task(cast.document_type), state)
    assert (region_to_read(region.pk) is not None) is is_there


def test_what_reading_takes_comes_with_it(cast: Cast) -> None:
    found = region_to_read(mark(make_open_task(cast.document_type)).pk)
    assert found is not None
    assert found.task.document.project == cast.project
    assert found.task.run.schema_version.number == 1


def test_unfinished_regions_of_the_task_are_counted(cast: Cast) -> None:
    task, other = make_open_task(cast.document_type), make_open_task(cast.document_type)
    for state in RegionState:
        mark(task, state)
    mark(other)
    assert (n_unfinished_regions(task), n_unfinished_regions(other)) == (2, 1)


def test_pages_are_those_of_the_document(cast: Cast) -> None:
    task = make_open_task(cast.document_type)
    make_open_task(cast.document_type)
    assert page_of(task, 1) == task.document.pages.get()
    assert page_of(task, 2) is None


def test_a_finished_task_is_held_by_nobody(cast: Cast) -> None:
    task = make_open_task(cast.document_type)
    assert not holds(task, cast.reviewer)
    ReviewTask.objects.filter(pk=task.pk).update(lease_holder=cast.reviewer)
    assert holds(task, cast.reviewer)
    ReviewTask.objects.filter(pk=task.pk).update(state="done")
    assert not holds(task, cast.reviewer)
