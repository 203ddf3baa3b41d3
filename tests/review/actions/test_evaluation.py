import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from pytest_django import Settings

from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from inference.imaging.similarity import perceptual_hash
from review.actions import evaluation
from review.actions.evaluation import (
    ImportedSet,
    LabelledFile,
    import_regression_set,
    record_evaluation,
    register_engine,
)
from review.actions.opening import EngineIdentity
from review.exceptions import ConflictError, InvalidInputError, StorageFullError
from review.management.sroie import read_sroie
from review.models import AuditEntry, EngineVersion, RegressionItem, RegressionSet
from review.selectors.access import Actor
from review.selectors.evaluation import access_regression_set, items_of, regression_sets_for
from review.selectors.held_out import held_out_digests
from tests.conftest import Cast
from tests.review.conftest import picture
from tests.review.labelled import make_folder


@pytest.fixture(autouse=True)
def incoming(settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()


@pytest.fixture
def files(tmp_path: Path) -> list[LabelledFile]:
    return read_sroie(make_folder(tmp_path / "set")).files


def imported(cast: Cast, files: list[LabelledFile], name: str = "test", **values: Any) -> ImportedSet:
    given = {"project": cast.project, "document_type": cast.document_type} | values
    return import_regression_set(actor=Actor(cast.manager), name=name, files=files, **given)


def test_a_set_keeps_files_and_truth(cast: Cast, files: list[LabelledFile]) -> None:
    done = imported(cast, files)
    assert done.is_new
    assert done.regression_set.n_items == 2
    for item, file in zip(done.regression_set.items.order_by("name"), files, strict=True):
        assert (item.name, item.truth) == (file.name, file.truth)
        assert item.sha256 == hashlib.sha256(file.path.read_bytes()).hexdigest()
        with item.original.open() as stored:
            assert stored.read() == file.path.read_bytes()
    entry = AuditEntry.objects.get(action="regression_set.imported")
    assert entry.detail == {"name": "test", "n_items": 2, "digest": done.regression_set.digest}


def test_the_files_of_the_folder_stay_where_they_are(cast: Cast, files: list[LabelledFile]) -> None:
    imported(cast, files)
    assert all(file.path.exists() for file in files)


def test_importing_the_same_again_changes_nothing(cast: Cast, files: list[LabelledFile]) -> None:
    first = imported(cast, files)
    again = imported(cast, list(reversed(files)))
    assert again == ImportedSet(first.regression_set, is_new=False)
    assert RegressionItem.objects.count() == 2
    assert AuditEntry.objects.filter(action="regression_set.imported").count() == 1


def test_what_the_pages_of_a_set_look_like_is_kept(cast: Cast, files: list[LabelledFile]) -> None:
    items = imported(cast, files).regression_set.items.order_by("name")
    looks = [[perceptual_hash(page.image) for page in open_pages(file.path, Limits())] for file in files]
    assert [item.perceptual_hashes for item in items] == looks
    assert all(len(look) == 1 for look in looks)


def test_importing_again_finds_out_what_an_older_set_looks_like(cast: Cast, files: list[LabelledFile]) -> None:
    imported(cast, files)
    before = list(RegressionItem.objects.order_by("pk").values_list("perceptual_hashes", flat=True))
    RegressionItem.objects.update(perceptual_hashes=[])
    imported(cast, files)
    assert list(RegressionItem.objects.order_by("pk").values_list("perceptual_hashes", flat=True)) == before


@pytest.mark.parametrize("change", ["truth", "name", "bytes", "fewer"])
def test_a_name_that_stands_for_something_else_is_refused(cast: Cast, files: list[LabelledFile], change: str) -> None:
    kept = imported(cast, files).regression_set
    match change:
        case "truth":
            files[0] = dataclasses.replace(files[0], truth={"/total": "9.01"})
        case "name":
            files[0] = dataclasses.replace(files[0], name="x.jpg")
        case "bytes":
            files[0].path.write_bytes(picture("changed"))
        case "fewer":
            files.pop()
    with pytest.raises(ConflictError):
        imported(cast, files)
    assert RegressionSet.objects.get() == kept
    assert RegressionItem.objects.count() == 2


def test_another_project_may_use_the_name(cast: Cast, files: list[LabelledFile]) -> None:
    imported(cast, files)
    other = imported(cast, files[:1], project=cast.other_project, document_type=cast.other_document_type)
    assert other.is_new
    assert [found.n_items for found in regression_sets_for(cast.project)] == [2]
    assert access_regression_set(cast.other_project, "test") == other.regression_set


def test_of_two_imports_at_once_the_second_finds_the_first(
    cast: Cast, files: list[LabelledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = evaluation._keep
    made: list[bool] = []

    def overtaken(*args: Any) -> str:
        if not made:
            made.append(True)
            monkeypatch.setattr(evaluation, "_keep", keep)
            imported(cast, files)
        return keep(*args)

    monkeypatch.setattr(evaluation, "_keep", overtaken)
    assert not imported(cast, files).is_new
    assert RegressionSet.objects.count() == 1


def problems(cast: Cast, files: list[LabelledFile], name: str = "test") -> list[str]:
    with pytest.raises(InvalidInputError) as raised:
        imported(cast, files, name)
    assert not RegressionSet.objects.exists()
    return [problem["pointer"] for problem in raised.value.details["problems"]]


def test_fields_that_the_type_does_not_have_are_named(cast: Cast, files: list[LabelledFile]) -> None:
    files[1] = dataclasses.replace(files[1], truth={"/total": "1", "/tip": "2", "/tax": "3"})
    assert problems(cast, files) == ["/002.jpg/tip", "/002.jpg/tax"]


def test_a_document_without_any_truth_is_named(cast: Cast, files: list[LabelledFile]) -> None:
    files[0] = dataclasses.replace(files[0], truth={})
    assert problems(cast, files) == ["/001.jpg"]


@pytest.mark.parametrize("content", [b"", b"plain text, no picture", picture()[:200]])
def test_a_file_that_cannot_be_read_is_named(cast: Cast, files: list[LabelledFile], content: bytes) -> None:
    files[0].path.write_bytes(content)
    assert problems(cast, files) == ["/001.jpg"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_set_needs_a_name(cast: Cast, files: list[LabelledFile], name: str) -> None:
    assert problems(cast, files, name) == ["/name"]


def test_a_set_of_nothing_is_refused(cast: Cast) -> None:
    assert problems(cast, []) == ["/files"]


def test_two_documents_of_one_name_are_refused(cast: Cast, files: list[LabelledFile]) -> None:
    assert problems(cast, [files[0], files[0]]) == ["/files"]


def test_a_full_disk_leaves_no_set(cast: Cast, files: list[LabelledFile], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StorageFullError

    monkeypatch.setattr(evaluation, "keep_file", full)
    with pytest.raises(StorageFullError):
        imported(cast, files)
    assert not RegressionSet.objects.exists()


def test_the_documents_of_a_set_are_known_by_their_bytes(cast: Cast, files: list[LabelledFile]) -> None:
    done = imported(cast, files)
    inside = done.regression_set.items.get(name="001.jpg").sha256
    assert held_out_digests(cast.project, [inside, "f" * 64]) == {inside}
    assert held_out_digests(cast.other_project, [inside]) == set()


def test_the_first_items_are_the_first_by_name(cast: Cast, files: list[LabelledFile]) -> None:
    found = imported(cast, list(reversed(files))).regression_set
    assert [item.name for item in items_of(found, limit=1)] == ["001.jpg"]
    assert [item.name for item in items_of(found)] == ["001.jpg", "002.jpg"]


def test_the_same_engine_has_one_version(cast: Cast) -> None:
    engine = EngineIdentity("scripted", "a" * 64, {"weights": "x"})
    assert register_engine(engine=engine) == register_engine(engine=engine)
    assert EngineVersion.objects.get(digest="a" * 64).spec == {"weights": "x"}


def test_an_evaluation_is_written_down(cast: Cast, files: list[LabelledFile]) -> None:
    found = imported(cast, files).regression_set
    version = register_engine(engine=EngineIdentity("scripted", "a" * 64))
    run = record_evaluation(
        actor=Actor(cast.manager), regression_set=found, engine_version_id=version.pk, results={"fields": {}}
    )
    assert (run.regression_set, run.engine_version, run.results) == (found, version, {"fields": {}})
    assert AuditEntry.objects.get(action="evaluation.recorded").project == cast.project


def test_the_copy_of_a_file_in_storage_is_complete(cast: Cast, files: list[LabelledFile]) -> None:
    item = imported(cast, files).regression_set.items.get(name="001.jpg")
    assert default_storage.size(str(item.original.name)) == files[0].path.stat().st_size
