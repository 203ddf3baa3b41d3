"""The self-test on a real server: what vLLM does, seen with our own requests."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inference.engines.vllm_server import ServedModel
from inference.errors import VersionNotServedError
from inference.serving.chat import ServerClient, chat_client
from inference.serving.declaration import completed
from inference.serving.health import served_by
from inference.serving.self_test import run_self_test
from inference.types import ImagingProfile, VlmSpec
from tests.replay.alias import AliasTransport
from tests.vllm.served import ON_CPU, ServedHouse, found


@pytest.fixture(scope="module")
def report(served: ServedHouse) -> dict[str, Any]:
    """What `probe_engine` printed of the served version."""
    return served.probe()


@pytest.fixture(scope="module")
def spec(tiny: Path) -> VlmSpec:
    return completed(ON_CPU, tiny)


def test_the_served_version_passes_and_the_result_is_kept(served: ServedHouse, report: dict[str, Any]) -> None:
    assert report["is_passed"] is True
    [(is_passed, kept)] = served.house.rows(
        "SELECT is_passed, report FROM review_selftest WHERE engine_version_id = ?", served.version_id
    )
    assert is_passed == 1
    assert json.loads(kept) == report


def test_constrained_json_constrains(report: dict[str, Any]) -> None:
    assert found(report, "constrained") == {"is_passed": True, "finish_reason": "stop", "is_compact": True}


def test_guided_json_is_seen_to_be_ignored(report: dict[str, Any]) -> None:
    forms = found(report, "forms_of_constraint")
    assert (forms["response_format"], forms["guided_json"]) == ("obeyed", "ignored")


def test_white_space_cannot_loop_even_where_it_is_the_likeliest(report: dict[str, Any]) -> None:
    white_space = found(report, "no_white_space_loop")
    assert white_space["n_biased_tokens"] >= 3
    assert (white_space["is_passed"], white_space["finish_reason"]) == (True, "stop")
    assert white_space["is_held_by_flag"] is True


def test_log_probabilities_are_there_and_sum_up(report: dict[str, Any]) -> None:
    logprobs = found(report, "logprobs")
    assert logprobs["is_passed"] is True
    assert logprobs["n_complete"] >= 1
    assert logprobs["complete_sums"] == pytest.approx([1.0, 1.0], abs=1e-3)


def test_temperature_0_repeats_byte_for_byte(report: dict[str, Any]) -> None:
    repeatable = found(report, "repeatable")
    assert (repeatable["is_passed"], repeatable["shift"]) == (True, 0.0)


def test_near_identical_images_are_not_mixed_up(report: dict[str, Any]) -> None:
    images = found(report, "images_kept_apart")
    assert (images["is_passed"], images["is_kept_apart_in_a_batch"]) == (True, True)
    assert images["apart"] > 0


def test_an_answer_cut_short_says_so(report: dict[str, Any]) -> None:
    assert found(report, "length_seen") == {"is_passed": True, "finish_reason": "length", "n_tokens": 2}


def test_the_pixel_budget_holds(report: dict[str, Any]) -> None:
    budget = found(report, "pixel_budget")
    assert (budget["is_passed"], budget["is_scaled_down"]) == (True, False)
    quarter, half, whole = budget["prompt_tokens"]
    assert quarter < half < whole < budget["tokens_needed"] <= 4096


def test_a_second_image_is_refused(report: dict[str, Any]) -> None:
    assert found(report, "image_limit") == {"is_passed": True, "limit": 1}


def test_this_architecture_is_seen_to_load_no_adapter(report: dict[str, Any]) -> None:
    adapter = found(report, "adapter")
    assert (adapter["is_enabled"], adapter["can_load_at_run_time"], adapter["adapters"]) == (False, False, [])


def run(spec: VlmSpec, client: ServerClient) -> dict[str, Any]:
    return run_self_test(spec, ServedModel(spec, client), client).as_json()


def test_a_budget_above_what_the_model_takes_is_found(served: ServedHouse, spec: VlmSpec) -> None:
    greedy = replace(spec, imaging=ImagingProfile(max_pixels=2_000_000))
    # The same server, as if it had been started for that version.
    with chat_client(served.url, transport=AliasTransport(greedy.tied_name)) as client:
        report = run(greedy, client)
    assert report["is_passed"] is False
    assert (found(report, "pixel_budget")["is_passed"], found(report, "pixel_budget")["is_scaled_down"]) == (
        False,
        True,
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"vllm_version": "0.33.0"},
        {"served_model_name": "other"},
        {"server_flags": {"max-model-len": 8192}},
        {"weights_sha256": {"model.safetensors": "f" * 64}},
        {"chat_template_sha256": "f" * 64},
        {"quantisation": "fp8"},
    ],
)
def test_a_server_that_was_started_for_another_version_is_found(
    served: ServedHouse, spec: VlmSpec, changed: dict[str, Any]
) -> None:
    """The last three call their model the same: the real server knows the tied name of its own version only."""
    other = replace(spec, **changed)
    with chat_client(served.url) as client:
        report = run(other, client)
        assert [(check["name"], check["is_passed"]) for check in report["checks"]] == [("served_as_declared", False)]
        with pytest.raises(VersionNotServedError, match="Restart it" if "vllm_version" not in changed else "runs vLLM"):
            ServedModel(other, client).look()


@pytest.mark.parametrize(
    "changed", [{"vllm_version": "0.33.0"}, {"server_flags": {**ON_CPU["server_flags"], "max-model-len": 8192}}]
)
def test_a_server_that_knows_the_name_and_is_another_all_the_same_is_found(
    served: ServedHouse, spec: VlmSpec, changed: dict[str, Any]
) -> None:
    other = replace(spec, **changed)
    with chat_client(served.url, transport=AliasTransport(other.tied_name)) as client:
        report = run(other, client)
    assert [(check["name"], check["is_passed"]) for check in report["checks"]] == [("served_as_declared", False)]


def test_the_real_server_lists_the_models_name_and_the_versions(
    served: ServedHouse, spec: VlmSpec, report: dict[str, Any]
) -> None:
    with chat_client(served.url) as client:
        lengths = served_by(client).max_model_lens
    assert lengths == {"tiny-ocr": 4096, spec.tied_name: 4096}
    assert found(report, "served_as_declared")["models"] == sorted(lengths)
