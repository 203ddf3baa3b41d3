import io
import json
from pathlib import Path

import httpx
import pytest
from django.core.management import CommandError, call_command

from inference.engines.vllm_server import ServedModel
from inference.serving.chat import chat_client
from inference.serving.self_test import run_self_test
from review.actions.engines import declare_engine_version
from review.management.commands.probe_engine import REMEDIES
from review.models import EngineVersion, SelfTest
from review.selectors.access import SYSTEM
from tests.inference.serving.self_test.fake_vllm import FakeVllm
from tests.inference.serving.specs import SMALL
from tests.review.served import put_behind


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


@pytest.fixture
def version() -> EngineVersion:
    return declare_engine_version(actor=SYSTEM, spec=SMALL)


def probe(version: EngineVersion, *arguments: str) -> tuple[str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    call_command("probe_engine", "--engine-version", version.digest[:8], *arguments, stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


@pytest.mark.django_db
def test_a_version_that_passes_is_told_check_by_check(version: EngineVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    put_behind(FakeVllm(), monkeypatch)
    printed, told = probe(version, "--json")
    report = json.loads(printed.splitlines()[-1])
    assert report["is_passed"] is True
    assert report == SelfTest.objects.get().report
    lines = told.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == [check["name"] for check in report["checks"]]
    assert f"{version} has passed" in lines[-1]
    assert 'guided_json "ignored"' in told


@pytest.mark.django_db
def test_a_version_that_fails_ends_the_command_with_a_remedy(
    version: EngineVersion, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_behind(FakeVllm("mixes_images"), monkeypatch)
    stderr = io.StringIO()
    with pytest.raises(CommandError, match="has not passed: nothing it reads is stored for sure"):
        call_command("probe_engine", "--engine-version", str(version.pk), stdout=io.StringIO(), stderr=stderr)
    assert "FAILED  images_kept_apart" in stderr.getvalue()
    assert "mm-processor-cache-gb 0" in stderr.getvalue()
    assert SelfTest.objects.get().is_passed is False


@pytest.mark.django_db
def test_a_server_that_is_away_is_told_and_nothing_kept(
    version: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://127.0.0.1:9")
    with pytest.raises(CommandError, match="engine_unavailable"):
        probe(version)
    assert not SelfTest.objects.exists()


@pytest.mark.django_db
def test_an_unknown_version_is_told_with_those_there_are(version: EngineVersion) -> None:
    with pytest.raises(CommandError, match=f"Known: {version.pk}"):
        call_command("probe_engine", "--engine-version", "99999")


def test_every_required_check_has_a_remedy() -> None:
    with chat_client("http://vllm", transport=httpx.MockTransport(FakeVllm())) as client:
        report = run_self_test(SMALL, ServedModel(SMALL, client), client)
    assert {check.name for check in report.checks} - set(REMEDIES) == {"forms_of_constraint"}
