from pathlib import Path
from typing import Any

import pytest

from inference.serving import declaration
from inference.serving.declaration import completed
from inference.serving.vllm_command import DEFAULT_FLAGS
from inference.serving.weights import WeightsError, manifest_of
from inference.types import VlmSpec, VlmSpecError

GIVEN: dict[str, Any] = {"vllm_version": "0.32.0"}


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny-ocr"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"numbers")
    (folder / "chat_template.jinja").write_text("User: {{ messages }}")
    return folder


def problems(given: dict[str, Any], weights: Path | None = None) -> list[tuple[str, str]]:
    with pytest.raises(VlmSpecError) as refused:
        completed(given, weights)
    return refused.value.problems


def test_a_folder_and_a_version_are_enough(weights: Path) -> None:
    spec = completed(GIVEN, weights)
    assert (spec.kind, spec.served_model_name, spec.prompt_version) == ("vllm_server", "tiny-ocr", "v1")
    assert spec.weights_folder == str(weights)
    assert spec.weights_sha256 == manifest_of(weights)
    assert len(spec.chat_template_sha256) == 64


def test_every_default_is_written_out_so_that_it_is_frozen(weights: Path) -> None:
    data = completed(GIVEN, weights).as_json()
    assert data["server_flags"] == dict(DEFAULT_FLAGS)
    assert data["imaging"]["long_side"] == 1440
    assert data["decoding"]["temperature"] == 0.0
    assert VlmSpec.from_json(data) == completed(GIVEN, weights)


def test_what_is_given_wins_over_a_default_and_leaves_the_others(weights: Path) -> None:
    given = GIVEN | {"server_flags": {"max-model-len": 4096}, "decoding": {"max_tokens": 512}, "served_model_name": "x"}
    spec = completed(given, weights)
    assert spec.server_flags["max-model-len"] == 4096
    assert spec.server_flags["dtype"] == "bfloat16"
    assert (spec.decoding.max_tokens, spec.decoding.top_logprobs) == (512, 5)
    assert spec.served_model_name == "x"


def test_a_complete_specification_needs_no_folder(weights: Path) -> None:
    spec = completed(GIVEN, weights)
    assert completed(spec.as_json()) == spec


def test_a_specification_that_says_otherwise_than_the_folder_is_refused(weights: Path) -> None:
    data = completed(GIVEN, weights).as_json()
    (weights / "model.safetensors").write_bytes(b"others")
    assert problems(data, weights) == [("/weights_sha256", "is not what the folder has")]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError):
        completed(GIVEN, tmp_path / "nowhere")


def test_engines_without_vllm_get_none_of_its_flags(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaration, "installed", lambda names: dict.fromkeys(names, "1"))
    assert completed(GIVEN | {"kind": "transformers_local"}, weights).server_flags == {}
    assert completed(GIVEN | {"kind": "vllm_offline"}, weights).server_flags == dict(DEFAULT_FLAGS)


def test_a_model_in_this_process_is_declared_with_the_libraries_that_run_it(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"torch": "2.13.0", "transformers": "5.19.0", "xgrammar": "0.2.8"}
    monkeypatch.setattr(declaration, "installed", lambda names: {name: here[name] for name in names if name in here})
    given = GIVEN | {"kind": "transformers_local"}
    spec = completed(given, weights)
    assert spec.library_versions == here
    other = completed(given | {"library_versions": {"torch": "2.14.0"}}, weights)
    assert other.library_versions == {**here, "torch": "2.14.0"}
    assert other.digest != spec.digest
    assert completed(GIVEN, weights).library_versions == {}
    message = "must be given, or the version declared where the library is installed"
    assert problems(given | {"quantisation": "8bit"}, weights) == [("/library_versions/bitsandbytes", message)]
    assert completed(spec.as_json()) == spec


def test_everything_that_is_wrong_is_told_together(weights: Path) -> None:
    given = GIVEN | {"chat_template_sha256": "f" * 64, "imaging": {"long_side": 0}, "wieghts": 1}
    assert [place for place, _ in problems(given, weights)] == [
        "/chat_template_sha256",
        "/wieghts",
        "/imaging/long_side",
    ]


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({}, "/vllm_version"),
        (GIVEN | {"prompt_version": "v999"}, "/prompt_version"),
        (GIVEN | {"kind": "magic"}, "/kind"),
        (GIVEN | {"imaging": "large"}, "/imaging"),
        (GIVEN | {"server_flags": {"port": 1}}, "/server_flags/port"),
        (GIVEN | {"server_flags": ["port"]}, "/server_flags"),
        (GIVEN | {"server_environment": {"OMP_NUM_THREADS": 1}}, "/server_environment/OMP_NUM_THREADS"),
        (GIVEN | {"wieghts": 1}, "/wieghts"),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_place(weights: Path, given: dict[str, Any], pointer: str) -> None:
    assert [place for place, _ in problems(given, weights)] == [pointer]


def test_a_folder_that_is_no_text_is_refused(weights: Path) -> None:
    data = completed(GIVEN, weights).as_json() | {"weights_folder": 7}
    assert problems(data) == [("/weights_folder", "must be a text")]
