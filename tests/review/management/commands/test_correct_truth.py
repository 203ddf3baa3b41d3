import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from review.actions.regression_sets import import_regression_set
from review.management.sroie import read_sroie
from review.models import RegressionSet
from review.selectors.access import SYSTEM
from review.selectors.evaluation import access_regression_set, items_of
from tests.conftest import Cast
from tests.review.labelled import make_folder

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def frozen(cast: Cast, settings: Settings, tmp_path: Path) -> RegressionSet:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    files = read_sroie(make_folder(tmp_path / "set")).files
    return import_regression_set(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, name="test", files=files
    ).regression_set


def correct(by: str, *values: str, name: str = "test", item: str = "002.jpg") -> str:
    printed = io.StringIO()
    given = ["--project", "receipts", "--set", name, "--by", by, "--reason", "misread"]
    call_command("correct_truth", item, *values, *given, stdout=printed)
    return printed.getvalue()


def test_a_manager_corrects_and_the_old_version_is_named(cast: Cast) -> None:
    said = correct(cast.manager.username, "/total=9.00", "/date=null")
    assert said.startswith("test v2: corrected; test v1 stays as it is; digest ")
    truth = items_of(access_regression_set(cast.project, "test")).get(name="002.jpg").truth
    assert (truth["/total"], truth["/date"]) == ("9.00", None)
    assert "unchanged" in correct(cast.manager.username, "/total=9.00")


def test_a_reviewer_may_not(cast: Cast) -> None:
    with pytest.raises(CommandError, match="no manager of project receipts"):
        correct(cast.reviewer.username, "/total=9.00")
    assert RegressionSet.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        (["/total"], {}, "no /FIELD=VALUE"),
        (["/total="], {}, "no /FIELD=VALUE"),
        (["/nothing=1"], {}, "no such field"),
        (["/total=9.00"], {"name": "other"}, "no regression set 'other'"),
        (["/total=9.00"], {"item": "9.jpg"}, "no document of this name"),
    ],
)
def test_what_cannot_be_corrected_is_said(cast: Cast, values: list[str], options: dict[str, str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        correct(cast.manager.username, *values, **options)
