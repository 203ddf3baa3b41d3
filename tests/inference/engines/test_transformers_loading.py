"""How weights are held, with a stand-in for torch; tests/vllm loads a real model."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from inference.errors import EngineUnavailableError


@pytest.fixture(params=[False, True], ids=["cpu", "gpu"])
def loading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module on a stand-in for torch, on a machine without and with a graphics card."""
    torch, transformers = ModuleType("torch"), ModuleType("transformers")
    cuda = SimpleNamespace(is_available=lambda: request.param, current_device=lambda: 0)
    vars(torch).update(float16="float16", bfloat16="bfloat16", cuda=cuda)
    vars(transformers).update(BitsAndBytesConfig=dict)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.delitem(sys.modules, "inference.engines.transformers_loading", raising=False)
    module: Any = importlib.import_module("inference.engines.transformers_loading")
    module.has_card = request.param
    yield module
    sys.modules.pop("inference.engines.transformers_loading", None)


@pytest.mark.parametrize(("words", "dtype"), [("", "bfloat16"), ("bfloat16", "bfloat16"), ("half", "float16")])
def test_plain_weights_are_held_in_two_bytes(loading: Any, words: str, dtype: str) -> None:
    assert loading.loading_arguments(words) == {"dtype": dtype}
    assert not loading.is_offloaded(words)


@pytest.mark.parametrize(("words", "flag"), [("8bit", "load_in_8bit"), ("4bit", "load_in_4bit")])
def test_fewer_bits_go_where_the_model_runs(loading: Any, words: str, flag: str) -> None:
    arguments = loading.loading_arguments(words)
    assert arguments["quantization_config"][flag] is True
    assert arguments["device_map"] == {"": 0 if loading.has_card else "cpu"}


@pytest.mark.parametrize("words", ["offload", "half+offload", "8bit+offload", "4bit+offload"])
def test_what_has_no_room_is_kept_elsewhere(loading: Any, words: str) -> None:
    arguments = loading.loading_arguments(words, Path("/tmp/away"))
    assert loading.is_offloaded(words)
    assert arguments["device_map"] == "auto"
    assert arguments["offload_folder"] == "/tmp/away"
    if "8bit" in words:
        assert arguments["quantization_config"]["llm_int8_enable_fp32_cpu_offload"] is True


@pytest.mark.parametrize("words", ["3bit", "half+3bit", "int8", "HALF"])
def test_unknown_word_is_named_with_those_that_exist(loading: Any, words: str) -> None:
    with pytest.raises(EngineUnavailableError, match="is not one of: bfloat16, half, 8bit, 4bit, offload"):
        loading.loading_arguments(words)


@pytest.mark.parametrize("words", ["4bit+8bit", "half+4bit", "bfloat16+half"])
def test_only_one_size_can_be_meant(loading: Any, words: str) -> None:
    with pytest.raises(EngineUnavailableError, match="only one"):
        loading.loading_arguments(words)
