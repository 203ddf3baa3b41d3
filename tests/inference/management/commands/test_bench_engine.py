import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from inference.management.commands import bench_engine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "answers.json"
    script.write_text('{"default": {}}', encoding="utf-8")
    monkeypatch.setenv("STET_SCRIPTED_ANSWERS", str(script))
    images = tmp_path / "images"
    images.mkdir()
    for number in range(3):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(images / f"{number}.png")
    return images


def last_line(output: str) -> dict[str, object]:
    data = json.loads(output.strip().splitlines()[-1])
    assert isinstance(data, dict)
    return data


def test_last_line_is_one_json_object(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bench_engine", str(folder), engine="scripted")
    data = last_line(capsys.readouterr().out)
    assert set(data) == {"engine", "baseline", "ratio"}
    assert (data["baseline"], data["ratio"]) == (None, None)


def test_limit_bounds_the_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bench_engine", str(folder), engine="scripted", limit=2)
    engine = last_line(capsys.readouterr().out)["engine"]
    assert isinstance(engine, dict)
    assert engine["n_pages"] == 2


def test_baseline_reads_the_same_pages(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(bench_engine, "reader_as_it_comes", lambda: seen.append)
    call_command("bench_engine", str(folder), engine="scripted", baseline=True)
    data = last_line(capsys.readouterr().out)
    assert isinstance(data["baseline"], dict)
    assert data["baseline"]["n_pages"] == 3
    assert len(seen) == 4  # the first page once more, off the clock


def test_missing_or_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="not a folder"):
        call_command("bench_engine", str(tmp_path / "absent"), engine="scripted")
    with pytest.raises(CommandError, match="no image files"):
        call_command("bench_engine", str(tmp_path), engine="scripted")


def test_engine_that_is_absent_is_named_by_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_SCRIPTED_ANSWERS")
    with pytest.raises(CommandError, match="engine_unavailable"):
        call_command("bench_engine", str(folder), engine="scripted")
