"""The engines by name. An engine's module is imported when the engine is first asked for: it may weigh a gigabyte."""

import hashlib
import importlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

from inference.engine import Engine
from inference.errors import EngineUnavailableError, UnknownEngineError
from inference.types import OcrProfile, OcrProfileError, VlmSpec, VlmSpecError

_FACTORIES = {
    "rapidocr": ("inference.engines.rapidocr", "RapidOCREngine"),
    "scripted": ("inference.engines.scripted", "ScriptedEngine"),
}
# Language models: each takes the specification of a declared version.
_VLM_FACTORIES = {
    "vllm_server": ("inference.engines.vllm_server", "build"),
    "vllm_offline": ("inference.engines.vllm_offline", "build"),
    "transformers_local": ("inference.engines.transformers_local", "build"),
    "scripted": ("inference.engines.scripted_vlm", "build"),
}
# OCR engines of which a version with another profile can be declared.
_PROFILED = {
    "rapidocr": ("inference.engines.rapidocr", "with_profile"),
    "scripted": ("inference.engines.scripted", "with_profile"),
}
IN_PROCESS = frozenset({"vllm_offline", "transformers_local", "scripted"})
"""Language models that live in the process that asks them: to build one loads its weights, which may take minutes."""
PROFILE = "profile"
_EXTRAS = {"vllm_offline": "vllm", "transformers_local": "transformers"}
_lock = threading.Lock()
_built: dict[tuple[int, str, str], Engine] = {}


def available() -> tuple[str, ...]:
    """Return the names of engines that need no declared version, sorted; knowing one does not mean it is installed."""
    return tuple(sorted(_FACTORIES))


def build_engine(name: str, spec: Mapping[str, Any] | None = None) -> Engine:
    """Build a new engine; `spec` is the stored specification of a declared version.

    That is `VlmSpec.as_json` of a language model; of an OCR engine it holds an `OcrProfile` under "profile".
    Raise UnknownEngineError for a name that is not registered or that needs a specification and has none,
    EngineUnavailableError when the engine cannot be had here.
    """
    if name in _PROFILED and spec and PROFILE in spec:
        try:
            return cast("Engine", _factory(name, *_PROFILED[name])(OcrProfile.from_json(spec[PROFILE])))
        except OcrProfileError as problem:
            raise EngineUnavailableError(f"this engine version cannot be used: {problem}") from problem
    if name in _VLM_FACTORIES and (spec or name not in _FACTORIES):
        return _build_vlm(name, spec)
    if name not in _FACTORIES:
        raise UnknownEngineError(f"no engine {name!r}; known are: {', '.join(available())}")
    return cast("Engine", _factory(name, *_FACTORIES[name])())


def _build_vlm(name: str, spec: Mapping[str, Any] | None) -> Engine:
    if not spec:
        raise UnknownEngineError(f"{name!r} reads by a declared engine version only: see add_engine_version")
    try:
        parsed = VlmSpec.from_json(spec)
    except VlmSpecError as problem:
        raise EngineUnavailableError(f"this engine version cannot be used: {problem}") from problem
    if parsed.kind != name:
        raise EngineUnavailableError(f"this engine version is one of {parsed.kind!r}, not of {name!r}")
    return cast("Engine", _factory(name, *_VLM_FACTORIES[name])(parsed))


def _factory(name: str, module_name: str, factory_name: str) -> Callable[..., object]:
    try:
        module = importlib.import_module(module_name)
    except ImportError as missing:
        remedy = f": pip install '.[{_EXTRAS[name]}]' in Stet's folder" if name in _EXTRAS else ""
        raise EngineUnavailableError(
            f"engine {name!r} is not installed: {missing.name} is missing{remedy}"
        ) from missing
    return cast("Callable[..., object]", getattr(module, factory_name))


def engine_for(name: str, spec: Mapping[str, Any] | None = None) -> Engine:
    """Return this process's engine of that name and version, built on the first call; raise as `build_engine` does.

    A forked child builds its own: neither native sessions nor connections survive a fork.
    """
    key = _key(name, spec)
    with _lock:
        if key not in _built:
            _built[key] = build_engine(name, spec)
        return _built[key]


def is_built(name: str, spec: Mapping[str, Any] | None = None) -> bool:
    """Whether this process has the engine of that name and version, so that `engine_for` returns at once."""
    with _lock:
        return _key(name, spec) in _built


def _key(name: str, spec: Mapping[str, Any] | None) -> tuple[int, str, str]:
    version = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest() if spec else ""
    return os.getpid(), name, version


def forget_engine(engine: Engine) -> None:
    """Drop one engine of this process: the next call for it builds it anew."""
    with _lock:
        for key in [key for key, built in _built.items() if built is engine]:
            del _built[key]


def forget_engines() -> None:
    """Drop the engines built in this process, so that the next call builds anew (settings changed; tests)."""
    with _lock:
        _built.clear()
