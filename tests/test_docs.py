"""What a person may set, run or hear is written down: settings, commands, events, acts, checks."""

import ast
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.types import RuleKind, ValueType
from inference.types.hints import CONTAINER_HINTS, LEAF_HINTS, TYPE_HINTS
from review.live import events

ROOT = Path(__file__).resolve().parent.parent
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def strings_passed_to(source: Path, function_prefix: str) -> Iterator[str]:
    """The first string given to every call of a function whose name begins so."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(function_prefix):
            yield from (
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )


def settings_read() -> set[str]:
    names: set[str] = set()
    for source in sorted((ROOT / "ocrsite").glob("*.py")):
        names |= set(strings_passed_to(source, "env")) | set(strings_passed_to(source, "os.environ.get"))
    return {name for name in names if re.fullmatch(r"[A-Z][A-Z0-9_]+", name)}


def commands() -> set[str]:
    found = [
        path for package in ("review", "inference") for path in (ROOT / package / "management/commands").glob("*.py")
    ]
    return {path.stem for path in found if not path.stem.startswith("_")}


def event_names() -> set[str]:
    literals = (
        events.DocumentEventName,
        events.TaskEventName,
        events.ExportEventName,
        events.SnapshotEventName,
        events.TrainingEventName,
        events.RegionEventName,
        events.PolicyEventName,
        events.RolloutEventName,
        events.TargetEventName,
        events.MonitorEventName,
        events.PricesEventName,
    )
    return {name for literal in literals for name in typing.get_args(literal)}


def audit_names() -> set[str]:
    names: set[str] = set()
    for source in sorted((ROOT / "review" / "actions").glob("*.py")):
        names |= set(strings_passed_to(source, "record_audit"))
    return {name for name in names if re.fullmatch(r"[a-z_]+\.[a-z_]+", name)}


def check_ids() -> set[str]:
    return set(re.findall(r"review\.[EW]\d{3}", (ROOT / "review" / "checks.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("collect", [settings_read, commands, event_names, audit_names, check_ids])
def test_each_is_described_in_operations(collect: typing.Callable[[], set[str]]) -> None:
    found = collect()
    assert found, "nothing was collected: the test looks in the wrong place"
    assert sorted(name for name in found if f"`{name}" not in OPERATIONS) == []


def test_every_hint_rule_and_value_type_of_a_document_type_is_described() -> None:
    text = (ROOT / "docs" / "document-types.md").read_text(encoding="utf-8")
    named = {*LEAF_HINTS, *CONTAINER_HINTS, *TYPE_HINTS, *map(str, RuleKind), *map(str, ValueType)}
    assert sorted(name for name in named if f"`{name}`" not in text) == []
    assert set(re.findall(r"`(x-[a-z-]+)`", text)) <= named


def test_operations_describes_no_setting_that_is_gone() -> None:
    described = set(re.findall(r"`(STET_[A-Z_]+)`", OPERATIONS))
    assert sorted(described - settings_read()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_targets_and_commands_named_in_the_docs_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z][a-z-]*)", text)) <= targets
    django_ones = {"migrate", "collectstatic", "check", "spectacular", "createsuperuser", "changepassword", "help"}
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) <= commands() | django_ones
