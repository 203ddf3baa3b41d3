"""Code of this kind stays small: the sizes of docs/architecture.md, measured."""

import ast
import statistics
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "handler", "util", "helper", "misc"}


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


PYTHON = [path for path in tracked("*.py") if "migrations" not in path.parts]
SOURCES = [path for path in PYTHON if "tests" not in path.relative_to(ROOT).parts]
TESTS = [path for path in PYTHON if path not in SOURCES]


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_module_is_above_400_lines() -> None:
    assert [f"{path.relative_to(ROOT)}: {n_lines(path)}" for path in PYTHON if n_lines(path) > 400] == []


def test_the_median_module_is_under_100_lines() -> None:
    assert statistics.median(n_lines(path) for path in SOURCES if n_lines(path)) < 100


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_function_is_above_60_lines_and_all_are_annotated(path: Path) -> None:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if (node.end_lineno or node.lineno) - node.lineno + 1 > 60:
                found.append(f"{node.name}: too long")
            if node.returns is None:
                found.append(f"{node.name}: no return type")
    assert found == []


def test_tests_are_at_least_one_and_a_fifth_as_long_as_the_source() -> None:
    assert sum(map(n_lines, TESTS)) / sum(map(n_lines, SOURCES)) >= 1.2


def test_no_module_hides_behind_a_name_that_says_nothing() -> None:
    assert [str(path.relative_to(ROOT)) for path in PYTHON if path.stem in FORBIDDEN_NAMES] == []


def test_tests_mirror_the_source() -> None:
    """A test module lies where its source lies, or is a test of the whole in a folder that says so."""
    whole = {"races", "browser", "faults", "bench", "access_matrix", "vllm", "slips"}
    strays = []
    for path in TESTS:
        parts = path.relative_to(ROOT / "tests").parts
        if len(parts) > 1 and parts[0] not in whole and path.stem.startswith("test_"):
            folder = ROOT.joinpath(*parts[:-1])
            if not folder.is_dir():
                strays.append(str(path.relative_to(ROOT)))
    assert strays == []


def test_no_work_is_put_off_in_a_comment() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "raise NotImplemented" + "Error")
    found = [
        f"{path.relative_to(ROOT)}: {mark}"
        for path in SOURCES
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]
    assert found == []
