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
from review.actions import regression_sets
from review.actions.regression_sets import ImportedSet, LabelledFile, freeze_documents, import_regression_set
from review.exceptions import ConflictError, InvalidInputError, StorageFullError
from review.management.sroie import read_sroie
from review.models import AuditEntry, Document, GroundTruth, Record, RegressionItem, RegressionSet, TruthOrigin
from review.selectors.access import Actor
from review.selectors.evaluation import access_regression_set, items_of, regression_sets_for
from review.selectors.held_out import held_out_digests, shut_out_ids
from tests.conftest import Cast
from tests.factories import make_document_type, make_routed
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
    digest = done.regression_set.digest
    assert entry.detail == {"name": "test", "number": 1, "n_items": 2, "n_new": 2, "digest": digest}


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
    keep = regression_sets._keep
    made: list[bool] = []

    def overtaken(*args: Any) -> str:
        if not made:
            made.append(True)
            monkeypatch.setattr(regression_sets, "_keep", keep)
            imported(cast, files)
        return keep(*args)

    monkeypatch.setattr(regression_sets, "_keep", overtaken)
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

    monkeypatch.setattr(regression_sets, "keep_file", full)
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


def test_the_copy_of_a_file_in_storage_is_complete(cast: Cast, files: list[LabelledFile]) -> None:
    item = imported(cast, files).regression_set.items.get(name="001.jpg")
    assert default_storage.size(str(item.original.name)) == files[0].path.stat().st_size


def grown(cast: Cast, files: list[LabelledFile]) -> ImportedSet:
    return imported(cast, files, is_growing=True)


def more(files: list[LabelledFile], name: str, truth: dict[str, str | None] | None = None) -> LabelledFile:
    path = files[0].path.with_name(name)
    path.write_bytes(picture(name))
    return LabelledFile(name, path, truth or {"/total": "9.00"})


def test_a_set_grows_by_a_new_version_and_the_old_one_stays_what_it_was(cast: Cast, files: list[LabelledFile]) -> None:
    first = imported(cast, files).regression_set
    done = grown(cast, [more(files, "000.jpg"), more(files, "003.jpg")])
    second = done.regression_set
    assert (done.is_new, second.number, second.replaces, second.n_items) == (True, 2, first, 4)
    assert [item.name for item in items_of(second)] == ["000.jpg", "001.jpg", "002.jpg", "003.jpg"]
    assert [item.name for item in items_of(first)] == ["001.jpg", "002.jpg"]
    assert second.digest != first.digest
    first.refresh_from_db()
    assert (first.n_items, first.digest) == (2, imported(cast, files).regression_set.digest)
    assert access_regression_set(cast.project, "test") == second
    assert access_regression_set(cast.project, "test", 1) == first
    assert list(regression_sets_for(cast.project)) == [second]


def test_versions_share_their_items(cast: Cast, files: list[LabelledFile]) -> None:
    first = imported(cast, files).regression_set
    before = {item.pk for item in items_of(first)}
    second = grown(cast, [more(files, "003.jpg")]).regression_set
    assert RegressionItem.objects.count() == 3
    assert before < {item.pk for item in items_of(second)}


def test_a_grown_set_has_the_digest_of_the_same_documents_imported_at_once(
    cast: Cast, files: list[LabelledFile]
) -> None:
    imported(cast, files)
    added = [more(files, "000.jpg"), more(files, "003.jpg")]
    at_once = imported(cast, [*files, *added], "another").regression_set
    assert grown(cast, added).regression_set.digest == at_once.digest


def test_what_a_set_has_already_is_passed_over(cast: Cast, files: list[LabelledFile]) -> None:
    first = imported(cast, files)
    assert grown(cast, files) == dataclasses.replace(first, is_new=False)
    again = LabelledFile("same-file.jpg", files[0].path, files[0].truth)
    assert grown(cast, [again]) == dataclasses.replace(first, is_new=False)
    both = grown(cast, [*files, more(files, "003.jpg")])
    assert (both.is_new, both.regression_set.n_items) == (True, 3)


@pytest.mark.parametrize("change", ["truth", "bytes"])
def test_what_contradicts_a_frozen_document_is_refused(cast: Cast, files: list[LabelledFile], change: str) -> None:
    imported(cast, files)
    if change == "truth":
        files[0] = dataclasses.replace(files[0], truth={"/total": "9.01"})
    else:
        files[0].path.write_bytes(picture("changed"))
    with pytest.raises(InvalidInputError) as raised:
        grown(cast, [files[0], more(files, "003.jpg")])
    assert [problem["pointer"] for problem in raised.value.details["problems"]] == ["/001.jpg"]
    assert RegressionSet.objects.count() == 1


