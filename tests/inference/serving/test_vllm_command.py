import shlex
from dataclasses import replace

import pytest

from inference.serving.vllm_command import DEFAULT_FLAGS, REQUIRED_FLAGS, ServerCommand, server_command
from inference.types import VlmSpec, VlmSpecError
from tests.inference.serving.specs import SPEC, with_flags

LORA = with_flags(enable_lora=True, lora_modules={"ad1": "adapters/ad1"})


def command(spec: VlmSpec = SPEC) -> ServerCommand:
    return server_command(spec, python="/venv/bin/python", host="127.0.0.1", port=8199)


def problems(spec: VlmSpec) -> list[tuple[str, str]]:
    with pytest.raises(VlmSpecError) as refused:
        command(spec)
    return refused.value.problems


def value_of(flag: str, spec: VlmSpec = SPEC) -> str:
    arguments = command(spec).arguments
    return arguments[arguments.index(flag) + 1]


def test_the_flags_of_a_version_are_all_on_the_command_line() -> None:
    assert command().arguments == (
        "/venv/bin/python", "-m", "vllm.entrypoints.openai.api_server",
        "--model", "/srv/weights/tiny", "--served-model-name", "tiny-ocr", SPEC.tied_name,
        "--host", "127.0.0.1", "--port", "8199",
        "--dtype", "bfloat16",
        "--no-enable-prefix-caching",
        "--gpu-memory-utilization", "0.85",
        "--limit-mm-per-prompt", '{"image":1}',
        "--max-model-len", "8192",
        "--max-num-seqs", "16",
        "--mm-processor-cache-gb", "0",
        "--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}',
    )  # fmt: skip


def test_the_order_in_which_flags_were_written_changes_nothing() -> None:
    backwards = replace(SPEC, server_flags=dict(reversed(list(DEFAULT_FLAGS.items()))))
    assert command(backwards) == command()


def test_nothing_is_fetched_and_nothing_told_whatever_a_version_says() -> None:
    environment = command(replace(SPEC, server_environment={"HF_HUB_OFFLINE": "0", "OMP_NUM_THREADS": "1"})).environment
    assert environment["HF_HUB_OFFLINE"] == environment["VLLM_NO_USAGE_STATS"] == "1"
    assert environment["OMP_NUM_THREADS"] == "1"


def test_remote_code_runs_only_where_the_version_trusts_it() -> None:
    assert "--trust-remote-code" not in command().arguments
    assert "--trust-remote-code" in command(replace(SPEC, is_remote_code_trusted=True)).arguments


def test_quantisation_is_passed_on() -> None:
    assert "--quantization" not in command().arguments
    assert value_of("--quantization", replace(SPEC, quantisation="fp8")) == "fp8"


@pytest.mark.parametrize("flag", REQUIRED_FLAGS)
def test_a_version_that_leaves_a_flag_to_vllm_is_refused(flag: str) -> None:
    flags = {name: value for name, value in DEFAULT_FLAGS.items() if name != flag}
    assert problems(replace(SPEC, server_flags=flags)) == [
        (f"/server_flags/{flag}", "is required: a server's flags stand in its version")
    ]


@pytest.mark.parametrize("flag", ["model", "port", "trust_remote_code", "api_key", "quantization"])
def test_a_flag_that_comes_from_elsewhere_is_refused(flag: str) -> None:
    [(pointer, message)] = problems(with_flags(**{flag: "x"}))
    assert pointer == f"/server_flags/{flag.replace('_', '-')}"
    assert "it comes from" in message


@pytest.mark.parametrize("name", ["--seed", "max_num_batched_tokens", ""])
def test_a_flag_that_is_spelt_otherwise_is_refused(name: str) -> None:
    [(pointer, message)] = problems(replace(SPEC, server_flags={**DEFAULT_FLAGS, name: 1}))
    assert pointer == f"/server_flags/{name}"
    assert "max-model-len" in message


def test_a_flag_without_a_value_is_refused() -> None:
    assert problems(with_flags(seed=None)) == [("/server_flags/seed", "must have a value; leave the flag out instead")]


