"""A marked region is read by a worker: from the original, as a value of its field, always to an end."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.core.files.base import ContentFile
from PIL import Image
from pytest_django import Settings

from inference.errors import EngineUnavailableError
from inference.imaging.hashing import content_hash
from inference.imaging.regions import MARGIN, region_image
from inference.types import BBox, FieldSpec, PageImage, PageReading, ValueType, Word
from review import tasks_engines, tasks_regions
from review.actions.leasing import lease_task
from review.actions.regions import request_region
from review.models import RegionReading, RegionState, ReviewTask
from review.tasks import TaskFailedError, sweep
from review.tasks_regions import read_region, value_in, warm_up, whole_words
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off
from tests.review.vlm import SPEC, read_with_vlm


def word(text: str, y0: float, y1: float) -> Word:
    return Word(text, BBox(0.1, y0, 0.9, y1), 0.9)


def spec(value_type: ValueType, locale: str = "en-MY") -> FieldSpec:
    return FieldSpec(path="/x", value_type=value_type, locale=locale)


class Eye:
    """An engine that keeps what it was shown, and reads two words."""

    name, version = "eye", {"engine": "eye"}

    def __init__(self) -> None:
        self.seen: list[PageImage] = []

    def read_page(self, page: PageImage) -> PageReading:
        self.seen.append(page)
        return PageReading(*page.size, (word("RM", 0.4, 0.6), word("9.00", 0.4, 0.6)), 0.0)


@pytest.fixture
def eye(monkeypatch: pytest.MonkeyPatch) -> Eye:
    eye = Eye()
    monkeypatch.setattr(tasks_engines, "engine_for", lambda name: eye)
    return eye


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    """Held by the reviewer; its page was read from a larger original."""
    large = picture(size=(1800, 2400))
    document = factories.make_routed(cast.document_type, original=ContentFile(large, name="large.jpg"))
    page = document.pages.get()
    page.width, page.height = 1200, 1600
    buffer = io.BytesIO()
    Image.open(io.BytesIO(large)).resize((1200, 1600)).save(buffer, "JPEG")
    page.image.save("page.jpg", ContentFile(buffer.getvalue()))
    return lease_task(actor=actor(cast.reviewer), task=document.review_tasks.get()).task


def ask(cast: Cast, task: ReviewTask, **values: Any) -> RegionReading:
    asked = {"page_number": 1, "bbox": (0.25, 0.25, 0.5, 0.5), "field_path": "/total", **values}
    return request_region(actor=actor(cast.reviewer), task=task, **asked)


def test_a_region_is_read_as_a_value_of_its_field(cast: Cast, task: ReviewTask, eye: Eye) -> None:
    region = ask(cast, task)
    assert work_off() == [("read_region", region.pk)]
    region.refresh_from_db()
    assert (region.state, region.text, region.value) == (RegionState.DONE, "RM 9.00", "9.00")


def test_a_text_that_is_no_value_is_offered_as_it_stands(cast: Cast, task: ReviewTask, eye: Eye) -> None:
    region = ask(cast, task, field_path="/date")
    read_region(region.pk)
    region.refresh_from_db()
    assert (region.state, region.text, region.value) == (RegionState.DONE, "RM 9.00", None)


def test_the_original_is_looked_at_where_it_has_more_pixels(cast: Cast, task: ReviewTask, eye: Eye) -> None:
    read_region(ask(cast, task).pk)
    (seen,) = eye.seen
    # A quarter of 1800 × 2400, as if the page were 3200 long.
    assert (seen.size[0] - 2 * MARGIN, seen.size[1] - 2 * MARGIN) == (600, 800)


@pytest.mark.parametrize("damage", ["lost", "damaged"])
def test_without_its_original_the_page_is_looked_at(cast: Cast, task: ReviewTask, eye: Eye, damage: str) -> None:
    original = task.document.original
    original.storage.delete(str(original.name))
    if damage == "damaged":
        original.storage.save(str(original.name), ContentFile(b"no picture"))
    region = ask(cast, task)
    read_region(region.pk)
    region.refresh_from_db()
    assert region.state == RegionState.DONE
    assert (eye.seen[0].size[0] - 2 * MARGIN, eye.seen[0].size[1] - 2 * MARGIN) == (600, 800)


def test_a_region_delivered_twice_is_read_once(cast: Cast, task: ReviewTask, eye: Eye) -> None:
    region = ask(cast, task)
    for _ in range(3):
        read_region(region.pk)
    assert len(eye.seen) == 1


def test_an_engine_that_fails_ends_the_region(cast: Cast, task: ReviewTask, script: Script) -> None:
    script(default={"fault": "engine_failed"})
    region = ask(cast, task)
    read_region(region.pk)
    region.refresh_from_db()
    assert (region.state, region.error_code) == (RegionState.FAILED, "engine_failed")


def test_an_engine_that_cannot_be_had_ends_it_too(
    cast: Cast, task: ReviewTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise EngineUnavailableError("absent")

    monkeypatch.setattr(tasks_engines, "engine_for", absent)
    region = ask(cast, task)
    read_region(region.pk)
    region.refresh_from_db()
    assert (region.state, region.error_code) == (RegionState.FAILED, EngineUnavailableError.code)


def test_an_unforeseen_error_ends_it_and_its_message_goes_nowhere(
    cast: Cast, task: ReviewTask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("SECRET")

    monkeypatch.setattr(tasks_engines, "engine_for", broken)
    region = ask(cast, task)
    with pytest.raises(TaskFailedError) as caught:
        read_region(region.pk)
    assert "SECRET" not in str(caught.value) + caplog.text
    region.refresh_from_db()
    assert (region.state, region.error_code) == (RegionState.FAILED, "engine_failed")


def test_the_projects_own_engine_reads(
    cast: Cast, task: ReviewTask, eye: Eye, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    asked: list[str] = []

    def engine_for(name: str) -> Eye:
        asked.append(name)
        return eye

    monkeypatch.setattr(tasks_engines, "engine_for", engine_for)
    settings.STET_ENGINE = "of the house"
    read_region(ask(cast, task).pk)
    cast.project.engine_name = "of the project"
    cast.project.save()
    read_region(ask(cast, task).pk)
    read_with_vlm(cast.project, replace(SPEC, words_by="beside the model"))
    read_region(ask(cast, task).pk)
    assert asked == ["of the house", "of the project", "beside the model"]


def test_the_engine_of_the_house_is_loaded_before_anybody_asks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(tasks_regions, "engine_for", loaded.append)
    settings.STET_ENGINE = "of the house"
    warm_up()
    assert loaded == ["of the house"]


def test_an_engine_that_cannot_be_had_stops_no_worker(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.STET_ENGINE = "nobody's"
    warm_up()
    assert "no engine for the desk" in caplog.text


def test_a_script_can_answer_for_a_region(cast: Cast, task: ReviewTask, script: Script) -> None:
    """What browser tests lean on: the picture that is shown follows from original and box alone."""
    box = BBox(0.25, 0.25, 0.5, 0.5)
    with task.document.original.open() as file, Image.open(file) as image:
        pixels = PageImage(np.asarray(image.convert("RGB"), dtype=np.uint8), 1)
    digest = content_hash(region_image(pixels, box))
    script(pages={digest: {"words": [["12.50", 0.1, 0.4, 0.9, 0.6, 0.9]]}})
    region = ask(cast, task, bbox=tuple(box))
    read_region(region.pk)
    region.refresh_from_db()
    assert (region.text, region.value) == ("12.50", "12.50")


def test_the_sweep_gives_up_what_nobody_reads(cast: Cast, task: ReviewTask, script: Script) -> None:
    region = ask(cast, task)
    sweep()
    region.refresh_from_db()
    assert region.state == RegionState.QUEUED
    RegionReading.objects.update(created_at="2020-01-01T00:00:00Z")
    sweep()
    region.refresh_from_db()
    assert (region.state, region.error_code) == (RegionState.FAILED, "gave_up")


@pytest.mark.parametrize(
    ("text", "value_type", "value"),
    [
        ("9.00", ValueType.AMOUNT, "9.00"),
        ("TOTAL RM 9.00", ValueType.AMOUNT, "9.00"),
        ("Date: 25/12/2018 10:30", ValueType.DATE, "2018-12-25"),
        ("BOOK TA K", ValueType.NAME, "BOOK TA K"),
        ("nothing here", ValueType.AMOUNT, None),
        ("", ValueType.AMOUNT, None),
        ("", ValueType.DATE, None),
    ],
)
def test_a_value_is_the_text_or_what_stands_in_it(text: str, value_type: ValueType, value: str | None) -> None:
    assert value_in(text, spec(value_type)) == value


def test_slivers_of_the_lines_above_and_below_are_left_out() -> None:
    words = [word("above", 0.1, 0.3), word("9.00", 0.3, 0.7), word("RM", 0.32, 0.68), word("below", 0.7, 0.9)]
    assert [one.text for one in whole_words(words, 0.15)] == ["9.00", "RM"]


def test_small_print_inside_the_mark_is_kept() -> None:
    words = [word("LARGE", 0.2, 0.6), word("small", 0.62, 0.72)]
    assert [one.text for one in whole_words(words, 0.1)] == ["LARGE", "small"]


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_a_line_that_fills_the_mark_is_whole(margin: float) -> None:
    words = [word("9.00", margin, 1 - margin)]
    assert whole_words(words, margin) == words
    assert whole_words([], margin) == []
