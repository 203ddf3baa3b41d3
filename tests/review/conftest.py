"""An engine that answers from a script, and files to send."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from pytest_django import Settings

from inference.registry import forget_engines

WORDS = [
    ["BOOK TA K SDN BHD", 0.1, 0.02, 0.6, 0.05, 0.99],
    ["Date: 25/12/2018", 0.1, 0.2, 0.5, 0.23, 0.99],
    ["Total", 0.1, 0.6, 0.3, 0.63, 0.99],
    ["9.00", 0.7, 0.6, 0.8, 0.63, 0.99],
]

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
