"""Truth in a table, and in an export of Label Studio."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from review.management.labelled import read_csv, read_label_studio
from review.models import RegressionItem
from tests.conftest import Cast
from tests.review.conftest import picture
from tests.review.snapshots import add_reviewed, taken, unpacked


def table(folder: Path, text: str, *names: str) -> Path:
    for name in names:
        (folder / name).write_bytes(picture(name))
    (folder / "truth.csv").write_bytes(text.encode())
    return folder


def tasks(folder: Path, data: Any, *names: str) -> Path:
    (folder / "images").mkdir(exist_ok=True)
    for name in names:
        (folder / "images" / name).write_bytes(picture(name))
    (folder / "tasks.json").write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return folder


def region(key: str, label: str | None, text: str | list[str] | None, **more: Any) -> list[dict[str, Any]]:
    found = []
    if label is not None:
        found.append({"id": key, "type": "rectanglelabels", "value": {"rectanglelabels": [label]}, **more})
    if text is not None:
        found.append({"id": key, "type": "textarea", "value": {"text": text}, **more})
    return found


def test_a_table_names_files_and_fields(tmp_path: Path) -> None:
    text = "\ufefffile,company,/total,line_items.0.amount\r\na.jpg,BOOK TA K,9.00,\r\nb.jpg,null,,1.00\r\n"
    layout = read_csv(table(tmp_path, text, "a.jpg", "b.jpg"))
    assert layout.problems == []
    assert [(file.name, file.truth) for file in layout.files] == [
        ("a.jpg", {"/company": "BOOK TA K", "/total": "9.00"}),
        ("b.jpg", {"/company": None, "/line_items/0/amount": "1.00"}),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,total\na.jpg,9.00\n", 'no column "file"'),
        ("file,total\nb.jpg,9.00\n", "line 2: there is no file 'b.jpg'"),
        ("file,total\n../a.jpg,9.00\n", "line 2: there is no file"),
        ("file,total\na.jpg,9.00,1\n", "line 2: it has more or fewer cells"),
        ("file,total\na.jpg\n", "line 2: it has more or fewer cells"),
    ],
)
def test_a_table_that_cannot_be_is_refused_by_line(tmp_path: Path, text: str, said: str) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (tmp_path / "a.jpg").write_bytes(picture("outside"))
    (problem,) = read_csv(table(folder, text, "a.jpg")).problems
    assert said in problem


def test_a_folder_without_a_table_says_so(tmp_path: Path) -> None:
    assert read_csv(tmp_path).problems == [f"There is no file {tmp_path / 'truth.csv'}."]
    assert read_label_studio(tmp_path).problems == [f"There is no file {tmp_path / 'tasks.json'}."]


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "tasks.json").write_bytes(b"\xff\xfe\x00")
    assert "no CSV" in read_csv(tmp_path).problems[0]
    assert "no JSON" in read_label_studio(tmp_path).problems[0]


@pytest.mark.parametrize(
    "address", ["a.jpg", "/data/upload/1/a.jpg", "/data/local-files/?d=images%2Fa.jpg", "s3://bucket/x/a.jpg"]
)
def test_a_task_names_its_picture_by_any_address(tmp_path: Path, address: str) -> None:
    result = region("1", "total", ["9.00"])
    layout = read_label_studio(
        tasks(tmp_path, [{"data": {"image": address}, "annotations": [{"result": result}]}], "a.jpg")
    )
    assert layout.problems == []
    assert [file.truth for file in layout.files] == [{"/total": "9.00"}]


def test_texts_belong_to_the_label_of_their_region(tmp_path: Path) -> None:
    result = [
        *region("1", "total", "9.00"),
        *region("2", "company", ["BOOK", "TA K"]),
        *region("3", None, ["a text without a label"]),
        *region("4", "date", None),
        *region("5", "rows.amount", ["1.00"], meta={"field_path": ["/rows/0/amount"]}),
    ]
    task = {"data": {"image": "a.jpg"}, "annotations": [{"result": result}]}
    (file,) = read_label_studio(tasks(tmp_path, [task], "a.jpg")).files
    assert file.truth == {"/total": "9.00", "/company": "BOOK\nTA K", "/rows/0/amount": "1.00"}


def test_a_cancelled_annotation_does_not_count_nor_a_task_without_one(tmp_path: Path) -> None:
    wrong, right = ({"result": region("1", "total", [text])} for text in ("1.00", "2.00"))
    found = read_label_studio(
        tasks(
            tmp_path,
            [
                {"data": {"image": "a.jpg"}, "annotations": [wrong | {"was_cancelled": True}, right]},
                {"data": {"image": "b.jpg"}, "annotations": []},
            ],
            "a.jpg",
            "b.jpg",
        )
    )
    assert [(file.name, file.truth) for file in found.files] == [("a.jpg", {"/total": "2.00"})]


@pytest.mark.parametrize(("data", "said"), [({}, "list of tasks"), ("[1]", "list of tasks"), ("{", "no JSON")])
def test_a_file_that_is_no_export_is_refused(tmp_path: Path, data: Any, said: str) -> None:
    assert said in read_label_studio(tasks(tmp_path, data)).problems[0]


def test_a_picture_that_is_missing_is_named(tmp_path: Path) -> None:
    layout = read_label_studio(tasks(tmp_path, [{"data": {"image": "gone.jpg"}}]))
    assert layout.problems == ["tasks.json, task 1: its picture 'gone.jpg' is not in the folder."]


def test_what_was_exported_for_label_studio_comes_back(cast: Cast, tmp_path: Path) -> None:
    verdicts = {"/total": ("confirmed", "9.00"), "/date": ("confirmed", "2018-12-25")}
    add_reviewed(cast.document_type, "a", verdicts=verdicts)
    folder = unpacked(taken(cast.project), "label_studio", tmp_path)
    (folder / "train.json").rename(folder / "tasks.json")
    (file,) = read_label_studio(folder).files
    assert file.truth == {"/date": "2018-12-25", "/total": "9.00"}


@pytest.mark.parametrize("layout", ["csv", "label_studio"])
def test_either_becomes_a_regression_set(cast: Cast, settings: Settings, tmp_path: Path, layout: str) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    folder = tmp_path / "set"
    folder.mkdir()
    table(folder, "file,total\na.jpg,9.00\n", "a.jpg")
    tasks(folder, [{"data": {"image": "a.jpg"}, "annotations": [{"result": region("1", "total", "9.00")}]}], "a.jpg")
    options = ["--layout", layout, "--project", "receipts", "--type", "receipt", "--name", "s"]
    call_command("import_labels", str(folder), *options, stdout=io.StringIO())
    assert RegressionItem.objects.get().truth == {"/total": "9.00"}


def test_a_field_that_the_type_lacks_is_refused(cast: Cast, tmp_path: Path) -> None:
    table(tmp_path, "file,sum\na.jpg,9.00\n", "a.jpg")
    options = ["--layout", "csv", "--project", "receipts", "--type", "receipt", "--name", "s"]
    with pytest.raises(CommandError, match="no such field"):
        call_command("import_labels", str(tmp_path), *options)
