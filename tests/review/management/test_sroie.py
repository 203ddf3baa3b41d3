import json
from pathlib import Path

import pytest

from review.management.sroie import read_sroie
from tests.review.labelled import TRUTH, make_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "set")


def test_each_image_comes_with_its_truth(folder: Path) -> None:
    layout = read_sroie(folder)
    assert layout.problems == []
    assert [file.name for file in layout.files] == ["001.jpg", "002.jpg"]
    first = layout.files[0]
    assert first.path == folder / "img" / "001.jpg"
    assert first.truth == {f"/{key}": value for key, value in TRUTH.items()}


@pytest.mark.parametrize("part", ["img", "key"])
def test_a_folder_without_its_parts_is_refused(tmp_path: Path, part: str) -> None:
    (tmp_path / ("key" if part == "img" else "img")).mkdir()
    layout = read_sroie(tmp_path)
    assert layout.files == []
    assert layout.problems == [f"There is no folder {tmp_path / part}."]


def test_the_boxes_are_not_needed(folder: Path) -> None:
    (folder / "box").rmdir()
    assert len(read_sroie(folder).files) == 2


def test_an_image_without_a_key_and_a_key_without_an_image_are_named(folder: Path) -> None:
    (folder / "key" / "001.json").rename(folder / "key" / "003.json")
    layout = read_sroie(folder)
    assert [file.name for file in layout.files] == ["002.jpg"]
    assert layout.problems == [
        f"{folder / 'img' / '001.jpg'} has no key/001.json.",
        f"{folder / 'key' / '003.json'} has no image in img/.",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "no JSON"),
        ("é".encode("latin-1"), "no JSON"),
        (b"[]", "one object"),
        (b'{"total": 9.0, "date": {}}', "strings, as printed, or null: total, date"),
    ],
)
def test_a_key_that_is_no_key_is_named(folder: Path, content: bytes, said: str) -> None:
    path = folder / "key" / "002.json"
    path.write_bytes(content)
    layout = read_sroie(folder)
    (problem,) = layout.problems
    assert problem.startswith(f"{path}: ")
    assert said in problem
    assert [file.name for file in layout.files] == ["001.jpg"]


def test_null_and_empty_say_that_nothing_is_printed_and_absent_says_nothing(folder: Path) -> None:
    truth = {"company": None, "date": "  ", "total": " 9.00 "}
    (folder / "key" / "001.json").write_text(json.dumps(truth))
    (first, _second) = read_sroie(folder).files
    assert first.truth == {"/company": None, "/date": None, "/total": "9.00"}


def test_names_of_fields_become_pointers(folder: Path) -> None:
    (folder / "key" / "001.json").write_text('{"a/b~c": "x"}')
    assert read_sroie(folder).files[0].truth == {"/a~1b~0c": "x"}


def test_hidden_files_are_passed_over(folder: Path) -> None:
    (folder / "img" / ".DS_Store").write_bytes(b"x")
    assert read_sroie(folder).problems == []
