"""Each fault that a server can have is found by the check that is named after it, and by no accident of another."""

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from inference.engines.vllm_server import ServedModel
from inference.errors import EngineUnavailableError
from inference.serving.chat import chat_client
from inference.serving.self_test import Check, SelfTestReport, run_self_test
from inference.types import Decoding, VlmSpec
from tests.inference.serving.self_test.fake_vllm import FakeVllm
from tests.inference.serving.specs import SMALL, with_flags

ADAPTED = replace(
    with_flags(enable_lora=True, lora_modules={"ad1": "adapters/ad1"}), adapter="ad1", imaging=SMALL.imaging
)


def tried(server: FakeVllm, spec: VlmSpec = SMALL, told: list[Check] | None = None) -> SelfTestReport:
    """Try a version out on a server that was started for it."""
    server.spec = spec
    return tried_elsewhere(server, spec, told)


def tried_elsewhere(server: FakeVllm, spec: VlmSpec = SMALL, told: list[Check] | None = None) -> SelfTestReport:
    """Try a version out on a server that was started for whatever it was started for."""
    with chat_client("http://vllm", transport=httpx.MockTransport(server)) as client:
        model = ServedModel(spec, client, first_wait_seconds=0.0)
        return run_self_test(spec, model, client, None if told is None else told.append)


def failed(report: SelfTestReport) -> set[str]:
    return {check.name for check in report.checks if check.is_required and not check.is_passed}


def found(report: SelfTestReport, name: str) -> dict[str, object]:
    return dict(next(check for check in report.checks if check.name == name).found)


def test_a_server_as_it_should_be_passes_every_check() -> None:
    told: list[Check] = []
    report = tried(FakeVllm(), told=told)
    assert report.is_passed
    assert failed(report) == set()
    assert tuple(told) == report.checks
    assert [check.name for check in report.checks] == [
        "served_as_declared", "constrained", "logprobs", "length_seen", "repeatable", "images_kept_apart",
        "pixel_budget", "no_white_space_loop", "forms_of_constraint", "image_limit", "adapter",
    ]  # fmt: skip


def test_a_report_is_plain_data_without_any_text_of_the_model() -> None:
    report = tried(FakeVllm())
    text = json.dumps(report.as_json())
    assert json.loads(text)["is_passed"] is True
    assert "tiny OCR" not in text
    assert {"name", "is_passed", "is_required", "found"} == set(report.as_json()["checks"][0])


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        ("ignores_schema", {"constrained", "logprobs", "no_white_space_loop"}),
        ("white_space", {"no_white_space_loop"}),
        ("no_logprobs", {"logprobs", "images_kept_apart"}),
        ("sums_wrong", {"logprobs"}),
        ("above_one", {"logprobs", "images_kept_apart"}),
        ("unspelt", {"logprobs"}),
        ("not_likeliest", {"logprobs", "images_kept_apart"}),
        ("hides_length", {"length_seen"}),
        ("writes_otherwise", {"repeatable", "images_kept_apart"}),
        ("drifts", {"images_kept_apart"}),
        ("mixes_images", {"images_kept_apart"}),
        ("scales_down", {"pixel_budget"}),
        ("small_encoder", {"pixel_budget"}),
        ("takes_more_images", {"image_limit"}),
    ],
)
def test_a_fault_is_found_by_name(fault: str, names: set[str]) -> None:
    report = tried(FakeVllm(fault))
    assert failed(report) == names
    assert not report.is_passed


OTHERWISE: dict[str, Any] = {
    "weights_sha256": {**SMALL.weights_sha256, "model.safetensors": "f" * 64},
    "chat_template_sha256": "f" * 64,
    "quantisation": "fp8",
    "server_flags": {**SMALL.server_flags, "dtype": "float16"},
    "server_environment": {"VLLM_USE_V1": "0"},
    "decoding": Decoding(seed=1),
    "prompt_version": "v2",
    "served_model_name": "other",
}


@pytest.mark.parametrize("changed", OTHERWISE)
def test_a_server_that_was_started_for_another_version_is_found_whatever_its_models_name(changed: str) -> None:
    """It answers as it should and calls its model the same: nothing but its tied name gives it away."""
    server = FakeVllm(spec=replace(SMALL, **{changed: OTHERWISE[changed]}))
    report = tried_elsewhere(server)
    assert [(check.name, check.is_passed) for check in report.checks] == [("served_as_declared", False)]
    assert (SMALL.tied_name in server.names, server.bodies) == (False, [])
    assert found(report, "served_as_declared")["tied_name"] == SMALL.tied_name


