import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from inference.serving.weights import manifest_of
from inference.types import VlmSpec
from review.models import EngineVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny-ocr"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"numbers")
    return folder


def add(*arguments: object) -> str:
    out = io.StringIO()
    call_command("add_engine_version", *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def refused(*arguments: object) -> str:
    with pytest.raises(CommandError) as error:
        add(*arguments)
    assert EngineVersion.objects.count() == 0
    return str(error.value)


def test_a_folder_becomes_a_version_and_the_last_line_is_its_id(weights: Path) -> None:
    printed = add("--weights", weights, "--set", "vllm_version=0.32.0")
    version = EngineVersion.objects.get()
    assert printed.splitlines()[-1] == str(version.pk)
    spec = VlmSpec.from_json(version.spec)
    assert (version.name, spec.served_model_name, spec.vllm_version) == ("vllm_server", "tiny-ocr", "0.32.0")
    assert spec.weights_sha256 == manifest_of(weights)


def test_the_same_again_is_the_same_version_and_a_change_another(weights: Path) -> None:
    given = ("--weights", weights, "--set", "vllm_version=0.32.0")
    assert add(*given) == add(*given)
    assert add(*given, "--set", "server_flags/max-model-len=4096") != add(*given)
    (weights / "model.safetensors").write_bytes(b"others")
    add(*given)
    assert EngineVersion.objects.count() == 3


def test_keys_are_set_at_any_depth_as_json_or_as_text(weights: Path) -> None:
    settings = ["vllm_version=0.32", "decoding/max_tokens=512", "server_flags/enforce-eager=true", "words_by=scripted"]
    add("--weights", weights, *(part for one in settings for part in ("--set", one)))
    spec = VlmSpec.from_json(EngineVersion.objects.get().spec)
    # 0.32 is a name, not a number.
    assert (spec.vllm_version, spec.decoding.max_tokens, spec.words_by) == ("0.32", 512, "scripted")
    assert spec.server_flags["enforce-eager"] is True


def test_what_is_printed_can_be_given_back(weights: Path, tmp_path: Path) -> None:
    printed = add("--weights", weights, "--set", "vllm_version=0.32.0", "--print")
    assert EngineVersion.objects.count() == 0
    file = tmp_path / "version.json"
    file.write_text(printed)
    add(file)
    add("--weights", weights, "--set", "vllm_version=0.32.0")
    assert EngineVersion.objects.count() == 1


def test_every_problem_is_told_with_its_place(weights: Path) -> None:
    said = refused("--weights", weights, "--set", "prompt=v1", "--set", "kind=magic")
    assert "/prompt: is not a known key" in said
    assert "/kind: must be one of vllm_server" in said
    assert "/vllm_version: is required" in said


def test_weights_that_are_not_there_are_told(tmp_path: Path) -> None:
    assert "is no folder on this machine" in refused("--weights", tmp_path / "nowhere")


def test_words_by_an_unknown_engine_are_refused(weights: Path) -> None:
    said = refused("--weights", weights, "--set", "vllm_version=0.32.0", "--set", "words_by=nobody")
    assert "'nobody'" in said
    assert "rapidocr" in said


@pytest.mark.parametrize("assignment", ["vllm_version", "=1", "vllm_version/minor=1"])
def test_a_setting_that_cannot_be_made_is_refused(weights: Path, assignment: str) -> None:
    assert "--set" in refused("--weights", weights, "--set", "vllm_version=0.32.0", "--set", assignment)


@pytest.mark.parametrize(("text", "said"), [("{", "no JSON file"), ("[]", "one JSON object"), (None, "cannot be read")])
def test_a_file_that_is_no_specification_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "version.json"
    if text is not None:
        file.write_text(text)
    assert said in refused(file)


def test_a_file_may_be_changed_in_passing(weights: Path, tmp_path: Path) -> None:
    file = tmp_path / "version.json"
    file.write_text(json.dumps({"vllm_version": "0.32.0", "server_flags": {"max-num-seqs": 4}}))
    add(file, "--weights", weights, "--set", "server_flags/max-model-len=2048")
    flags = EngineVersion.objects.get().spec["server_flags"]
    assert (flags["max-num-seqs"], flags["max-model-len"]) == (4, 2048)
