"""A challenger reads page by page as a champion does: a task and a deadline for each, and no model loaded for it."""

from pathlib import Path

import pytest
from pytest_django import Settings

from inference.engines.scripted_vlm import ScriptedVlmEngine
from inference.errors import EngineError
from inference.types import DocumentTypeSpec, PageImage, PageReading, PageRequest
from review.actions.engines import declare_engine_version
from review.actions.shadows import claim_shadow, complete_shadow
from review.models import ExtractionRun, Reading, RunRole, ShadowRead
from review.selectors.access import SYSTEM
from review.selectors.reading import reading_ids_of
from review.tasks import TaskFailedError
from review.tasks_loading import load_only_at_start
from review.tasks_rollouts import compare_rollout, read_shadow
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.queueing import queued
from tests.review.rollout_room import TWO_AMOUNTS, freeze, waiting
from tests.review.vlm import SCRIPTED, answering

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    script(default={"words": TWO_AMOUNTS})


def test_a_challenger_reads_one_page_a_task_and_waits_behind_what_was_queued_meanwhile(
    cast: Cast, script: Script
) -> None:
    """A document of many pages holds no worker for longer than a page does, and loses no attempt by its length."""
    version = declare_engine_version(actor=SYSTEM, spec=SCRIPTED)
    shadow = waiting(cast, version, kind="TIFF", n_pages=3)
    script(default=answering())
    asked = Reading.objects.filter(engine_version=version)
    for n_read in (1, 2):
        read_shadow(shadow.pk)
        shadow.refresh_from_db()
        assert (shadow.state, shadow.n_attempts, asked.count()) == ("queued", 0, n_read)
        assert queued() == [("read_shadow", shadow.pk)] * n_read
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert (shadow.state, asked.count()) == ("done", 3)


def test_words_and_model_of_a_shadow_read_have_one_deadline(
    cast: Cast, script: Script, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STET_MODEL_SECONDS = 50
    shadow = waiting(cast, declare_engine_version(actor=SYSTEM, spec=SCRIPTED))
    script(default=answering())
    given: list[float | None] = []

    def read_page(engine: ScriptedVlmEngine, page: PageImage, request: PageRequest) -> PageReading:
        given.append(request.seconds)
        raise EngineError("enough")

    monkeypatch.setattr(ScriptedVlmEngine, "read_page", read_page)
    read_shadow(shadow.pk)
    assert given[0] is not None
    assert 0 < given[0] < 50


def test_the_run_of_a_challenger_says_what_the_challenger_was_asked(cast: Cast, script: Script) -> None:
    """The champion, an OCR engine, was asked nothing."""
    version = declare_engine_version(actor=SYSTEM, spec=SCRIPTED)
    shadow = waiting(cast, version)
    script(default=answering())
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert shadow.run is not None
    assert shadow.champion_run.request_digest == ""
    assert shadow.run.request_digest == Reading.objects.get(engine_version=version).request_digest != ""


def test_no_shadow_read_and_no_comparison_loads_a_model_in_a_worker_at_work(
    cast: Cast, script: Script, tmp_path: Path
) -> None:
    shadow = waiting(cast, declare_engine_version(actor=SYSTEM, spec=SCRIPTED))
    script(default=answering())
    freeze(cast, tmp_path / "files")
    made: list[str] = []
    load_only_at_start(lambda: made.append("room"))
    try:
        read_shadow(shadow.pk)
        shadow.refresh_from_db()
        assert (shadow.state, shadow.n_attempts, made) == ("queued", 0, ["room"])
        with pytest.raises(TaskFailedError, match="EngineUnavailableError"):
            compare_rollout(shadow.rollout_id)
    finally:
        load_only_at_start(None)
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert shadow.state == "done"


def test_whoever_has_lost_a_shadow_read_keeps_nothing_of_it(cast: Cast, script: Script) -> None:
    shadow = waiting(cast, declare_engine_version(actor=SYSTEM, spec=SCRIPTED))
    claim = claim_shadow(shadow_id=shadow.pk)
    assert claim is not None
    ShadowRead.objects.update(claim_token="somebody else's")
    reading_ids = reading_ids_of(claim.champion_run)
    kept = complete_shadow(actor=SYSTEM, shadow=claim, spec=DocumentTypeSpec(()), fields=(), reading_ids=reading_ids)
    assert not kept
    assert not ExtractionRun.objects.filter(role=RunRole.SHADOW).exists()
    assert ShadowRead.objects.get().run is None
