import os
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from inference import registry
from inference.errors import EngineUnavailableError, UnknownEngineError
from inference.types import VlmSpec


class Built:
    """Counts how often it was built."""

    count = 0

    def __init__(self) -> None:
        type(self).count += 1


@pytest.fixture(autouse=True)
def _no_engines_left() -> Any:
    registry.forget_engines()
    Built.count = 0
    yield
    registry.forget_engines()


@pytest.fixture
def fake_module(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer every import of an engine with a module that holds `Built`; return the names asked for."""
    asked: list[str] = []

    def import_module(name: str) -> SimpleNamespace:
        asked.append(name)
        return SimpleNamespace(RapidOCREngine=Built, ScriptedEngine=Built)

    monkeypatch.setattr("inference.registry.importlib.import_module", import_module)
    return asked


def test_known_engines_are_listed_in_order() -> None:
    assert registry.available() == ("rapidocr", "scripted")


def test_unknown_engine_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(UnknownEngineError, match=r"'tesseract'.*rapidocr, scripted"):
        registry.build_engine("tesseract")


def test_engine_that_is_not_installed_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> None:
        raise ModuleNotFoundError("no module", name="onnxruntime")

    monkeypatch.setattr("inference.registry.importlib.import_module", import_module)
    with pytest.raises(EngineUnavailableError, match="onnxruntime is missing"):
        registry.build_engine("rapidocr")


@pytest.mark.usefixtures("fake_module")
def test_each_build_is_new() -> None:
    assert registry.build_engine("scripted") is not registry.build_engine("scripted")


def test_only_the_module_of_the_engine_asked_for_is_imported(fake_module: list[str]) -> None:
    registry.build_engine("scripted")
    assert fake_module == ["inference.engines.scripted"]


@pytest.mark.usefixtures("fake_module")
def test_process_knows_what_it_has_built() -> None:
    assert not registry.is_built("rapidocr")
    engine = registry.engine_for("rapidocr")
    assert registry.is_built("rapidocr")
    assert not registry.is_built("scripted")
    registry.forget_engine(engine)
    assert not registry.is_built("rapidocr")


@pytest.mark.usefixtures("fake_module")
def test_one_engine_that_is_dropped_takes_no_other_with_it() -> None:
    kept, dropped = registry.engine_for("scripted"), registry.engine_for("rapidocr")
    registry.forget_engine(dropped)
    assert registry.engine_for("scripted") is kept
    assert registry.engine_for("rapidocr") is not dropped


@pytest.mark.usefixtures("fake_module")
def test_process_builds_an_engine_once() -> None:
    assert registry.engine_for("rapidocr") is registry.engine_for("rapidocr")
    assert Built.count == 1


@pytest.mark.usefixtures("fake_module")
def test_threads_that_ask_at_once_share_one_engine() -> None:
    engines: list[object] = []
    barrier = threading.Barrier(8)

    def ask() -> None:
        barrier.wait()
        engines.append(registry.engine_for("rapidocr"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(engines) == 8
    assert len(set(map(id, engines))) == 1
    assert Built.count == 1


@pytest.mark.usefixtures("fake_module")
def test_forked_child_builds_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = registry.engine_for("rapidocr")
    own_pid = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: own_pid + 1)
    assert registry.engine_for("rapidocr") is not mine


@pytest.mark.usefixtures("fake_module")
def test_forgotten_engines_are_built_anew() -> None:
    before = registry.engine_for("scripted")
    registry.forget_engines()
    assert registry.engine_for("scripted") is not before


def test_engine_that_cannot_be_built_is_tried_again_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_SCRIPTED_ANSWERS", raising=False)
    for _ in range(2):
        with pytest.raises(EngineUnavailableError):
            registry.engine_for("scripted")


SPEC: dict[str, Any] = {
    "engine": "vllm_server",
    "kind": "vllm_server",
    "served_model_name": "tiny-ocr",
    "weights_folder": "/weights/tiny",
    "weights_sha256": {"model.safetensors": "0" * 64},
    "prompt_version": "v1",
    "chat_template_sha256": "",
    "vllm_version": "0.32.0",
}


@pytest.fixture
def built_from(monkeypatch: pytest.MonkeyPatch) -> list[VlmSpec]:
    """Answer every import of a language model's engine with a factory that notes the specification."""
    specs: list[VlmSpec] = []

    def build(spec: VlmSpec) -> object:
        specs.append(spec)
        return object()

    monkeypatch.setattr("inference.registry.importlib.import_module", lambda name: SimpleNamespace(build=build))
    return specs


def test_language_model_is_built_from_its_stored_specification(built_from: list[VlmSpec]) -> None:
    registry.build_engine("vllm_server", SPEC)
    assert built_from == [VlmSpec.from_json(SPEC)]


def test_each_version_has_its_own_engine_and_the_same_version_the_same(built_from: list[VlmSpec]) -> None:
    one, other = registry.engine_for("vllm_server", SPEC), registry.engine_for("vllm_server", SPEC | {"adapter": "a"})
    assert one is not other
    assert registry.engine_for("vllm_server", dict(reversed(SPEC.items()))) is one
    assert len(built_from) == 2


@pytest.mark.parametrize("spec", [None, {}])
def test_language_model_without_a_declared_version_is_refused(spec: dict[str, Any] | None) -> None:
    with pytest.raises(UnknownEngineError, match="add_engine_version"):
        registry.build_engine("vllm_server", spec)


def test_no_language_model_is_offered_as_an_engine_without_a_version() -> None:
    assert not set(registry.available()) & {"vllm_server", "vllm_offline", "transformers_local"}


def test_specification_that_cannot_be_used_says_where() -> None:
    with pytest.raises(EngineUnavailableError, match="/prompt_version: is required"):
        registry.build_engine("vllm_server", {key: value for key, value in SPEC.items() if key != "prompt_version"})


def test_specification_of_another_kind_is_refused() -> None:
    with pytest.raises(EngineUnavailableError, match="'vllm_server', not of 'vllm_offline'"):
        registry.build_engine("vllm_offline", SPEC)


@pytest.mark.parametrize(
    ("kind", "missing", "remedy"),
    [("vllm_offline", "vllm", r"\[vllm\]"), ("transformers_local", "torch", r"\[transformers\]")],
)
def test_missing_extra_is_one_line_with_the_remedy(kind: str, missing: str, remedy: str) -> None:
    with pytest.raises(EngineUnavailableError, match=f"{missing} is missing: pip install '.{remedy}'") as caught:
        registry.build_engine(kind, SPEC | {"engine": kind, "kind": kind})
    assert "\n" not in str(caught.value)
