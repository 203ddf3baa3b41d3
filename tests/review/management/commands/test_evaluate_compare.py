"""`evaluate --compare A B` in anyone's CI: 0 when B may take A's place, 1 when not, 2 when that could not be said."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from review.models import EvaluationComparison
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, worse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(cast: Cast, script: Script, tmp_path: Path) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})
    freeze(cast, tmp_path / "set", n=3)


def compare(a: str, b: str, *options: str, name: str = "test") -> tuple[int, list[str]]:
    """The exit status, and the lines that were printed."""
    printed = io.StringIO()
    given = ["--set", name, "--project", "receipts", "--compare", a, b, *options]
    try:
        call_command("evaluate", *given, stdout=printed, stderr=io.StringIO())
    except SystemExit as ended:
        return int(ended.code or 0), printed.getvalue().splitlines()
    return 0, printed.getvalue().splitlines()


def test_a_worse_version_ends_with_1_and_says_where(cast: Cast) -> None:
    status, lines = compare("scripted", worse(cast).digest[:10])
    assert status == 1
    total = next(line for line in lines if line.startswith("total"))
    assert total.split()[1:4] == ["3", "100.0%", "0.0%"]
    assert total.endswith("falls too far")
    assert lines[-1] == "B must not take A's place."


def test_a_version_as_good_ends_with_0(cast: Cast) -> None:
    status, lines = compare(str(champion().pk), str(as_good(cast).pk))
    assert status == 0
    assert lines[-1] == "No field falls too far."
    assert not any("falls too far" in line for line in lines[:-1])


def test_the_last_line_is_one_object_for_programs(cast: Cast) -> None:
    _status, lines = compare("scripted", str(worse(cast).pk), "--json")
    found = json.loads(lines[-1])
    stored = EvaluationComparison.objects.get()
    assert (found["comparison"], found["is_blocked"], found["fallen"]) == (stored.pk, True, ["/total"])
    assert found["a"]["digest"] == champion().digest
    assert found["b"]["id"] == worse(cast).pk
    assert found["set"] == {"name": "test", "number": 1, "digest": stored.regression_set.digest, "n_items": 3}
    assert found["fields"]["/total"]["difference"]["point"] == -1.0


@pytest.mark.parametrize(
    ("a", "name", "options", "said"),
    [
        ("ffffffffff", "test", [], "There is no engine version"),
        ("scripted", "train", [], r"Known: test v1"),
        ("scripted", "test", ["--set-version", "2"], r"'test v2'. Known: test v1"),
        ("scripted", "test", ["--limit", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_compared_ends_with_2(a: str, name: str, options: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said) as raised:
        compare(a, "scripted", *options, name=name)
    assert raised.value.returncode == 2
    assert not EvaluationComparison.objects.exists()


def test_an_older_version_of_a_set_can_be_named(cast: Cast, tmp_path: Path) -> None:
    status, lines = compare("scripted", str(as_good(cast).pk), "--set-version", "1")
    assert status == 0
    assert lines[0].endswith("set: test v1")


def test_a_version_whose_reader_is_not_installed_any_more_ends_with_2(cast: Cast, script: Script) -> None:
    learned = as_good(cast)
    script(default={"words": TWO_AMOUNTS[:2]})
    with pytest.raises(CommandError, match="cannot be compared") as raised:
        compare("scripted", str(learned.pk))
    assert raised.value.returncode == 2
