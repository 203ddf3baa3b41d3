"""Which engine reads a document, and who is told when it cannot be had."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field

import structlog
from django.conf import settings

from inference.engine import Engine
from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.errors import (
    AnswerLostError,
    EngineError,
    EngineUnavailableError,
    InferenceError,
    ModelDamagedError,
    UnreadableFileError,
)
from inference.registry import PROFILE, available, build_engine, engine_for, forget_engine
from inference.types import OcrProfile, VlmSpec
from review.actions.opening import EngineIdentity
from review.actions.recovery import note_engine, note_model
from review.models import Document, EngineVersion, Project
from review.selectors.engines import base_of, is_declared, is_profiled, vlm_spec_of
from review.selectors.foreign import foreign_version_of
from review.selectors.rollouts import declared_versions_in_use, version_for
from review.tasks_loading import refuse_to_load
from review.tasks_models import load_models

log = structlog.get_logger(__name__)
_ASKED_WITHOUT_LOADING = ("vllm_server", "scripted")
_worker_name = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads pages now. `vlm` is None for an OCR engine, which reads alone.

    `identity` is the version that a document's run is made under, `reads_as` the one that its readings are kept
    under: of a composed version its base, else the same.
    """

    engine: Engine
    identity: EngineIdentity
    vlm: VlmSpec | None = None
    reads_as: EngineIdentity = field(init=False)
    base: InitVar[EngineIdentity | None] = None

    def __post_init__(self, base: EngineIdentity | None) -> None:
        object.__setattr__(self, "reads_as", base or self.identity)


def name_worker(name: str) -> None:
    """Tell this process, and those forked from it, under which heartbeat it works."""
    global _worker_name  # noqa: PLW0603 - a fact about the process, like its id
    _worker_name = name


def worker_name() -> str:
    """Return the heartbeat's name, "" in a process that has none."""
    return _worker_name


@contextmanager
def noting_engine(language_model: EngineVersion | None = None) -> Iterator[None]:
    """Pass EngineUnavailableError on, after writing on the heartbeat that the engine cannot be had.

    The engine of the house, which all projects need, unless it is a language model: that one only some read with.
    """
    try:
        yield
    except InferenceError as error:
        # One that broke off is there: it says something of the page, not of the engine.
        if not isinstance(error, UnreadableFileError | EngineError | AnswerLostError) and _worker_name:
            if language_model is None:
                note_engine(name=_worker_name, engine_error=error.code)
            else:
                note_model(name=_worker_name, engine_version_id=language_model.pk, error=error.code)
        raise


def engine_error() -> str:
    """Return the code of what is in the way of the engine of the house, "" for nothing."""
    try:
        engine_for(settings.STET_ENGINE)
    except InferenceError as error:
        return error.code
    return ""


def model_errors() -> dict[int, str]:
    """Return what is in the way of asking the language models that are in use: codes by engine version.

    Servers are asked what they serve. A model that runs within a worker is left alone: to ask it, this process would
    have to load it.
    """
    found = {}
    for version in declared_versions_in_use():
        try:
            if version.name in _ASKED_WITHOUT_LOADING:
                engine = engine_for(version.name, version.spec)
                if isinstance(engine, VlmEngine) and isinstance(engine.model, ServedModel):
                    engine.model.look()
        except InferenceError as error:
            found[version.pk] = error.code
    return found


def identity_of(engine: Engine) -> EngineIdentity:
    """Return the engine as it reads now, under the digest that its version is stored by."""
    return EngineIdentity.of(engine.name, engine.version)


def reader_of(document: Document) -> Reader:
    """Return who reads a document; raise EngineUnavailableError, UnknownEngineError.

    An OCR engine is the one that is installed. A version that was learned on top of another one, or whose models are
    damaged, cannot be had: what it was composed on reads alone, and the roll-out page (`stand_in_of`) says so.
    """
    foreign = foreign_version_of(document)
    if foreign is not None:
        # Its fields came with it; what is read are the words, for people to pick from.
        with noting_engine():
            alone = _installed(document.project.engine_name or settings.STET_ENGINE)
        identity = EngineIdentity(foreign.name, foreign.digest, foreign.spec)
        return Reader(alone.engine, identity, base=alone.identity)
    return version_reader(version_for(document), document.project)


