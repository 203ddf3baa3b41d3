"""When a model that lives in the process is loaded: as a worker starts, never while a task's time runs."""

import time
from collections.abc import Callable

import structlog

from inference.errors import EngineUnavailableError, InferenceError
from inference.registry import IN_PROCESS, engine_for, is_built
from review.models import EngineVersion
from review.selectors.rollouts import declared_versions_in_use

LOAD_AGAIN_SECONDS = 300.0
"""A worker whose model did not load at its start makes room for another one after so long, when a page asks for it."""
log = structlog.get_logger(__name__)
_make_room: Callable[[], None] | None = None
_started_at = 0.0
_failed: set[int] = set()


def load_only_at_start(make_room: Callable[[], None] | None) -> None:
    """From now on no page loads a model in this process, for `load_declared_models` has done so; None ends that.

    The time that a task may take would end before many a model is loaded. A page for which another one is wanted since
    waits for a worker that starts: `make_room` is called, to end this one after the task that it has in hand.
    """
    global _make_room, _started_at
    _make_room, _started_at = make_room, time.monotonic()
    _failed.clear()


def load_declared_models() -> None:
    """Load the models that live in this process and read for somebody; run by a worker before it takes pages.

    One that does not load is told in the log, and tried again by another worker later.
    """
    for version in declared_versions_in_use():
        if version.name in IN_PROCESS:
            try:
                engine_for(version.name, version.spec)
            except InferenceError as error:
                _failed.add(version.pk)
                log.warning("model not loaded", engine_version=version.pk, reason=error.code)


def refuse_to_load(version: EngineVersion) -> None:
    """Raise EngineUnavailableError where a page would load the model of this version, in a worker that is at work."""
    if _make_room is None or version.name not in IN_PROCESS or is_built(version.name, version.spec):
        return
    if version.pk not in _failed or time.monotonic() - _started_at > LOAD_AGAIN_SECONDS:
        _make_room()
    raise EngineUnavailableError("the model is not loaded in this worker; one that starts now will load it")
