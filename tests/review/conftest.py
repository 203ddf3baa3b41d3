"""An engine that answers from a script, a language model, files to send, and two more reviewers."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from pytest_django import Settings

from inference.registry import forget_engines
from review.models import EngineVersion, Role, User
from tests import factories
from tests.conftest import Cast
from tests.review.scripted import WORDS
from tests.review.vlm import read_with_vlm

Script = Callable[..., None]


@pytest.fixture
def script(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Give every page WORDS, or what `script(default=…, pages=…)` says."""
    settings.STET_ENGINE = "scripted"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    path = tmp_path / "answers.json"
    monkeypatch.setenv("STET_SCRIPTED_ANSWERS", str(path))

    def write(default: dict[str, Any] | None = None, pages: dict[str, Any] | None = None) -> None:
        path.write_text(json.dumps({"default": default or {"words": WORDS}, "pages": pages or {}}))
        forget_engines()

    write()
    yield write
    forget_engines()


@pytest.fixture
def vlm(cast: Cast) -> EngineVersion:
    """The version of a language model that the project reads with."""
    return read_with_vlm(cast.project)


@pytest.fixture
def second(cast: Cast) -> User:
    """A reviewer beside the one of the cast, who looks a second time."""
    return factories.make_member(cast.project, Role.REVIEWER, "sei")


@pytest.fixture
def third(cast: Cast) -> User:
    """One more reviewer, who decides where the two differ."""
    return factories.make_member(cast.project, Role.REVIEWER, "tom")


def picture(text: str = "9.00", *, size: tuple[int, int] = (200, 300), kind: str = "JPEG", n_pages: int = 1) -> bytes:
    """A small picture with that text on each page; other text, other bytes."""
    frames = []
    for number in range(n_pages):
        frame = Image.new("RGB", size, "white")
        ImageDraw.Draw(frame).text((20, 20 + 30 * number), f"{text} {number}", fill="black")
        frames.append(frame)
    buffer = io.BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": frames[1:]} if n_pages > 1 else {}
    frames[0].save(buffer, kind, **more)
    return buffer.getvalue()