def version_reader(version: EngineVersion | None, project: Project) -> Reader:
    """Return the reader of a version, the project's OCR engine for None; as `reader_of`."""
    if version is None:
        with noting_engine():
            return _installed(project.engine_name or settings.STET_ENGINE)
    base = base_of(version)
    if is_declared(base):
        refuse_to_load(base)
        alone = declared_reader(base)
    else:
        with noting_engine():
            alone = _profiled(base) or _installed(_ocr_name(base, project))
    return alone if version.base_id is None else _composed(version, alone)


def exact_reader(version: EngineVersion) -> Reader:
    """Return the reader of exactly this version; raise EngineUnavailableError where another would stand in for it.

    So it does where the model would have to be loaded in a worker that is at work.
    """
    base = base_of(version)
    if is_declared(base):
        refuse_to_load(base)
    alone = declared_reader(base) if is_declared(base) else _profiled(base) or _installed(base.name)
    reader = alone if version.base_id is None else _composed(version, alone)
    if reader.identity.digest != version.digest:
        raise EngineUnavailableError("what it reads by is not what is installed now, or what it learned is damaged")
    return reader


def forget_reader(reader: Reader) -> None:
    """Have the engine of a reader built anew by whoever asks for it next: it died."""
    forget_engine(reader.engine)


def _ocr_name(version: EngineVersion, project: Project) -> str:
    return version.name if version.name in available() else project.engine_name or settings.STET_ENGINE


def _installed(name: str) -> Reader:
    engine = engine_for(name)
    return Reader(engine, identity_of(engine))


def _profiled(version: EngineVersion) -> Reader | None:
    """Return the OCR engine of a declared profile, None for any other version and where it reads otherwise by now."""
    if not is_profiled(version):
        return None
    engine = engine_for(version.name, version.spec)
    if identity_of(engine).digest == version.digest:
        return Reader(engine, identity_of(engine))
    log.warning("engine version cannot be had", engine_version=version.digest[:8], reason="engine_changed")
    return None


def _composed(version: EngineVersion, alone: Reader) -> Reader:
    if alone.identity.digest != base_of(version).digest:
        log.warning("engine version cannot be had", engine_version=version.digest[:8], reason="base_changed")
        return alone
    try:
        load_models(version)
    except ModelDamagedError as error:
        log.warning("engine version cannot be had", engine_version=version.digest[:8], reason=error.code)
        return alone
    identity = EngineIdentity(version.name, version.digest, version.spec)
    return Reader(alone.engine, identity, alone.vlm, base=alone.identity)


def declared_reader(version: EngineVersion) -> Reader:
    """Return the engine of a declared version, built from what was declared; raise EngineUnavailableError."""
    with noting_engine(version):
        engine = engine_for(version.name, version.spec)
        return Reader(engine, EngineIdentity(version.name, version.digest, version.spec), vlm_spec_of(version))


def profiled_identity(name: str, profile: OcrProfile) -> EngineIdentity:
    """Return who an OCR engine is with a profile, as it would read now; raise EngineUnavailableError."""
    return identity_of(build_engine(name, {PROFILE: profile.as_json()}))


def words_engine_of(document: Document) -> Engine:
    """Return the OCR engine that reads words for a document, alone or beside a language model; raise as above."""
    version, project = version_for(document), document.project
    if version is None:
        return engine_for(project.engine_name or settings.STET_ENGINE)
    spec = vlm_spec_of(version)
    return engine_for(spec.words_by if spec is not None else _ocr_name(version, project))


def ocr_engines() -> tuple[str, ...]:
    """Return the names of the engines that read by themselves."""
    return available()
