"""Models that live in a worker are loaded before it takes pages, never while a task's time runs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from inference.engines import scripted_vlm
from inference.engines.scripted_vlm import ScriptedVlmEngine
from inference.errors import EngineUnavailableError
from inference.registry import IN_PROCESS, forget_engine
from inference.types import VlmSpec
from inference.types.vlm_problems import KINDS
from review import tasks_loading
from review.actions._compositions import ensure_composed_version
from review.models import Project, Rollout
from review.tasks import warm_up_models
from review.tasks_engines import Reader, declared_reader, version_reader
from review.tasks_loading import load_declared_models, load_only_at_start
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.trained import make_locator
from tests.review.vlm import SCRIPTED, SPEC, read_with_vlm


def reader_of(project: Project) -> Reader:
    """Who reads a page of the project."""
    return version_reader(project.engine_version, project)


@pytest.fixture
def loaded(script: Script, monkeypatch: pytest.MonkeyPatch) -> list[VlmSpec]:
    """What was loaded in this process, in order."""
    found: list[VlmSpec] = []

    def build(spec: VlmSpec) -> ScriptedVlmEngine:
        found.append(spec)
        return ScriptedVlmEngine(spec)

    monkeypatch.setattr(scripted_vlm, "build", build)
    return found


@pytest.fixture
def rooms() -> Iterator[list[str]]:
    """This process is a worker: each entry says that it made room for another."""
    made: list[str] = []
    load_only_at_start(lambda: made.append("room"))
    yield made
    load_only_at_start(None)


def without_weights(spec: VlmSpec) -> ScriptedVlmEngine:
    """Stand for a model that does not load."""
    raise EngineUnavailableError("the weights are gone")


def test_every_kind_of_version_but_that_of_a_server_lives_in_the_process() -> None:
    assert set(KINDS) - IN_PROCESS == {"vllm_server"}


def test_models_that_read_for_a_project_are_loaded_and_no_others(
    cast: Cast, loaded: list[VlmSpec], rooms: list[str]
) -> None:
    read_with_vlm(cast.other_project, replace(SCRIPTED, prompt_version="v2"))
    read_with_vlm(cast.project, replace(SCRIPTED, served_model_name="of yesterday"))
    version = read_with_vlm(cast.project)
    warm_up_models()
    assert sorted(one.prompt_version for one in loaded) == ["v1", "v2"]
    assert reader_of(cast.project).identity.digest == version.digest
    assert (len(loaded), rooms) == (2, [])


def test_a_model_on_which_something_was_learned_is_loaded_for_the_types_that_it_reads(
    cast: Cast, loaded: list[VlmSpec], rooms: list[str]
) -> None:
    declared = read_with_vlm(cast.project)
    composed = ensure_composed_version(declared, make_locator(cast.document_type, {}))
    retired = read_with_vlm(cast.project, replace(SCRIPTED, prompt_version="v2"))
    cast.project.engine_version = None
    cast.project.save()
    for version, stage in ((composed, "live"), (retired, "retired")):
        Rollout.objects.create(document_type=cast.document_type, engine_version=version, stage=stage, salt="s")
    load_declared_models()
    assert [one.prompt_version for one in loaded] == ["v1"]
    assert version_reader(composed, cast.project).vlm is not None
    assert (len(loaded), rooms) == (1, [])


def test_a_model_on_a_server_is_nothing_to_load(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    read_with_vlm(cast.project, SPEC)
    monkeypatch.setattr(tasks_loading, "engine_for", lambda *_: 1 / 0)
    load_declared_models()


def test_a_page_loads_no_model_in_a_worker_and_has_another_take_its_place(
    cast: Cast, loaded: list[VlmSpec], rooms: list[str]
) -> None:
    """The project was given this model while the worker was at work."""
    load_declared_models()
    read_with_vlm(cast.project)
    with pytest.raises(EngineUnavailableError, match="not loaded in this worker"):
        reader_of(cast.project)
    assert (loaded, rooms) == ([], ["room"])
    load_declared_models()
    assert reader_of(cast.project).vlm is not None
    assert rooms == ["room"]


def test_a_worker_whose_engine_died_makes_room_for_another(cast: Cast, loaded: list[VlmSpec], rooms: list[str]) -> None:
    read_with_vlm(cast.project)
    load_declared_models()
    forget_engine(reader_of(cast.project).engine)
    with pytest.raises(EngineUnavailableError):
        reader_of(cast.project)
    assert (len(loaded), rooms) == (1, ["room"])


def test_a_model_that_does_not_load_is_tried_by_another_worker_and_not_at_once(
    cast: Cast, script: Script, rooms: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_with_vlm(cast.project)
    monkeypatch.setattr(scripted_vlm, "build", without_weights)
    load_declared_models()
    for _ in range(3):
        with pytest.raises(EngineUnavailableError):
            reader_of(cast.project)
    assert rooms == []
    monkeypatch.setattr(tasks_loading, "LOAD_AGAIN_SECONDS", -1.0)
    with pytest.raises(EngineUnavailableError):
        reader_of(cast.project)
    assert rooms == ["room"]


def test_a_model_that_does_not_load_keeps_no_other_from_it(
    cast: Cast, script: Script, rooms: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(scripted_vlm, "build", without_weights)
    for project, prompt in ((cast.project, "v1"), (cast.other_project, "v2")):
        read_with_vlm(project, replace(SCRIPTED, prompt_version=prompt))
    load_declared_models()
    assert caplog.text.count("model not loaded") == 2


def test_outside_of_a_worker_a_model_is_loaded_when_it_is_asked_for(cast: Cast, loaded: list[VlmSpec]) -> None:
    """A command has all the time that there is."""
    read_with_vlm(cast.project)
    assert reader_of(cast.project).vlm is not None
    assert len(loaded) == 1


def test_a_version_that_reads_for_no_project_is_loaded_when_it_is_measured(
    cast: Cast, loaded: list[VlmSpec], rooms: list[str]
) -> None:
    version = read_with_vlm(cast.project)
    cast.project.engine_version = None
    cast.project.save()
    load_declared_models()
    assert declared_reader(version).vlm is not None
    assert (len(loaded), rooms) == (1, [])
