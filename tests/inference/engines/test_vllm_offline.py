"""vLLM in-process with a stand-in for vLLM; tests/vllm runs the real one."""

import dataclasses
import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from inference.errors import EngineDiedError, EngineError, EngineUnavailableError
from inference.types import PageReading, Token, VlmSpec
from tests.inference.serving.asking import VALUES, a_page, a_request, a_spec, as_answer

FLAGS = {"dtype": "bfloat16", "max-model-len": 4096, "limit-mm-per-prompt": {"image": 1}}


class ClientError(Exception):
    """Stands for vLLM's error of a request that is refused."""


@dataclasses.dataclass
class Arguments:
    """Stands for EngineArgs: the flags that it knows."""

    model: str = ""
    dtype: str = ""
    max_model_len: int = 0
    limit_mm_per_prompt: Any = None


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The engine's module on a stand-in for vLLM 0.32.0."""

    def module(name: str, **content: Any) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(content)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    module("vllm", __version__="0.32.0", SamplingParams=SimpleNamespace, LLM=ScriptedLLM)
    module("vllm.engine")
    module("vllm.engine.arg_utils", EngineArgs=Arguments)
    module("vllm.exceptions", VLLMClientError=ClientError)
    module("vllm.sampling_params", StructuredOutputsParams=SimpleNamespace)
    monkeypatch.delitem(sys.modules, "inference.engines.vllm_offline", raising=False)
    yield importlib.import_module("inference.engines.vllm_offline")
    sys.modules.pop("inference.engines.vllm_offline", None)


class ScriptedLLM:
    """Stands for `vllm.LLM`: answers each conversation by a function; keeps what it was asked."""

    def __init__(self, answer: Callable[[Any], Any] | None = None, **arguments: Any) -> None:
        self.arguments = arguments
        self.calls: list[tuple[list[Any], list[Any]]] = []
        self._answer = answer or (lambda conversation: output())

    def chat(self, conversations: list[Any], parameters: list[Any], *, use_tqdm: bool) -> list[Any]:
        assert not use_tqdm
        self.calls.append((conversations, parameters))
        return [self._answer(conversation) for conversation in conversations]


def output(text: str | None = None, finish_reason: str = "stop", stop_reason: str | None = None) -> SimpleNamespace:
    """A request output of vLLM: one token of text, one that ends it."""
    text = as_answer() if text is None else text
    choice = SimpleNamespace(decoded_token=text, logprob=-0.5)
    other = SimpleNamespace(decoded_token=None, logprob=float("-inf"))
    end = SimpleNamespace(decoded_token="</s>", logprob=-0.1)
    generated = SimpleNamespace(
        text=text,
        token_ids=[7, 2],
        logprobs=[{7: choice, 9: other}, {2: end}],
        finish_reason=finish_reason,
        stop_reason=stop_reason,
    )
    return SimpleNamespace(outputs=[generated], prompt_token_ids=list(range(400)))


def a_version(**changes: Any) -> VlmSpec:
    return a_spec(**{"kind": "vllm_offline", "server_flags": FLAGS, **changes})


def engine_on(offline: Any, llm: ScriptedLLM, spec: VlmSpec | None = None) -> Any:
    spec = spec or a_version()
    return offline.VlmEngine(spec, offline.OfflineModel(spec, llm))


def test_page_is_read(offline: Any) -> None:
    reading = engine_on(offline, ScriptedLLM()).read_page(a_page(), a_request())
    assert reading.answer.values == VALUES
    [raw] = reading.answer.attempts
    assert (raw.finish_reason, raw.n_prompt_tokens, raw.n_tokens) == ("stop", 400, 2)


def test_what_a_grammar_forbids_has_the_number_a_server_gives_it(offline: Any) -> None:
    raw = offline.raw_answer(output("{}"), is_free=False, seconds=0.1)
    assert raw.tokens == (
        Token(b"{}", -0.5, ((b"{}", -0.5), (b"", -9999.0))),
        Token(b"</s>", -0.1, ((b"</s>", -0.1),)),
    )


def test_answer_without_probabilities_has_no_tokens(offline: Any) -> None:
    silent = output()
    silent.outputs[0].logprobs = None
    assert offline.raw_answer(silent, is_free=False, seconds=0.1).tokens == ()


def test_all_pages_of_a_batch_are_handed_over_at_one_time(offline: Any) -> None:
    llm = ScriptedLLM()
    engine_on(offline, llm).read_pages([(a_page(), a_request())] * 5)
    assert [len(conversations) for conversations, _ in llm.calls] == [5]


