import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from review.models import RegressionSet
from tests.conftest import Cast
from tests.review.labelled import TRUTH, make_folder


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    return make_folder(tmp_path / "set")


def import_labels(folder: Path, *, name: str = "test", project: str = "receipts", kind: str = "receipt") -> str:
    printed = io.StringIO()
    options = ["--layout", "sroie", str(folder), "--project", project, "--type", kind, "--name", name]
    call_command("import_labels", *options, stdout=printed)
    return printed.getvalue()


def test_a_folder_becomes_a_set(cast: Cast, folder: Path) -> None:
    printed = import_labels(folder)
    found = RegressionSet.objects.get(project=cast.project)
    assert (found.name, found.document_type, found.n_items) == ("test", cast.document_type, 2)
    assert printed == f"test v1: 2 documents, imported; digest {found.digest}\n"


def test_the_same_folder_again_is_no_error(cast: Cast, folder: Path) -> None:
    import_labels(folder)
    assert "already there, unchanged" in import_labels(folder)


def test_the_name_of_another_set_is_refused(cast: Cast, folder: Path, tmp_path: Path) -> None:
    import_labels(folder)
    other = make_folder(tmp_path / "other", {"001": TRUTH})
    with pytest.raises(CommandError, match="choose another name"):
        import_labels(other)


def test_missing_keys_are_listed_and_nothing_is_imported(cast: Cast, folder: Path) -> None:
    (folder / "key" / "001.json").unlink()
    with pytest.raises(CommandError, match=r"001\.jpg has no key/001\.json"):
        import_labels(folder)
    assert not RegressionSet.objects.exists()


def test_unknown_fields_are_listed(cast: Cast, tmp_path: Path, folder: Path) -> None:
    tips = make_folder(tmp_path / "tips", {"001": {"tip": "1"}, "002": {"tip": "1"}})
    with pytest.raises(CommandError) as raised:
        import_labels(tips)
    assert "/001.jpg/tip: The document type receipt has no such field." in str(raised.value)
    assert "/002.jpg/tip" in str(raised.value)


def test_a_long_list_is_cut(cast: Cast, tmp_path: Path, folder: Path) -> None:
    many = make_folder(tmp_path / "many", {f"{number:03}": {"tip": "1"} for number in range(40)})
    with pytest.raises(CommandError) as raised:
        import_labels(many)
    assert len(str(raised.value).splitlines()) == 21
    assert str(raised.value).endswith("… and 21 more.")


@pytest.mark.parametrize(("wrong", "said"), [({"project": "nowhere"}, "nowhere"), ({"kind": "bill"}, "bill")])
def test_what_is_not_there_is_named(cast: Cast, folder: Path, wrong: dict[str, str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        import_labels(folder, **wrong)


def test_a_folder_that_is_not_there_is_named(cast: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no folder"):
        import_labels(tmp_path / "missing")
