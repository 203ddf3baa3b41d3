from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from inference.errors import EngineUnavailableError, VersionNotServedError
from inference.serving.adapters import RUNTIME_VARIABLE, differs_by_adapter_alone, load_adapter, with_adapter
from inference.serving.chat import chat_client
from inference.serving.vllm_command import DEFAULT_FLAGS, server_command
from inference.serving.weights import WeightsError, manifest_of
from inference.types import VlmSpec, VlmSpecError
from tests.inference.serving.adapter_server import Answer, Server
from tests.inference.serving.asking import a_spec

LORA = {**DEFAULT_FLAGS, "enable-lora": True, "max-lora-rank": 16}
BASE = a_spec(server_flags=LORA)


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "tuned"
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    (folder / "adapter_config.json").write_text("{}")
    return folder


def load(spec: VlmSpec, server: Server) -> None:
    with chat_client("http://vllm", transport=httpx.MockTransport(server)) as client:
        load_adapter(client, spec, started_for=BASE)


def test_the_version_reads_with_the_adapter_and_pins_its_files(adapter: Path) -> None:
    spec = with_adapter(BASE, adapter, rank=16)
    assert (spec.adapter, spec.adapter_folder) == ("tuned", str(adapter))
    assert spec.adapter_sha256 == manifest_of(adapter)
    assert VlmSpec.from_json(spec.as_json()) == spec
    assert spec.digest != BASE.digest


@pytest.mark.parametrize(
    ("flags", "rank", "expected"),
    [
        (LORA, 16, 16),
        (LORA, 8, 16),
        (LORA, 17, 32),
        (LORA, 257, 320),
        (DEFAULT_FLAGS, 4, 8),
        (DEFAULT_FLAGS, 64, 64),
    ],
)
def test_flags_are_raised_as_far_as_the_rank_needs(
    adapter: Path, flags: dict[str, object], rank: int, expected: int
) -> None:
    spec = with_adapter(a_spec(server_flags=flags), adapter, rank=rank)
    assert (spec.server_flags["enable-lora"], spec.server_flags["max-lora-rank"]) == (True, expected)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="is no folder"):
        with_adapter(BASE, tmp_path / "nowhere", rank=8)


def test_an_adapter_takes_no_name_that_is_taken(adapter: Path) -> None:
    taken = a_spec(
        server_flags={**LORA, "lora-modules": {"tuned": "adapters/tuned"}},
        weights_sha256={"adapters/tuned/adapter_config.json": "0" * 64},
    )
    spec = with_adapter(taken, adapter, rank=8)
    assert spec.adapter == "tuned-tuned"
    assert server_command(spec, python="python", host="127.0.0.1", port=1)


def test_an_adapter_is_replaced_and_not_added_to(adapter: Path, tmp_path: Path) -> None:
    first = with_adapter(BASE, adapter, rank=8)
    other = adapter.rename(tmp_path / "second")
    assert with_adapter(first, other, rank=8) == with_adapter(BASE, other, rank=8)


def test_the_server_gives_the_adapters_folder_the_tied_name(adapter: Path) -> None:
    spec = with_adapter(BASE, adapter, rank=16)
    arguments = server_command(spec, python="python", host="127.0.0.1", port=1).arguments
    assert arguments[arguments.index("--lora-modules") + 1 :] == (f"{spec.tied_name}={adapter}",)
    names = arguments[arguments.index("--served-model-name") + 1 : arguments.index("--host")]
    assert names == ("tiny-ocr",), "under the tied name the adapter answers, never the bare weights"


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"adapter": ""}, "/adapter"),
        ({"server_flags": dict(DEFAULT_FLAGS)}, "/adapter"),
        ({"adapter_sha256": {}}, "/adapter_sha256"),
        ({"adapter_folder": "adapters/tuned"}, "/adapter_folder"),
    ],
)
def test_an_adapter_that_cannot_be_served_is_refused(adapter: Path, changed: dict[str, object], pointer: str) -> None:
    spec = replace(with_adapter(BASE, adapter, rank=16), **changed)  # type: ignore[arg-type]
    with pytest.raises(VlmSpecError) as refused:
        server_command(spec, python="python", host="127.0.0.1", port=1)
    assert [found for found, _ in refused.value.problems] == [pointer]


@pytest.mark.parametrize("checksums", [{"a": "short"}, {"a": 1}, [], "x"])
def test_checksums_of_another_form_are_no_specification(checksums: object) -> None:
    with pytest.raises(VlmSpecError) as refused:
        a_spec(adapter_folder="/adapters/a", adapter_sha256=checksums)
    assert all(pointer.startswith("/adapter_sha256") for pointer, _ in refused.value.problems)


def test_a_version_without_an_adapters_folder_keeps_its_digest() -> None:
    assert not {"adapter_folder", "adapter_sha256"} & BASE.as_json().keys()


def test_a_server_may_load_what_differs_by_the_adapter_alone(adapter: Path) -> None:
    spec = with_adapter(BASE, adapter, rank=16)
    assert differs_by_adapter_alone(spec, BASE)
    assert differs_by_adapter_alone(spec, replace(spec, adapter_sha256={"x": "0" * 64}))
    assert not differs_by_adapter_alone(with_adapter(BASE, adapter, rank=17), BASE), "the server has no room for it"
    assert not differs_by_adapter_alone(replace(spec, prompt_version="v2"), BASE)
    assert not differs_by_adapter_alone(BASE, BASE)


def test_it_is_loaded_under_the_tied_name(adapter: Path) -> None:
    spec, server = with_adapter(BASE, adapter, rank=16), Server(BASE.tied_name)
    load(spec, server)
    assert server.asked == [f'{{"lora_name":"{spec.tied_name}","lora_path":"{adapter}"}}'.encode()]


def test_what_is_loaded_already_is_not_loaded_again(adapter: Path) -> None:
    spec = with_adapter(BASE, adapter, rank=16)
    server = Server(BASE.tied_name, spec.tied_name)
    load(spec, server)
    assert server.asked == []


def test_a_server_of_another_version_gets_no_adapter(adapter: Path) -> None:
    server = Server("stet-0000000000000000")
    with pytest.raises(VersionNotServedError):
        load(with_adapter(BASE, adapter, rank=16), server)
    assert server.asked == []


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "adapter_config.json", "more.bin"])
def test_a_file_that_was_changed_or_added_is_never_loaded(adapter: Path, name: str) -> None:
    spec, server = with_adapter(BASE, adapter, rank=16), Server(BASE.tied_name)
    (adapter / name).write_bytes(b"other")
    with pytest.raises(WeightsError, match=name):
        load(spec, server)
    assert server.asked == []


def _lost(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("gone", request=request)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda _: httpx.Response(404, json={"detail": "Not Found"}), RUNTIME_VARIABLE),
        (lambda _: httpx.Response(404, text="nothing here"), RUNTIME_VARIABLE),
        (lambda _: httpx.Response(404, json={"error": {"message": "No adapter found"}}), "does not load .*404"),
        (lambda _: httpx.Response(500, json={"error": {"message": "rank"}}), "does not load .*500"),
        (_lost, "cannot be reached: ConnectError"),
    ],
)
def test_a_server_that_does_not_load_says_what_to_do(adapter: Path, answer: Answer, told: str) -> None:
    with pytest.raises(EngineUnavailableError, match=told):
        load(with_adapter(BASE, adapter, rank=16), Server(BASE.tied_name, answer=answer))