def test_constraint_and_decoding_reach_vllm(offline: Any) -> None:
    llm = ScriptedLLM()
    spec = a_version(decoding={"seed": 3, "top_logprobs": 4})
    engine_on(offline, llm, spec).read_page(a_page(), a_request())
    [[conversation], [parameters]] = llm.calls[0]
    assert (parameters.temperature, parameters.seed, parameters.max_tokens, parameters.logprobs) == (0.0, 3, 256, 4)
    assert parameters.structured_outputs.json["required"] == ["company", "total", "items"]
    assert parameters.structured_outputs.disable_any_whitespace is True
    [message] = conversation
    assert message["content"][1]["image_url"]["url"].startswith("data:image/jpeg;base64,")


def test_free_answer_stops_after_its_object_and_one_cut_there_is_no_whole_one(offline: Any) -> None:
    llm = ScriptedLLM(lambda conversation: output('{"items": [\n{"text": "Tea"\n}\n\n', stop_reason="}\n\n"))
    spec = a_version(decoding={"is_constrained": False})
    [failure] = engine_on(offline, llm, spec).read_pages([(a_page(), a_request())])
    assert failure.code == "answer_cut_short"
    assert llm.calls[0][1][0].stop == ["}\n```", "}\n\n"]


def test_refused_page_takes_no_other_with_it(offline: Any) -> None:
    def answer(conversation: Any) -> Any:
        if "SECRET" in str(conversation[0]["content"][0]["text"]):
            raise ClientError("the prompt SECRET is too long")
        return output()

    schema = {**a_request().schema, "x-label": {"en": "SECRET"}}
    llm = ScriptedLLM(answer)
    good, refused, also_good = engine_on(offline, llm).read_pages(
        [(a_page(), a_request()), (a_page(), a_request(schema)), (a_page(), a_request())]
    )
    assert isinstance(good, PageReading)
    assert isinstance(also_good, PageReading)
    assert isinstance(refused, EngineError)
    assert "SECRET" not in str(refused)


def test_vllm_that_broke_is_for_later(offline: Any) -> None:
    def broken(conversation: Any) -> Any:
        raise RuntimeError("CUDA out of memory while reading SECRET")

    with pytest.raises(EngineDiedError, match="RuntimeError") as caught:
        engine_on(offline, ScriptedLLM(broken)).read_page(a_page(), a_request())
    assert "SECRET" not in str(caught.value)


def test_flags_of_the_version_are_arguments_of_the_engine(offline: Any) -> None:
    arguments = offline.engine_arguments(a_version(quantisation="fp8", is_remote_code_trusted=True))
    assert arguments == {
        "dtype": "bfloat16",
        "max_model_len": 4096,
        "limit_mm_per_prompt": {"image": 1},
        "model": "/weights/tiny",
        "trust_remote_code": True,
        "quantization": "fp8",
    }


def test_remote_code_is_refused_unless_trusted(offline: Any) -> None:
    assert offline.engine_arguments(a_version())["trust_remote_code"] is False


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"server_flags": {"uvicorn-log-level": "info"}}, "no such flags: uvicorn-log-level"),
        ({"adapter": "receipts"}, "adapter"),
        ({"vllm_version": "0.31.0"}, r"0\.32\.0 is installed.*0\.31\.0"),
        ({"weights_folder": "/nowhere"}, "/nowhere"),
    ],
)
def test_version_that_cannot_run_here_is_refused(offline: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineUnavailableError, match=message):
        offline.build(a_version(**changes))


def test_model_that_does_not_load_is_unavailable(offline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**arguments: Any) -> None:
        raise RuntimeError("no room for the cache")

    monkeypatch.setattr(offline, "verify_weights", lambda folder, manifest: None)
    monkeypatch.setattr(offline.vllm, "LLM", refuse)
    with pytest.raises(EngineUnavailableError, match="no room for the cache"):
        offline.build(a_version())


def test_model_is_loaded_with_the_versions_environment(offline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}
    monkeypatch.setattr(offline, "verify_weights", lambda folder, manifest: None)
    monkeypatch.setattr(offline.os, "environ", seen)
    engine = offline.build(a_version(server_environment={"VLLM_CPU_KVCACHE_SPACE": "1"}))
    assert engine.name == "vllm_offline"
    assert seen["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert seen["HF_HUB_OFFLINE"] == "1"
