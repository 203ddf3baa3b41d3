import io

import pytest
from django.core.management import CommandError, call_command

from review.models import Document, Record, RegressionSet
from review.selectors.evaluation import access_regression_set, items_of
from tests.conftest import Cast
from tests.factories import make_routed

pytestmark = pytest.mark.usefixtures("script")


def reviewed(cast: Cast) -> Document:
    document = make_routed(cast.document_type)
    source = {"source": "person", "verdict": "confirmed"}
    Record.objects.create(
        project=cast.project,
        document=document,
        revision=1,
        run=document.runs.get(),
        reviewer=cast.reviewer,
        values={"/total": "9.00"},
        provenance={"/total": source},
    )
    return document


def freeze(*options: str) -> str:
    printed = io.StringIO()
    given = ["--project", "receipts", "--type", "receipt", "--name", "reviewed"]
    call_command("freeze_documents", *options, *given, stdout=printed)
    return printed.getvalue()


def test_documents_become_a_set_and_further_ones_its_next_version(cast: Cast) -> None:
    first, second = reviewed(cast), reviewed(cast)
    assert freeze(str(first.pk)).startswith("reviewed v1: 1 documents; digest ")
    assert freeze(str(first.pk), str(second.pk)).startswith("reviewed v2: 2 documents; digest ")
    assert items_of(access_regression_set(cast.project, "reviewed")).count() == 2


def test_the_newest_are_taken(cast: Cast) -> None:
    documents = [reviewed(cast) for _ in range(3)]
    make_routed(cast.document_type)
    freeze("--newest", "2")
    found = items_of(access_regression_set(cast.project, "reviewed")).values_list("sha256", flat=True)
    assert set(found) == {one.sha256 for one in documents[1:]}


def test_what_nobody_reviewed_is_named(cast: Cast) -> None:
    unseen = make_routed(cast.document_type)
    with pytest.raises(CommandError, match=rf"in project receipts: {unseen.pk}, 999999\."):
        freeze(str(reviewed(cast).pk), str(unseen.pk), "999999")
    assert not RegressionSet.objects.exists()


@pytest.mark.parametrize("options", [[], ["1", "--newest", "2"], ["--newest", "0"]])
def test_either_ids_or_a_number_are_wanted(cast: Cast, options: list[str]) -> None:
    with pytest.raises(CommandError, match="--newest"):
        freeze(*options)


def test_nothing_reviewed_is_no_set(cast: Cast) -> None:
    with pytest.raises(CommandError, match="no labelled document"):
        freeze("--newest", "5")
