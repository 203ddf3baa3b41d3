"""Commands name what exists when they are given what does not."""

from collections.abc import Callable

import pytest
from django.core.management.base import CommandError
from django.db.migrations.executor import MigrationExecutor

from review.actions.engines import declare_engine_version
from review.exceptions import InvalidInputError
from review.management.lookup import (
    command_line,
    find_document_type,
    find_engine_version,
    find_project,
    find_user,
    problems_of,
    refuse_unmigrated,
)
from review.models import EngineVersion
from review.selectors.access import SYSTEM
from tests.conftest import Cast
from tests.review.vlm import SPEC


def test_what_exists_is_found(cast: Cast) -> None:
    assert find_project("receipts") == cast.project
    assert find_document_type(cast.project, "receipt") == cast.document_type
    assert find_user("ada") == cast.admin


@pytest.mark.parametrize(
    ("find", "names"),
    [
        (lambda cast: find_project("reciepts"), ["reciepts", "receipts"]),
        (lambda cast: find_document_type(cast.project, "invoice"), ["invoice", "receipt"]),
        (lambda cast: find_user("nobody"), ["nobody", "admin", "membership"]),
        (lambda _cast: find_engine_version("12345678"), ["12345678", "digest", "none yet"]),
    ],
)
def test_what_does_not_exist_is_named_beside_what_does(
    cast: Cast, find: Callable[[Cast], object], names: list[str]
) -> None:
    with pytest.raises(CommandError) as refused:
        find(cast)
    assert all(name in str(refused.value) for name in names)


def test_engine_versions_are_found_and_named(db: None) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SPEC)
    assert find_engine_version(version.digest[:10]) == version
    with pytest.raises(CommandError, match=f"vllm_server {version.digest[:8]}"):
        find_engine_version("ffffffff" if not version.digest.startswith("ffffffff") else "eeeeeeee")
    for end in "ab":
        EngineVersion.objects.create(name="x", spec={}, digest="c" * 63 + end)
    with pytest.raises(CommandError, match="Give more"):
        find_engine_version("c" * 12)


def test_before_anything_exists_the_way_to_begin_is_named(db: None) -> None:
    with pytest.raises(CommandError, match="seed_demo"):
        find_project("demo")


def test_each_problem_is_told_with_its_place() -> None:
    error = InvalidInputError(
        details={"problems": [{"pointer": "/a", "message": "one"}, {"pointer": "/b", "message": "two"}]}
    )
    assert problems_of(error).splitlines()[1:] == ["  /a: one", "  /b: two"]


def test_a_command_is_shown_as_it_can_be_typed() -> None:
    shown = command_line("work")
    assert shown.endswith(" manage.py work")
    assert not shown.startswith("python ")


def test_a_database_that_is_behind_ends_a_command_with_the_remedy(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_unmigrated()
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: [("review", False)])
    with pytest.raises(CommandError, match=r"manage\.py migrate"):
        find_project("receipts")