@pytest.mark.parametrize("flag", ["enable_log_requests", "enable_log_outputs"])
def test_a_flag_that_writes_documents_into_the_log_is_refused(flag: str) -> None:
    [(pointer, message)] = problems(with_flags(**{flag: True}))
    assert pointer == f"/server_flags/{flag.replace('_', '-')}"
    assert "text of documents" in message
    assert f"--no-{flag.replace('_', '-')}" in command(with_flags(**{flag: False})).arguments


def test_a_relative_weights_folder_is_refused() -> None:
    assert problems(replace(SPEC, weights_folder="weights")) == [("/weights_folder", "must be an absolute path")]


def test_an_adapter_is_served_from_within_the_pinned_weights() -> None:
    assert value_of("--lora-modules", LORA) == "ad1=/srv/weights/tiny/adapters/ad1"
    assert "--enable-lora" in command(LORA).arguments


def test_a_version_is_served_under_its_tied_name_beside_the_models() -> None:
    arguments = command().arguments
    at = arguments.index("--served-model-name")
    assert arguments[at + 1 : at + 4] == ("tiny-ocr", SPEC.tied_name, "--host")


def test_of_a_version_with_an_adapter_it_is_the_adapter_that_has_the_tied_name() -> None:
    """Under the weights' names it would be answered without the adapter."""
    spec = replace(
        with_flags(enable_lora=True, lora_modules={"ad1": "adapters/ad1", "ad2": "adapters/ad1"}), adapter="ad1"
    )
    arguments = command(spec).arguments
    at = arguments.index("--served-model-name")
    assert arguments[at + 1 : at + 3] == ("tiny-ocr", "--host")
    at = arguments.index("--lora-modules")
    served = {"ad2=/srv/weights/tiny/adapters/ad1", f"{spec.tied_name}=/srv/weights/tiny/adapters/ad1"}
    assert set(arguments[at + 1 : at + 3]) == served
    assert not [argument for argument in arguments if argument.startswith("ad1=")]


def test_an_adapter_cannot_take_the_name_of_a_version() -> None:
    tied = with_flags(enable_lora=True, lora_modules={"stet-0123456789abcdef": "adapters/ad1"})
    [(pointer, message)] = problems(tied)
    assert pointer == "/server_flags/lora-modules/stet-0123456789abcdef"
    assert "cannot begin with stet-" in message


def test_an_adapter_outside_the_pinned_weights_is_refused() -> None:
    outside = with_flags(enable_lora=True, lora_modules={"ad1": "/elsewhere/ad1"})
    assert [pointer for pointer, _ in problems(outside)] == ["/server_flags/lora-modules/ad1"]


def test_adapters_without_names_are_refused() -> None:
    listed = with_flags(enable_lora=True, lora_modules=["ad1=adapters/ad1"])
    assert [pointer for pointer, _ in problems(listed)] == ["/server_flags/lora-modules"]


@pytest.mark.parametrize(
    "spec",
    [
        replace(SPEC, adapter="ad1"),
        replace(with_flags(lora_modules={"ad1": "adapters/ad1"}), adapter="ad1"),
        replace(LORA, adapter="ad2"),
    ],
)
def test_an_adapter_that_is_not_served_is_refused(spec: VlmSpec) -> None:
    assert [pointer for pointer, _ in problems(spec)] == ["/adapter"]
    assert command(replace(LORA, adapter="ad1"))


def test_several_values_of_a_flag_are_several_arguments() -> None:
    arguments = command(with_flags(middleware=["a.b", "c.d"])).arguments
    at = arguments.index("--middleware")
    assert arguments[at + 1 : at + 3] == ("a.b", "c.d")


def test_the_shell_line_survives_a_shell() -> None:
    made = command(replace(SPEC, weights_folder="/srv/my weights", server_environment={"NOTE": "a b"}))
    words = shlex.split(made.shell_line())
    n_assignments = len(made.environment)
    assert words[n_assignments:] == list(made.arguments)
    assert dict(word.split("=", 1) for word in words[:n_assignments]) == dict(made.environment)