def test_a_set_of_another_type_does_not_grow(cast: Cast, files: list[LabelledFile]) -> None:
    imported(cast, files)
    invoice = make_document_type(cast.project, "invoice")
    with pytest.raises(ConflictError):
        imported(cast, [more(files, "003.jpg")], document_type=invoice, is_growing=True)
    with pytest.raises(ConflictError):
        imported(cast, files, document_type=invoice)


def test_of_two_that_let_it_grow_at_once_the_second_is_told(
    cast: Cast, files: list[LabelledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(cast, files)
    one, other = more(files, "003.jpg"), more(files, "004.jpg")
    keep = regression_sets._keep

    def overtaken(*args: Any) -> str:
        monkeypatch.setattr(regression_sets, "_keep", keep)
        grown(cast, [other])
        return keep(*args)

    monkeypatch.setattr(regression_sets, "_keep", overtaken)
    with pytest.raises(ConflictError):
        grown(cast, [one])
    assert [item.name for item in items_of(access_regression_set(cast.project, "test"))][-1] == "004.jpg"
    assert grown(cast, [one]).regression_set.number == 3


def test_every_version_shuts_its_documents_out(cast: Cast, files: list[LabelledFile]) -> None:
    imported(cast, files)
    added = more(files, "003.jpg")
    grown(cast, [added])
    digests = [hashlib.sha256(file.path.read_bytes()).hexdigest() for file in (files[0], added)]
    assert held_out_digests(cast.project, digests) == set(digests)


def reviewed(cast: Cast, values: dict[str, Any], sources: dict[str, dict[str, str]], **given: Any) -> Document:
    document = make_routed(cast.document_type, **given)
    document.pages.update(perceptual_hash=f"{document.pk:016x}")
    Record.objects.create(
        project=cast.project,
        document=document,
        revision=1,
        run=document.runs.get(),
        values=values,
        provenance=sources,
    )
    return document


PERSON = {"source": "person", "verdict": "confirmed"}


def frozen(cast: Cast, *documents: Document, **values: Any) -> ImportedSet:
    given: dict[str, Any] = {"document_type": cast.document_type, "name": "reviewed"} | values
    return freeze_documents(actor=Actor(cast.manager), documents=documents, **given)


def test_reviewed_documents_begin_a_set_with_what_people_know_of_them(cast: Cast) -> None:
    document = reviewed(
        cast,
        {"/total": "9.00", "/date": "2018-12-25", "/company": "BOOK TA K"},
        {"/total": PERSON, "/date": {"source": "model"}, "/company": {"source": "person", "verdict": "illegible"}},
    )
    task = document.review_tasks.get()
    GroundTruth.objects.create(
        project=cast.project,
        document=document,
        field_path="/total",
        value="9.01",
        origin=TruthOrigin.ADJUDICATED,
        task=task,
    )
    done = frozen(cast, document)
    item = items_of(done.regression_set).get()
    assert (done.is_new, done.regression_set.number) == (True, 1)
    # The field that only a model read and the one that nobody could read are not known.
    assert item.truth == {"/total": "9.01"}
    assert item.sha256 == document.sha256
    assert item.perceptual_hashes == [f"{document.pk:016x}"]
    with item.original.open() as kept, document.original.open() as original:
        assert kept.read() == original.read()
    assert shut_out_ids(cast.project, [document.pk]) == {document.pk}


def test_further_documents_make_a_new_version(cast: Cast) -> None:
    first, second = (reviewed(cast, {"/total": "9.00"}, {"/total": PERSON}) for _ in range(2))
    frozen(cast, first)
    done = frozen(cast, first, second)
    assert (done.is_new, done.regression_set.number, done.regression_set.n_items) == (True, 2, 2)
    assert not frozen(cast, second).is_new


def test_a_document_that_nobody_reviewed_or_of_another_type_is_refused_by_its_id(cast: Cast) -> None:
    unseen = reviewed(cast, {"/total": "9.00"}, {"/total": {"source": "model"}})
    with pytest.raises(InvalidInputError) as raised:
        frozen(cast, unseen)
    assert [problem["pointer"] for problem in raised.value.details["problems"]] == [f"/{unseen.pk}"]
    seen = reviewed(cast, {"/total": "9.00"}, {"/total": PERSON})
    with pytest.raises(InvalidInputError):
        frozen(cast, seen, document_type=make_document_type(cast.project, "invoice"))
    with pytest.raises(InvalidInputError):
        frozen(cast)
    assert not RegressionSet.objects.exists()
