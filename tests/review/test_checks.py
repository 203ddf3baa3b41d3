"""Settings that cannot work together are named at the start, with the remedy."""

from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.test import override_settings
from PIL import Image
from pytest_django import Settings

from inference.serving.health import REQUEST_SECONDS
from review.checks import AROUND_PAGE_SECONDS, check_settings
from review.tasks import READ_AT_ONCE_SECONDS

QUEUE = {"timeout": 120, "retry": 150}


def ids() -> list[str | None]:
    return [message.id for message in check_settings()]


def test_the_defaults_are_sound() -> None:
    assert ids() == []


def test_django_runs_the_checks(settings: Settings) -> None:
    settings.STET_ENGINE = "nothing"
    assert "review.E001" in [message.id for message in run_checks()]


@pytest.mark.parametrize(
    ("changes", "check_id"),
    [
        ({"STET_ENGINE": "rapidorc"}, "review.E001"),
        ({"Q_CLUSTER": QUEUE | {"retry": 120}}, "review.E002"),
        ({"STET_MAX_PIXELS": 2 * (Image.MAX_IMAGE_PIXELS or 0) + 1}, "review.E003"),
        ({"STET_PDF_SECONDS": 120}, "review.E005"),
        ({"STET_MODEL_SECONDS": 120}, "review.E006"),
        ({"STET_MODEL_SECONDS": 91}, "review.E006"),
        ({"STET_VLLM_URLS": "7=http://gpu-1:8000"}, "review.E007"),
        ({"STET_VLLM_URLS": "1f2e3d4c=gpu-1:8000"}, "review.E007"),
        ({"STET_CLAIM_SECONDS": 120}, "review.W001"),
    ],
)
def test_what_cannot_work_is_named(changes: dict[str, object], check_id: str) -> None:
    with override_settings(**changes):
        messages = check_settings()
    assert [message.id for message in messages] == [check_id]
    assert messages[0].hint


def test_a_page_may_take_what_its_task_leaves_beside_opening_and_storing(settings: Settings) -> None:
    settings.STET_MODEL_SECONDS = settings.Q_CLUSTER["timeout"] - AROUND_PAGE_SECONDS
    assert ids() == []
    assert AROUND_PAGE_SECONDS > READ_AT_ONCE_SECONDS + 2 * REQUEST_SECONDS


def test_a_folder_that_cannot_be_written_is_named(settings: Settings, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    settings.MEDIA_ROOT = blocked / "media"
    assert ids() == ["review.E004"]


def test_a_folder_that_is_still_to_be_made_is_no_problem(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "new" / "media"
    assert ids() == []


@pytest.mark.parametrize(("changes", "message_part"), [({"STET_ENGINE": "x"}, "rapidocr")])
def test_the_remedy_names_what_exists(changes: dict[str, object], message_part: str) -> None:
    with override_settings(**changes):
        assert message_part in str(check_settings()[0].hint)
