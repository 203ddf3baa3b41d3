import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command


def test_probe_prints_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "answers.json"
    script.write_text('{"default": {}}', encoding="utf-8")
    monkeypatch.setenv("STET_SCRIPTED_ANSWERS", str(script))
    call_command("probe_engine", "scripted")
    assert json.loads(capsys.readouterr().out)["engine"] == "scripted"


@pytest.mark.parametrize("fault", ["engine_failed", "engine_unavailable"])
def test_engine_that_cannot_read_fails_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    script = tmp_path / "answers.json"
    script.write_text(json.dumps({"default": {"fault": fault}}), encoding="utf-8")
    monkeypatch.setenv("STET_SCRIPTED_ANSWERS", str(script))
    with pytest.raises(CommandError, match=fault):
        call_command("probe_engine", "scripted")


@pytest.mark.engine
def test_the_default_engine_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("probe_engine")
    assert json.loads(capsys.readouterr().out)["engine"] == "rapidocr"
