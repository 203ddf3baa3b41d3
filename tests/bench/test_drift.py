"""The benchmark of drift takes a version through shadow, canary and live by the product's actions, to its stop."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from inference.engines.scripted import ANSWERS_VARIABLE
from inference.registry import forget_engines
from review.models import AuditEntry, FieldMonitor, Rollout, RolloutStage
from review.tasks_models import forget_models
from tests.bench import worlds
from tests.bench.drift import FIELD, Drift, Stopped, through_a_roll_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _reading(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.STET_NEAR_DUPLICATE_PAGES = 0
    settings.DATA_DIR = tmp_path
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    monkeypatch.setenv(ANSWERS_VARIABLE, "")
    forget_models()
    worlds.use_scripted_engine()
    forget_engines()
    yield
    # What it saw on every page is nothing for the tests after it.
    forget_engines()


def stopped(stage: RolloutStage, tmp_path: Path, capsys: pytest.CaptureFixture[str], **shares: float) -> Stopped:
    folder = tmp_path / "set"
    folder.mkdir()
    found = through_a_roll_out("house", Drift(stage, 0.5, 1.0, n_before=8, n_shadow=2, most=60, **shares), 5, folder)
    with capsys.disabled():
        print(  # noqa: T201
            f"\n  a {stage} version that turned bad (0.3 % -> 50 % wrong, target 1 %) was stopped after "
            f"{found.n_audits} audits, of {found.n_documents} documents"
        )
    return found


def test_a_live_version_that_turns_bad_is_stopped_and_rolled_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = stopped(RolloutStage.LIVE, tmp_path, capsys)
    assert found.is_stopped
    assert 3 <= found.n_audits == found.n_documents == found.n_of_challenger <= 25
    assert found.n_wrong_stored == 0, "every one was looked at, and corrected"
    assert FIELD in found.ended_because
    assert found.stopped == {FIELD}
    acts = ["rollout.started", "rollout.promoted", "rollout.promoted", "field_monitor.tripped", "rollout.rolled_back"]
    assert list(AuditEntry.objects.filter(action__in=acts).order_by("pk").values_list("action", flat=True)) == acts


def test_a_canary_that_turns_bad_is_rolled_back_by_what_it_read_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = stopped(RolloutStage.CANARY, tmp_path, capsys, canary_share=0.5)
    assert found.is_stopped
    # Which documents it reads is chance: the first two may both be its own, and wrong. One alone stops nothing.
    assert 2 <= found.n_audits == found.n_of_challenger <= found.n_documents <= 60
    assert FIELD in found.ended_because
    rollout = Rollout.objects.get()
    assert (rollout.stage, rollout.salt) == (RolloutStage.RETIRED, "5 house")
    # Its own monitor has seen what it read, the field's everything.
    n_own, n_all = (state["n_documents"] for state in (rollout.monitors[FIELD], FieldMonitor.objects.get().state))
    assert n_own == found.n_audits_before + found.n_audits < n_all
