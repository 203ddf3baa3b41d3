"""The engines by name. An engine's module is imported when the engine is first asked for: it may weigh a gigabyte."""

import importlib
import os
import threading
from typing import cast

from inference.engine import Engine
from inference.errors import EngineUnavailableError, UnknownEngineError

_FACTORIES = {
    "rapidocr": ("inference.engines.rapidocr", "RapidOCREngine"),
    "scripted": ("inference.engines.scripted", "ScriptedEngine"),
}
_lock = threading.Lock()
_built: dict[tuple[int, str], Engine] = {}


def available() -> tuple[str, ...]:
    """Return the names that `build_engine` knows, sorted; knowing one does not mean that it is installed."""
    return tuple(sorted(_FACTORIES))


def build_engine(name: str) -> Engine:
    """Build a new engine.

    Raise UnknownEngineError for a name that is not registered, EngineUnavailableError when it cannot be had here.
    """
    try:
        module_name, factory_name = _FACTORIES[name]
    except KeyError:
        raise UnknownEngineError(f"no engine {name!r}; known are: {', '.join(available())}") from None
    try:
        module = importlib.import_module(module_name)
    except ImportError as missing:
        raise EngineUnavailableError(f"engine {name!r} is not installed: {missing.name} is missing") from missing
    return cast("Engine", getattr(module, factory_name)())


def engine_for(name: str) -> Engine:
    """Return this process's engine of that name, built on the first call; raise as `build_engine` does.

    A forked child builds its own: native sessions do not survive a fork.
    """
    key = (os.getpid(), name)
    with _lock:
        if key not in _built:
            _built[key] = build_engine(name)
        return _built[key]


def forget_engines() -> None:
    """Drop the engines built in this process, so that the next call builds anew (settings changed; tests)."""
    with _lock:
        _built.clear()
