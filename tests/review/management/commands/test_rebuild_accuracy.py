import io

import pytest
from django.core.management import CommandError, call_command

from review.models import AccuracyRollup
from tests.conftest import Cast
from tests.review.labels import Label, add_labels


def rebuild(project: str = "receipts") -> list[str]:
    printed = io.StringIO()
    call_command("rebuild_accuracy", "--project", project, stdout=printed)
    return printed.getvalue().splitlines()


def test_new_labels_are_no_difference(cast: Cast) -> None:
    add_labels(cast.document_type, [Label()] * 3)
    assert rebuild() == ["0 differences"]
    assert AccuracyRollup.objects.get(day=None).n == 3


def test_what_was_wrong_is_named_and_put_right(cast: Cast) -> None:
    add_labels(cast.document_type, [Label()] * 3)
    rebuild()
    AccuracyRollup.objects.filter(day=None).update(n=8)
    first, last = rebuild()
    assert first.startswith("n was 8, is 3 (")
    assert "field_path /total" in first
    assert last == "1 differences, put right"
    assert rebuild() == ["0 differences"]


def test_a_long_list_is_cut(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(f"/field{letter}") for letter in "abcdefghijklmnopqrstuvwxyz"])
    rebuild()
    AccuracyRollup.objects.update(n=8)
    lines = rebuild()
    assert len(lines) == 21
    assert lines[-1] == "52 differences, put right"


def test_an_unknown_project_is_named(cast: Cast) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        rebuild("nowhere")