@pytest.mark.parametrize("server", [FakeVllm(version="0.33.0"), FakeVllm(max_model_len=4096)])
def test_nothing_more_is_asked_of_a_server_of_another_vllm_or_context(server: FakeVllm) -> None:
    report = tried(server)
    assert [check.name for check in report.checks] == ["served_as_declared"]
    assert not report.is_passed
    assert server.bodies == []


def test_every_question_is_put_to_the_tied_name_but_those_about_the_bare_weights() -> None:
    server = FakeVllm()
    tried(server)
    assert {body["model"] for body in server.bodies} == {SMALL.tied_name}
    adapted = FakeVllm()
    tried(adapted, ADAPTED)
    bare = [body for body in adapted.bodies if body["model"] == ADAPTED.served_model_name]
    assert ({body["model"] for body in adapted.bodies}, len(bare)) == ({ADAPTED.tied_name, bare[0]["model"]}, 1)


def test_a_server_that_is_away_gives_no_report() -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with chat_client("http://vllm", transport=httpx.MockTransport(away)) as client:
        model = ServedModel(SMALL, client, first_wait_seconds=0.0)
        with pytest.raises(EngineUnavailableError):
            run_self_test(SMALL, model, client)


def test_guided_json_is_told_to_be_ignored() -> None:
    report = tried(FakeVllm())
    assert found(report, "forms_of_constraint") == {"response_format": "obeyed", "guided_json": "ignored"}


@pytest.mark.parametrize(("fault", "reason", "is_held"), [("", "stop", True), ("white_space", "length", False)])
def test_white_space_that_loops_is_told_for_both_forms_of_request(fault: str, reason: str, is_held: bool) -> None:
    white_space = found(tried(FakeVllm(fault)), "no_white_space_loop")
    assert (white_space["finish_reason"], white_space["is_held_by_flag"]) == (reason, is_held)


def test_white_space_is_made_likely_where_the_server_tells_its_tokens() -> None:
    server = FakeVllm()
    assert found(tried(server), "no_white_space_loop")["n_biased_tokens"] == 3
    assert {"11": 100, "12": 100, "13": 100} in [body.get("logit_bias") for body in server.bodies]
    assert found(tried(FakeVllm("no_tokenize")), "no_white_space_loop")["n_biased_tokens"] == 0


def test_what_a_version_does_not_use_decides_nothing() -> None:
    free = replace(SMALL, decoding=Decoding(is_constrained=False))
    assert {"constrained", "no_white_space_loop"} <= failed(tried(FakeVllm("ignores_schema")))
    assert not {"constrained", "no_white_space_loop"} & failed(tried(FakeVllm("ignores_schema"), free))
    unscored = replace(SMALL, decoding=Decoding(top_logprobs=0))
    assert "logprobs" not in failed(tried(FakeVllm(), unscored))


def test_an_answer_that_has_no_room_beside_the_largest_page_fails_the_budget() -> None:
    wide = replace(SMALL, decoding=Decoding(max_tokens=8000))
    assert failed(tried(FakeVllm(), wide)) == {"pixel_budget"}


def test_a_model_with_the_same_tokens_for_every_image_has_no_budget_to_break() -> None:
    report = tried(FakeVllm("fixed_tokens"))
    assert report.is_passed
    assert found(report, "pixel_budget")["is_scaled_down"] is False


def test_a_refused_check_says_which_remedy_there_is() -> None:
    assert "limit-mm-per-prompt" in str(found(tried(FakeVllm("small_encoder")), "pixel_budget")["refused"])


@pytest.mark.parametrize(("fault", "is_passed"), [("", True), ("ignores_adapter", False)])
def test_an_adapter_must_make_a_difference(fault: str, is_passed: bool) -> None:
    report = tried(FakeVllm(fault), ADAPTED)
    assert (failed(report) == set()) is is_passed
    assert found(report, "adapter")["adapters"] == [ADAPTED.tied_name]
    assert found(report, "adapter")["is_enabled"] is True


def test_an_adapter_that_is_not_served_is_found_at_once() -> None:
    assert failed(tried_elsewhere(FakeVllm(), ADAPTED)) == {"served_as_declared"}


@pytest.mark.parametrize(("fault", "can"), [("", False), ("loads_at_run_time", True)])
def test_whether_adapters_load_at_run_time_is_told(fault: str, can: bool) -> None:
    assert found(tried(FakeVllm(fault)), "adapter")["can_load_at_run_time"] is can


def test_a_model_without_a_server_is_tried_by_its_answers_alone() -> None:
    with chat_client("http://vllm", transport=httpx.MockTransport(FakeVllm())) as client:
        report = run_self_test(SMALL, ServedModel(SMALL, client, first_wait_seconds=0.0))
    assert report.is_passed
    assert [check.name for check in report.checks] == [
        "constrained", "logprobs", "length_seen", "repeatable", "images_kept_apart", "pixel_budget",
    ]  # fmt: skip
