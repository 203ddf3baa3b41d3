"""A version is the same version while nothing of it changes, and its tied name says so to whoever serves it."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from inference.types import Decoding, ImagingProfile, VlmSpec, VlmSpecError
from inference.types.vlm_problems import CHECKS, REQUIRED
from tests.inference.serving.specs import SPEC

CHANGED: dict[str, Any] = {
    "kind": "vllm_offline",
    "served_model_name": "other",
    "weights_folder": "/srv/other",
    "weights_sha256": {"model.safetensors": "f" * 64},
    "prompt_version": "v2",
    "chat_template_sha256": "f" * 64,
    "vllm_version": "0.33.0",
    "imaging": ImagingProfile(jpeg_quality=90),
    "decoding": Decoding(seed=1),
    "server_flags": {**SPEC.server_flags, "dtype": "float16"},
    "server_environment": {"A": "1"},
    "words_by": "scripted",
    "adapter": "ad1",
    "is_remote_code_trusted": True,
    "quantisation": "fp8",
    "library_versions": {"torch": "2.13.0"},
    "adapter_folder": "/adapters/tuned",
    "adapter_sha256": {"adapter_config.json": "1" * 64},
}


def given(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(SPEC.as_json()))
    return {**data, **changes}


def problems(**changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(VlmSpecError) as refused:
        VlmSpec.from_json(given(**changes))
    return refused.value.problems


def test_a_version_survives_being_stored() -> None:
    stored = VlmSpec.from_json(given())
    assert stored == SPEC
    assert (stored.digest, stored.tied_name) == (SPEC.digest, SPEC.tied_name)


def test_the_tied_name_is_the_beginning_of_the_digest() -> None:
    assert SPEC.tied_name == f"stet-{SPEC.digest[:16]}"


def test_every_key_is_tried_below() -> None:
    assert set(CHANGED) == {one.name for one in fields(VlmSpec)} == set(CHECKS)


@pytest.mark.parametrize("name", CHANGED)
def test_another_value_of_any_key_makes_another_version_with_another_name(name: str) -> None:
    other = replace(SPEC, **{name: CHANGED[name]})
    assert other.digest != SPEC.digest
    assert other.tied_name != SPEC.tied_name


def test_what_was_declared_before_there_were_library_versions_keeps_its_digest() -> None:
    assert "library_versions" not in SPEC.as_json()
    assert VlmSpec.from_json(SPEC.as_json()).digest == SPEC.digest


@pytest.mark.parametrize("name", REQUIRED)
def test_a_key_that_must_be_there_is_missed_by_name(name: str) -> None:
    data = given()
    del data[name]
    with pytest.raises(VlmSpecError) as refused:
        VlmSpec.from_json(data)
    assert refused.value.problems == [(f"/{name}", "is required")]


def test_all_problems_are_told_at_once() -> None:
    found = problems(kind="magic", wieghts=1, imaging={"long_side": 0, "size": 3}, server_environment={"A": 1})
    assert [place for place, _ in found] == [
        "/wieghts", "/kind", "/imaging/long_side", "/imaging/size", "/server_environment/A",
    ]  # fmt: skip


LONG_SIDE = "must be a whole number from 64 to 20000"
SECOND = "must be 0, or a whole number from 64 to 20000"


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        ("imaging/long_side", 0, LONG_SIDE),
        ("imaging/long_side", 63, LONG_SIDE),
        ("imaging/long_side", -1440, LONG_SIDE),
        ("imaging/long_side", 20_001, LONG_SIDE),
        ("imaging/long_side", 1440.5, LONG_SIDE),
        ("imaging/long_side", "1440", LONG_SIDE),
        ("imaging/long_side", True, LONG_SIDE),
        ("imaging/long_side", None, LONG_SIDE),
        ("imaging/second_long_side", 1, SECOND),
        ("imaging/second_long_side", -1, SECOND),
        ("imaging/max_pixels", 0, "must be a whole number from 4096 to 400000000"),
        ("imaging/jpeg_quality", 0, "must be a whole number from 1 to 100"),
        ("imaging/jpeg_quality", 101, "must be a whole number from 1 to 100"),
        ("imaging/is_cropped", 1, "must be true or false"),
        ("imaging/size", 1, "is not a known key"),
        ("decoding/temperature", -0.1, "must be a number from 0 to 2"),
        ("decoding/temperature", float("nan"), "must be a number from 0 to 2"),
        ("decoding/temperature", float("inf"), "must be a number from 0 to 2"),
        ("decoding/seed", -1, "must be a whole number from 0 to 9223372036854775807"),
        ("decoding/top_logprobs", 21, "must be a whole number from 0 to 20"),
        ("decoding/top_logprobs", 2.0, "must be a whole number from 0 to 20"),
        ("decoding/max_tokens", 0, "must be a whole number from 1 to 1000000"),
        ("decoding/is_constrained", "yes", "must be true or false"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_its_bounds(at: str, value: object, message: str) -> None:
    group, key = at.split("/")
    assert problems(**{group: {**given()[group], key: value}}) == [(f"/{at}", message)]


def test_numbers_at_their_bounds_are_taken() -> None:
    imaging = {"long_side": 64, "max_pixels": 4096, "jpeg_quality": 100, "second_long_side": 20_000}
    decoding = {"temperature": 2, "top_logprobs": 0, "max_tokens": 1, "seed": 2**63 - 1}
    spec = VlmSpec.from_json(given(imaging=imaging, decoding=decoding))
    assert (spec.imaging.long_side, spec.decoding.temperature) == (64, 2)


@pytest.mark.parametrize(
    "imaging", [{"long_side": 1120}, {"second_long_side": 1440}, {"long_side": 900, "second_long_side": 900}]
)
def test_a_second_scale_that_is_the_first_is_no_vote(imaging: dict[str, int]) -> None:
    """Beside a default as well: two readings of one image would agree whatever they say."""
    message = "must differ from long_side, or the vote is one image's with itself; 0 for no second reading"
    assert problems(imaging=imaging) == [("/imaging/second_long_side", message)]


def test_no_second_reading_is_a_choice() -> None:
    assert VlmSpec.from_json(given(imaging={"second_long_side": 0})).imaging.second_long_side == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("served_model_name", "", "must be a text that is not empty"),
        (
            "served_model_name",
            "stet-0123456789abcdef",
            "cannot begin with stet-: such names say which version a server serves",
        ),
        ("prompt_version", " ", "must be a text that is not empty"),
        ("vllm_version", 0.32, "must be a text that is not empty"),
        ("words_by", "", "must be a text that is not empty"),
        ("weights_folder", 7, "must be a text"),
        ("adapter", None, "must be a text"),
        ("quantisation", 8, "must be a text"),
        ("weights_sha256", {}, "must map each file of the weights folder to its SHA-256"),
        ("chat_template_sha256", "abc", "must be 64 hexadecimal digits, or empty where there is none"),
        ("is_remote_code_trusted", "no", "must be true or false"),
        ("server_flags", ["port"], "must be an object"),
        ("server_environment", "A=1", "must be an object"),
        ("library_versions", [], "must be an object"),
        ("imaging", "large", "must be an object"),
        ("decoding", None, "must be an object"),
        ("kind", "magic", "must be one of vllm_server, vllm_offline, transformers_local, scripted"),
    ],
)
def test_a_value_of_another_kind_is_refused_at_its_place(name: str, value: object, message: str) -> None:
    assert problems(**{name: value}) == [(f"/{name}", message)]


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("weights_sha256", {"model.safetensors": "abc"}, "/weights_sha256/model.safetensors"),
        ("server_environment", {"OMP_NUM_THREADS": 1}, "/server_environment/OMP_NUM_THREADS"),
        ("library_versions", {"torch": 2.13}, "/library_versions/torch"),
    ],
)
def test_a_value_within_an_object_is_refused_at_its_own_place(name: str, value: object, place: str) -> None:
    [(found, _)] = problems(**{name: value})
    assert found == place
