"""Which engine reads for a project, and who is told when it cannot be had."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from inference.engine import Engine
from inference.errors import EngineError, InferenceError, UnreadableFileError
from inference.registry import available, engine_for
from inference.types import VlmSpec
from review.actions.opening import EngineIdentity
from review.actions.recovery import note_engine
from review.models import EngineVersion, Project
from review.selectors.engines import vlm_spec_of

_worker_name = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a project's pages now, and under which version. `vlm` is None for an OCR engine, which reads alone."""

    engine: Engine
    identity: EngineIdentity
    vlm: VlmSpec | None = None


def name_worker(name: str) -> None:
    """Tell this process, and those forked from it, under which heartbeat it works."""
    global _worker_name  # noqa: PLW0603 - a fact about the process, like its id
    _worker_name = name


def worker_name() -> str:
    """Return the heartbeat's name, "" in a process that has none."""
    return _worker_name


@contextmanager
def noting_engine() -> Iterator[None]:
    """Pass EngineUnavailableError on, after writing on the heartbeat that the engine cannot be had."""
    try:
        yield
    except InferenceError as error:
        if not isinstance(error, UnreadableFileError | EngineError) and _worker_name:
            note_engine(name=_worker_name, engine_error=error.code)
        raise


def identity_of(engine: Engine) -> EngineIdentity:
    """Return the engine as it reads now, under the digest that its version is stored by."""
    return EngineIdentity.of(engine.name, engine.version)


def reader_of(project: Project) -> Reader:
    """Return who reads for the project; raise EngineUnavailableError, UnknownEngineError."""
    if project.engine_version is not None:
        return declared_reader(project.engine_version)
    with noting_engine():
        engine = engine_for(project.engine_name or settings.STET_ENGINE)
        return Reader(engine, identity_of(engine))


def declared_reader(version: EngineVersion) -> Reader:
    """Return the engine of a declared version, built from what was declared; raise EngineUnavailableError."""
    with noting_engine():
        engine = engine_for(version.name, version.spec)
        return Reader(engine, EngineIdentity(version.name, version.digest, version.spec), vlm_spec_of(version))


def words_engine_of(project: Project) -> Engine:
    """Return the OCR engine that reads words for the project, alone or beside a language model; raise as above."""
    version = project.engine_version
    spec = vlm_spec_of(version) if version is not None else None
    return engine_for(spec.words_by if spec else project.engine_name or settings.STET_ENGINE)


def ocr_engines() -> tuple[str, ...]:
    """Return the names of the engines that read by themselves."""
    return available()
