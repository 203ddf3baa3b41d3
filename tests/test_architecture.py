"""The house stands as docs/architecture.md draws it: who may import whom, and where a query may be written."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rooms import ALLOWED, PURE

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ocrsite", "inference", "review")


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                parts = path.relative_to(ROOT).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = list(modules())
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def imported_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(name: str) -> str:
    """The longest room whose name begins this dotted name; a name without a room is its own."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if (prefix := ".".join(parts[:length])) in ALLOWED:
            return prefix
    return parts[0]


def violations(module: str, source: str) -> list[str]:
    room = room_of(module)
    found = []
    for name in imported_names(ast.parse(source)):
        if name.split(".")[0] not in PACKAGES:
            continue
        other = room_of(name)
        if other != room and other not in ALLOWED[room]:
            found.append(f"{module} ({room}) imports {name} ({other})")
        if room == other == "review.actions" and not is_shared_part(name) and module != name:
            found.append(f"{module} imports another action: {name}")
    return found


def imported_tests(source: str) -> list[str]:
    """What this source takes from modules of tests."""
    names = imported_names(ast.parse(source))
    return [name for name in names if any(part.startswith("test_") for part in name.split("."))]


def is_shared_part(name: str) -> bool:
    """Actions share private modules, whose names begin with an underscore."""
    return any(part.startswith("_") for part in name.split(".")[2:3])


@pytest.mark.parametrize(("module", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_a_module_imports_only_from_rooms_it_may_enter(module: str, path: Path) -> None:
    assert violations(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("module", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_no_import_stands_inside_a_function(module: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = [
        f"{module}:{node.lineno}"
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


@pytest.mark.parametrize("room", ["web", "api", "live/consumers.py"])
def test_no_query_is_written_in_a_view(room: str) -> None:
    place = ROOT / "review" / room
    paths = [place] if place.suffix else sorted(place.rglob("*.py"))
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in paths
        if path.exists()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"objects", "_default_manager"}
    ]
    assert found == []


@pytest.mark.parametrize("room", list(PURE))
def test_the_pure_rooms_use_nothing_but_numbers(room: str) -> None:
    allowed = PURE[room] | set(sys.stdlib_module_names)
    found = [
        f"{module} imports {name}"
        for module, path in MODULES
        if module.startswith(room)
        for name in imported_names(ast.parse(path.read_text(encoding="utf-8")))
        if name.split(".")[0] not in allowed and not name.startswith(room)
    ]
    assert found == []


def test_inference_knows_no_django_outside_its_commands() -> None:
    found = [
        f"{module} imports {name}"
        for module, path in MODULES
        if module.startswith("inference") and not module.startswith(("inference.management", "inference.apps"))
        for name in imported_names(ast.parse(path.read_text(encoding="utf-8")))
        if name.split(".")[0] in {"django", "rest_framework", "channels", "django_q"}
    ]
    assert found == []


def test_only_tasks_may_run_an_engine() -> None:
    may = {room for room, others in ALLOWED.items() if "inference" in others}
    kinds = (
        "",
        "_engines",
        "_evaluation",
        "_examples",
        "_foreign",
        "_loading",
        "_reading",
        "_regions",
        "_self_test",
        "_snapshots",
    )
    tasks = {f"review.tasks{kind}" for kind in kinds}
    assert may == tasks | {"review.checks", "inference.management"}


@pytest.mark.parametrize(
    ("module", "source", "n_found"),
    [
        ("review.web.views.documents", "from review.api.problems import x", 1),
        ("review.web.views.documents", "from review.selectors.documents import x", 0),
        ("review.actions.intake", "from review.actions.saving import save_field", 1),
        ("review.actions.intake", "from review.actions._audit import record_audit", 0),
        ("review.actions.intake", "from inference.engines.rapidocr import RapidOCREngine", 1),
        ("review.routing.decide", "import review.models", 1),
        ("inference.fields.locate", "def f():\n    from review.models import Document", 1),
    ],
)
def test_a_wrong_import_would_be_seen(module: str, source: str, n_found: int) -> None:
    assert len(violations(module, source)) == n_found


def test_nothing_is_imported_from_a_module_of_tests() -> None:
    """What two of them share stands in a module beside them, where both can be read without the other."""
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in TESTS
        for name in imported_tests(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "n_found"),
    [
        ("from tests.review.test_tasks import send", 1),
        ("from tests.review import test_tasks", 1),
        ("def f():\n    import tests.review.test_tasks", 1),
        ("from tests.review.reading_through import send", 0),
        ("from django.test import Client", 0),
    ],
)
def test_an_import_from_a_test_would_be_seen(source: str, n_found: int) -> None:
    assert len(imported_tests(source)) == n_found
