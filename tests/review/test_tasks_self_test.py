"""A declared version is tried out by a task, and what came of it decides whether it is trusted."""

from dataclasses import replace
from pathlib import Path

import pytest

from inference.errors import EngineError, EngineUnavailableError, UnknownEngineError
from inference.serving.self_test import Check
from review.actions.engines import declare_engine_version
from review.models import SelfTest
from review.selectors.access import SYSTEM
from review.selectors.engines import is_proven
from review.tasks_self_test import self_test, try_engine
from tests import factories
from tests.inference.serving.self_test.fake_vllm import FakeVllm
from tests.inference.serving.specs import SMALL
from tests.review.conftest import Script
from tests.review.served import put_behind

pytestmark = pytest.mark.django_db


def test_a_version_that_passes_is_proven_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    put_behind(FakeVllm(), monkeypatch)
    version = declare_engine_version(actor=SYSTEM, spec=SMALL)
    assert not is_proven(version)
    told: list[Check] = []
    report = self_test(actor=SYSTEM, engine_version=version, tell=told.append)
    assert report.is_passed
    assert is_proven(version)
    assert tuple(told) == report.checks
    assert SelfTest.objects.get().report == report.as_json()


def test_a_version_that_fails_later_is_proven_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SMALL)
    for fault, is_passed in (("", True), ("mixes_images", False)):
        put_behind(FakeVllm(fault), monkeypatch)
        assert self_test(actor=SYSTEM, engine_version=version).is_passed is is_passed
        assert is_proven(version) is is_passed
    assert SelfTest.objects.count() == 2


def test_nothing_is_written_down_of_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://127.0.0.1:9")
    with pytest.raises(EngineUnavailableError):
        self_test(actor=SYSTEM, engine_version=declare_engine_version(actor=SYSTEM, spec=SMALL))
    assert not SelfTest.objects.exists()


def test_without_an_address_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_VLLM_URL", raising=False)
    with pytest.raises(EngineUnavailableError, match="STET_VLLM_URL"):
        self_test(actor=SYSTEM, engine_version=declare_engine_version(actor=SYSTEM, spec=SMALL))


def test_an_ocr_engine_has_nothing_to_prove(script: Script) -> None:
    with pytest.raises(EngineUnavailableError, match="no language model"):
        self_test(actor=SYSTEM, engine_version=factories.make_engine_version("scripted"))


def test_an_engine_is_tried_by_its_name(script: Script) -> None:
    assert try_engine("scripted")["engine"] == "scripted"


def test_an_engine_that_cannot_read_fails(script: Script, tmp_path: Path) -> None:
    script({"fault": "engine_failed"})
    with pytest.raises(EngineError):
        try_engine("scripted")
    with pytest.raises(UnknownEngineError):
        try_engine("nobody")


def test_the_version_that_is_tried_is_the_one_that_was_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakeVllm()
    put_behind(server, monkeypatch)
    version = declare_engine_version(actor=SYSTEM, spec=SMALL)
    self_test(actor=SYSTEM, engine_version=version)
    assert {body["model"] for body in server.bodies} == {f"stet-{version.digest[:16]}"}


def test_a_server_that_was_started_for_another_version_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    put_behind(FakeVllm(spec=replace(SMALL, quantisation="fp8")), monkeypatch)
    version = declare_engine_version(actor=SYSTEM, spec=SMALL)
    assert not self_test(actor=SYSTEM, engine_version=version).is_passed
    kept = SelfTest.objects.get()
    assert not is_proven(version)
    [check] = kept.report["checks"]
    assert (check["name"], check["found"]["tied_name"]) == ("served_as_declared", f"stet-{version.digest[:16]}")


def test_each_version_is_tried_out_on_its_own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    put_behind(FakeVllm(), monkeypatch, asked)
    version = declare_engine_version(actor=SYSTEM, spec=SMALL)
    monkeypatch.setenv("STET_VLLM_URLS", f"{version.digest[:8]}=http://other:8000")
    assert self_test(actor=SYSTEM, engine_version=version).is_passed
    assert set(asked) == {"http://other:8000"}
