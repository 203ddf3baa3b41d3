import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inference.engines.scripted import ANSWERS_VARIABLE, ScriptedAnswer, ScriptedEngine
from inference.errors import EngineError, EngineUnavailableError
from inference.imaging.hashing import content_hash
from inference.types import BBox, PageImage, Word

ROW = ["TOTAL", 0.1, 0.2, 0.3, 0.4, 0.95]
CHILD = """
import numpy as np
from inference.engines.scripted import ScriptedEngine
from inference.types import PageImage
print([word.text for word in ScriptedEngine().read_page(PageImage(np.zeros((4, 6, 3), np.uint8))).words])
"""


def page(shade: int = 0) -> PageImage:
    return PageImage(np.full((4, 6, 3), shade, np.uint8))


def script_file(folder: Path, script: dict[str, Any]) -> Path:
    path = folder / "answers.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    return path


def read_in_a_child(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD],
        env={ANSWERS_VARIABLE: str(path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_default_answers_any_page() -> None:
    reading = ScriptedEngine({"default": {"words": [ROW]}}).read_page(page())
    assert reading.words == (Word("TOTAL", BBox(0.1, 0.2, 0.3, 0.4), 0.95),)
    assert (reading.width, reading.height) == (6, 4)
    assert reading.cpu_seconds >= 0


def test_page_has_an_answer_of_its_own() -> None:
    script = {"default": {}, "pages": {content_hash(page(9)): {"words": [ROW]}}}
    engine = ScriptedEngine(script)
    assert [word.text for word in engine.read_page(page(9)).words] == ["TOTAL"]
    assert engine.read_page(page(8)).words == ()


@pytest.mark.parametrize("script", [{}, {"pages": {"00": {"words": [ROW]}}}])
def test_page_without_an_answer_fails(script: dict[str, Any]) -> None:
    with pytest.raises(EngineError):
        ScriptedEngine(script).read_page(page())


@pytest.mark.parametrize(
    ("fault", "error"), [("engine_failed", EngineError), ("engine_unavailable", EngineUnavailableError)]
)
def test_scripted_error_is_raised_every_time_without_a_count(fault: str, error: type[Exception]) -> None:
    engine = ScriptedEngine({"default": {"fault": fault}})
    for _ in range(3):
        with pytest.raises(error):
            engine.read_page(page())


def test_scripted_error_ends_after_its_count_and_counts_each_page_alone() -> None:
    engine = ScriptedEngine({"default": {"fault": "engine_failed", "times": 2, "words": [ROW]}})
    for shade in (0, 1):
        for _ in range(2):
            with pytest.raises(EngineError):
                engine.read_page(page(shade))
        assert len(engine.read_page(page(shade)).words) == 1


def test_count_goes_on_in_another_process_through_the_counters(tmp_path: Path) -> None:
    script = {"default": {"fault": "engine_unavailable", "times": 2, "words": [ROW]}}
    for _ in range(2):
        with pytest.raises(EngineUnavailableError):
            ScriptedEngine(script, tmp_path / "counters").read_page(page())
    assert len(ScriptedEngine(script, tmp_path / "counters").read_page(page()).words) == 1


@pytest.mark.parametrize(("fault", "sign"), [("abort", signal.SIGABRT), ("kill", signal.SIGKILL)])
def test_crash_ends_the_process_as_often_as_scripted(tmp_path: Path, fault: str, sign: signal.Signals) -> None:
    path = script_file(tmp_path, {"default": {"fault": fault, "times": 1, "words": [ROW]}})
    assert read_in_a_child(path).returncode == -sign
    second = read_in_a_child(path)
    assert (second.returncode, second.stdout.strip()) == (0, "['TOTAL']")


def test_wait_comes_before_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("inference.engines.scripted.time.sleep", waits.append)
    ScriptedEngine({"default": {"sleep_seconds": 1.5}}).read_page(page())
    ScriptedEngine({"default": {}}).read_page(page())
    assert waits == [1.5]


@pytest.mark.parametrize("answer", [{"fault": "explode"}, {"words": [], "sleep": 3}, {"raise": "engine_failed"}])
def test_misspelt_script_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        ScriptedAnswer.from_json(answer)


def test_script_comes_from_the_file_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(script_file(tmp_path, {"default": {"words": [ROW]}})))
    assert [word.text for word in ScriptedEngine().read_page(page()).words] == ["TOTAL"]


@pytest.mark.parametrize("content", [None, "{not json"])
def test_missing_or_damaged_script_is_an_absent_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    path = tmp_path / "answers.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setenv(ANSWERS_VARIABLE, str(path))
    with pytest.raises(EngineUnavailableError):
        ScriptedEngine()


def test_without_a_script_there_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ANSWERS_VARIABLE, raising=False)
    with pytest.raises(EngineUnavailableError, match=ANSWERS_VARIABLE):
        ScriptedEngine()


def test_another_script_is_another_version() -> None:
    one: dict[str, Any] = {"default": {"words": [ROW]}}
    same: dict[str, Any] = {"default": {"words": [ROW]}}
    other: dict[str, Any] = {"default": {}}
    assert ScriptedEngine(one).version == ScriptedEngine(same).version
    assert ScriptedEngine(one).version != ScriptedEngine(other).version
    assert ScriptedEngine(one).version["engine"] == "scripted"
