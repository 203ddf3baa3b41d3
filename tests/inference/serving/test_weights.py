import hashlib
import json
from pathlib import Path

import pytest

from inference.serving.weights import WeightsError, chat_template_sha256, manifest_of, verify_weights


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    weights = tmp_path / "weights"
    (weights / "adapters" / "ad1").mkdir(parents=True)
    (weights / "model.safetensors").write_bytes(b"numbers")
    (weights / "config.json").write_text("{}")
    (weights / "adapters" / "ad1" / "adapter_model.safetensors").write_bytes(b"few numbers")
    return weights


def test_a_manifest_names_every_file_with_its_checksum(folder: Path) -> None:
    assert manifest_of(folder) == {
        "adapters/ad1/adapter_model.safetensors": hashlib.sha256(b"few numbers").hexdigest(),
        "config.json": hashlib.sha256(b"{}").hexdigest(),
        "model.safetensors": hashlib.sha256(b"numbers").hexdigest(),
    }


def test_the_folder_that_a_manifest_was_made_of_is_accepted(folder: Path) -> None:
    verify_weights(folder, manifest_of(folder))


def test_one_changed_byte_is_refused_and_the_file_named(folder: Path) -> None:
    manifest = manifest_of(folder)
    (folder / "model.safetensors").write_bytes(b"numberz")
    with pytest.raises(WeightsError) as refused:
        verify_weights(folder, manifest)
    assert refused.value.problems == [("model.safetensors", "has another checksum")]
    assert "model.safetensors has another checksum" in str(refused.value)


def test_missing_and_added_files_are_refused_together(folder: Path) -> None:
    manifest = manifest_of(folder)
    (folder / "config.json").unlink()
    (folder / "modeling.py").write_text("import os")
    with pytest.raises(WeightsError) as refused:
        verify_weights(folder, manifest)
    assert refused.value.problems == [("config.json", "is missing"), ("modeling.py", "is not part of this version")]


def test_what_tools_leave_behind_does_not_count(folder: Path) -> None:
    manifest = manifest_of(folder)
    (folder / ".cache").mkdir()
    (folder / ".cache" / "lock").write_text("")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "modeling.pyc").write_bytes(b"x")
    (folder / ".gitattributes").write_text("x")
    verify_weights(folder, manifest)


def test_a_link_counts_as_what_it_points_to(folder: Path, tmp_path: Path) -> None:
    manifest = manifest_of(folder)
    kept = tmp_path / "blob"
    (folder / "model.safetensors").rename(kept)
    (folder / "model.safetensors").symlink_to(kept)
    verify_weights(folder, manifest)


@pytest.mark.parametrize("is_made", [True, False])
def test_an_empty_or_missing_folder_has_no_manifest(tmp_path: Path, is_made: bool) -> None:
    nowhere = tmp_path / "nowhere"
    if is_made:
        nowhere.mkdir()
    with pytest.raises(WeightsError, match="holds no files" if is_made else "is no folder on this machine"):
        manifest_of(nowhere)


def test_the_chat_template_is_found_where_transformers_looks(folder: Path) -> None:
    assert chat_template_sha256(folder) == ""
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "from the tokenizer"}))
    assert chat_template_sha256(folder) == hashlib.sha256(b"from the tokenizer").hexdigest()
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": "from its own JSON"}))
    assert chat_template_sha256(folder) == hashlib.sha256(b"from its own JSON").hexdigest()
    (folder / "chat_template.jinja").write_text("from the file")
    assert chat_template_sha256(folder) == hashlib.sha256(b"from the file").hexdigest()


def test_several_named_templates_have_one_checksum(folder: Path) -> None:
    named = [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    first = chat_template_sha256(folder)
    named[1]["template"] = "c"
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    assert len(first) == 64
    assert chat_template_sha256(folder) != first
