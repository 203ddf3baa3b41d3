"""Settings that cannot work together stop the start, with an id and the remedy. Described in docs/operations.md."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004 - Django's name for it
from PIL import Image

from inference.registry import available
from inference.serving.environment import addresses

Check = Callable[[], Iterator[CheckMessage]]
AROUND_PAGE_SECONDS = 30
"""What else a task that reads a page may take: opening its document (`review.tasks.READ_AT_ONCE_SECONDS` at most),
asking a failing server how it is, storing what was read, and finding the fields."""


def _seconds(name: str) -> float:
    return float(str(settings.Q_CLUSTER[name]))


def engine_is_known() -> Iterator[CheckMessage]:
    """review.E001: STET_ENGINE names an engine that exists."""
    if settings.STET_ENGINE not in available():
        yield Error(
            f"STET_ENGINE is {settings.STET_ENGINE!r}, and there is no engine of that name.",
            hint=f"Set it to one of: {', '.join(available())}.",
            id="review.E001",
        )


def queue_times_fit() -> Iterator[CheckMessage]:
    """review.E002: a task is not handed out, nor its page claimed, again while it may still be at work."""
    timeout, retry = _seconds("timeout"), _seconds("retry")
    if not timeout < retry:
        yield Error(
            f"Q_CLUSTER hands a task out again after {retry:g} s (retry), but lets it run for {timeout:g} s (timeout).",
            hint="Make retry longer than timeout.",
            id="review.E002",
        )


def claims_outlast_tasks() -> Iterator[CheckMessage]:
    """review.W001: a page that is still being read is not read by another worker as well."""
    if _seconds("timeout") >= settings.STET_CLAIM_SECONDS:
        yield Warning(
            f"STET_CLAIM_SECONDS is {settings.STET_CLAIM_SECONDS}, but a page may be at work for "
            f"{settings.Q_CLUSTER['timeout']} s: slow pages are read twice.",
            hint="Make STET_CLAIM_SECONDS longer than the task timeout. Nothing is lost or doubled as it is.",
            id="review.W001",
        )


def pixels_can_be_opened() -> Iterator[CheckMessage]:
    """review.E003: STET_MAX_PIXELS is not above what the image library opens."""
    ceiling = 2 * (Image.MAX_IMAGE_PIXELS or 0)
    if ceiling and ceiling < settings.STET_MAX_PIXELS:
        yield Error(
            f"STET_MAX_PIXELS is {settings.STET_MAX_PIXELS}; pages above {ceiling} pixels cannot be opened.",
            hint=f"Set it to at most {ceiling}.",
            id="review.E003",
        )


def folders_can_be_written() -> Iterator[CheckMessage]:
    """review.E004: uploads and originals have a place that this process may write to."""
    for folder in (Path(settings.FILE_UPLOAD_TEMP_DIR), Path(settings.MEDIA_ROOT)):
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
        if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
            yield Error(
                f"{folder} cannot be written.",
                hint=f"Give this user the right to write in {nearest}, or set STET_DATA_DIR to another folder.",
                id="review.E004",
            )


def pdfs_are_refused_in_time() -> Iterator[CheckMessage]:
    """review.E005: a PDF that takes too long is refused before its task is ended."""
    if _seconds("timeout") <= settings.STET_PDF_SECONDS:
        yield Error(
            f"STET_PDF_SECONDS is {settings.STET_PDF_SECONDS}, but the task that opens a document is ended after "
            f"{settings.Q_CLUSTER['timeout']} s: a slow PDF would end its worker instead of being refused.",
            hint="Make STET_PDF_SECONDS shorter than the task timeout.",
            id="review.E005",
        )


def models_give_up_in_time() -> Iterator[CheckMessage]:
    """review.E006: a page that its readers take too long over is given back in time, instead of ending its worker."""
    if _seconds("timeout") < settings.STET_MODEL_SECONDS + AROUND_PAGE_SECONDS:
        yield Error(
            f"STET_MODEL_SECONDS is {settings.STET_MODEL_SECONDS}, what stands around a page takes up to "
            f"{AROUND_PAGE_SECONDS} s, and the task that reads it is ended after {settings.Q_CLUSTER['timeout']} s: "
            "a slow model would end its worker.",
            hint=f"Make STET_MODEL_SECONDS shorter than the task timeout by {AROUND_PAGE_SECONDS} s or more.",
            id="review.E006",
        )


def model_servers_have_addresses() -> Iterator[CheckMessage]:
    """review.E007: it is clear which server serves which engine version."""
    try:
        addresses(settings.STET_VLLM_URLS)
    except ValueError as problem:
        yield Error(
            f"STET_VLLM_URLS cannot be understood: {problem}.",
            hint="Write the first 8 letters or more of each engine version's digest, =, and its server's address, with "
            "commas between: 1f2e3d4c=http://gpu-1:8000,9a8b7c6d=http://gpu-2:8000.",
            id="review.E007",
        )


CHECKS: tuple[Check, ...] = (
    engine_is_known,
    queue_times_fit,
    claims_outlast_tasks,
    pixels_can_be_opened,
    folders_can_be_written,
    pdfs_are_refused_in_time,
    models_give_up_in_time,
    model_servers_have_addresses,
)


def check_settings(**_: Any) -> list[CheckMessage]:  # noqa: ANN401 - what Django passes
    """Run all checks."""
    return [message for check in CHECKS for message in check()]


def register_checks() -> None:
    """Have Django run the checks at the start of every command."""
    register(check_settings)
