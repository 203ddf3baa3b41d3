import json
from pathlib import Path
from typing import Any

import pytest

from inference.training.errors import TrainingError
from inference.training.exported import Exported
from tests.inference.serving.asking import SCHEMA, VALUES
from tests.inference.training.exports import sign, write_export


def refusal(folder: Path) -> str:
    with pytest.raises(TrainingError) as refused:
        Exported.open(folder)
    assert refused.value.code == "training_data_unusable"
    return str(refused.value)


@pytest.mark.parametrize("prompt_version", ["v1", "v2"])
def test_pages_are_read_with_their_schema_whatever_prompt_they_were_exported_in(
    tmp_path: Path, prompt_version: str
) -> None:
    left_out: dict[str, int] = {}
    exported = Exported.open(write_export(tmp_path / "export", prompt_version=prompt_version))
    [page] = exported.pages("train", left_out)
    assert (page.schema, page.values, left_out) == (SCHEMA, VALUES, {})


def test_the_checksum_is_that_of_the_manifest(tmp_path: Path) -> None:
    one = Exported.open(write_export(tmp_path / "one"))
    same = Exported.open(write_export(tmp_path / "same"))
    other = Exported.open(write_export(tmp_path / "other", manifest={"snapshot": 8}))
    assert one.sha256 == same.sha256 != other.sha256


@pytest.mark.parametrize("manifest", [{"is_without_regression_sets": False}, {"is_without_regression_sets": "true"}])
def test_a_snapshot_that_does_not_say_that_it_is_without_regression_sets_is_refused(
    tmp_path: Path, manifest: dict[str, Any]
) -> None:
    assert "without regression sets" in refusal(write_export(tmp_path / "export", manifest=manifest))


def test_a_manifest_that_says_nothing_of_regression_sets_is_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    told = json.loads((folder / "manifest.json").read_text())
    del told["is_without_regression_sets"]
    (folder / "manifest.json").write_text(json.dumps(told))
    sign(folder)
    assert "without regression sets" in refusal(folder)


def test_a_model_does_not_learn_from_what_only_models_said(tmp_path: Path) -> None:
    assert "nobody settled" in refusal(write_export(tmp_path / "export", manifest={"holding": "everything"}))


@pytest.mark.parametrize("personal", ["masked", "left_out"])
def test_a_model_does_not_learn_to_read_no_names(tmp_path: Path, personal: str) -> None:
    assert "learn to read none" in refusal(write_export(tmp_path / "export", manifest={"personal": personal}))


@pytest.mark.parametrize("name", ["manifest.json", "train/metadata.jsonl", "train/00000001-001.jpg", "documents.jsonl"])
def test_a_file_that_was_changed_or_lost_is_named(tmp_path: Path, name: str) -> None:
    folder = write_export(tmp_path / "export")
    kept = (folder / name).read_bytes()
    (folder / name).write_bytes(kept + b" ")
    assert refusal(folder) == f"{name} is not the file that the export wrote"
    (folder / name).unlink()
    assert refusal(folder) == f"{name} is not the file that the export wrote"
    (folder / name).write_bytes(kept)
    assert Exported.open(folder)


def test_a_folder_of_something_else_is_no_export(tmp_path: Path) -> None:
    assert "SHA256SUMS is not there" in refusal(tmp_path)
    (tmp_path / "SHA256SUMS").write_text("")
    assert "manifest.json, documents.jsonl is not in SHA256SUMS" in refusal(tmp_path)


def test_a_page_that_was_asked_otherwise_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export", {"train": [VALUES, VALUES]})
    path = folder / "train" / "metadata.jsonl"
    first, second = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([first, second.replace("Copy each value", "Guess each value")]), encoding="utf-8")
    sign(folder)
    with pytest.raises(TrainingError, match="train, line 2: was asked otherwise"):
        list(Exported.open(folder).pages("train", {}))


def test_an_answer_that_needs_mending_is_left_out_and_counted(tmp_path: Path) -> None:
    left_out: dict[str, int] = {}
    answers = ['{"total":"1.00"', '{"total":"2.00"}', "nothing", "nothing more"]
    pages = list(Exported.open(write_export(tmp_path / "export", {"train": answers})).pages("train", left_out))
    assert [page.values for page in pages] == [{"total": "2.00"}]
    assert sum(left_out.values()) == 3


def test_the_documents_of_a_side_are_known(tmp_path: Path) -> None:
    exported = Exported.open(write_export(tmp_path / "export", {"train": [VALUES, VALUES], "test": [VALUES]}))
    assert (exported.document_ids("train"), exported.document_ids("test")) == ([1, 2], [1])
