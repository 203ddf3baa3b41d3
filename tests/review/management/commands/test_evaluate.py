import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from review.management.commands.evaluate import table
from review.models import EvaluationRun
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.labelled import TRUTH, make_folder
from tests.review.scripted import WORDS
from tests.review.vlm import answering, read_with_vlm

ROOT = Path(__file__).resolve().parents[4]
BY_TWO_AND_ALONE = """
import sys
import django
django.setup()
from django.core.management import call_command
from tests import factories
where = ["--project", "receipts"]
measure = ["evaluate", "--set", "four", *where, "--engine", "scripted", "--json"]
call_command("migrate", verbosity=0)
factories.make_document_type(factories.make_project("receipts"))
call_command("import_labels", "--layout", "sroie", sys.argv[1], *where, "--type", "receipt", "--name", "four")
call_command(*measure, "--processes", "2")
call_command(*measure)
"""


@pytest.fixture
def imported(cast: Cast, script: Script, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "set")
    options = ["--layout", "sroie", str(folder), "--project", "receipts", "--type", "receipt", "--name", "test"]
    call_command("import_labels", *options, stdout=io.StringIO())


def evaluate(*options: str, name: str = "test", project: str = "receipts", engine: str = "scripted") -> tuple[str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    given = ["--set", name, "--project", project, "--engine", engine, *options]
    call_command("evaluate", *given, stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


@pytest.mark.usefixtures("imported")
def test_the_last_line_is_one_object_as_agreed() -> None:
    printed, told = evaluate("--json")
    results = json.loads(printed.splitlines()[-1])
    assert list(results["fields"]) == ["company", "date", "total"]
    date = results["fields"]["date"]
    assert {"n", "exact_match", "cer", "missing_share", "coverage_at_99"} <= date.keys()
    assert date["exact_match"].keys() == {"point", "lower", "upper"}
    assert (date["n"], date["exact_match"]["point"]) == (2, 1.0)
    assert isinstance(results["seconds_per_page"], float)
    assert results == EvaluationRun.objects.get().results
    assert "2 of 2 documents" in told


@pytest.mark.usefixtures("imported")
def test_without_json_people_get_a_table() -> None:
    printed, _ = evaluate("--limit", "1")
    lines = printed.splitlines()
    assert lines[0].split() == ["field", "n", "exact", "match", "CER", "missing", "at", "99", "%"]
    assert lines[3].split()[:3] == ["total", "1", "100.0%"]
    assert "1 documents, 1 pages, 0 of them from the cache" in printed
    assert not printed.rstrip().endswith("}")


@pytest.mark.usefixtures("imported")
def test_fresh_reads_again() -> None:
    evaluate()
    assert "2 of them from the cache" in evaluate()[0]
    assert "0 of them from the cache" in evaluate("--fresh")[0]


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "train"}, "Known: test"),
        ({"project": "nowhere"}, "nowhere"),
        ({"engine": "crystal ball"}, "crystal ball"),
    ],
)
def test_what_is_not_there_is_named(wrong: dict[str, str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        evaluate(**wrong)
    assert not EvaluationRun.objects.exists()


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("options", [("--processes", "0"), ("--limit", "0"), ("--limit", "-3")])
def test_counts_below_1_are_refused(options: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="at least 1"):
        evaluate(*options)


def test_a_project_without_sets_says_how_to_make_one(cast: Cast, script: Script) -> None:
    with pytest.raises(CommandError, match="import_labels"):
        evaluate()


def test_figures_of_nothing_are_dashes_and_failures_are_listed() -> None:
    nothing = {"point": None, "lower": 0.0, "upper": 1.0}
    results: dict[str, Any] = {
        "fields": {
            "total": {"n": 0, "exact_match": nothing, "cer": None, "missing_share": None, "coverage_at_99": 0.0}
        },
        "seconds_per_page": None,
        "reading_seconds_per_page": None,
        "location_seconds_per_page": None,
        "n_documents": 1,
        "n_pages": 0,
        "n_cached_pages": 0,
        "wall_seconds": 0.1,
        "failed": {"001.jpg": "damaged"},
    }
    lines = list(table(results))
    assert lines[1].split() == ["total", "0", "-", "(0.0%", "to", "100.0%)", "-", "-", "0.0%"]
    assert lines[-1] == "failed: 001.jpg (damaged)"


def test_several_processes_come_to_the_same_as_one(tmp_path: Path) -> None:
    truths = {f"{number:03}": TRUTH | {"total": f"{8 + number}.00"} for number in range(1, 5)}
    folder = make_folder(tmp_path / "four", truths)
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"default": {"words": WORDS}}))
    env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    env |= {"STET_DATA_DIR": str(tmp_path / "data"), "STET_SCRIPTED_ANSWERS": str(answers)}

    env |= {"DJANGO_SETTINGS_MODULE": "ocrsite.settings"}
    command = [sys.executable, "-c", BY_TWO_AND_ALONE, str(folder)]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    many, alone = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    assert many["n_cached_pages"] == 0
    assert alone["n_cached_pages"] == 4
    assert many["fields"] == alone["fields"]
    assert many["fields"]["total"]["exact_match"]["point"] == 0.25


def test_a_declared_version_is_measured_by_its_digest(cast: Cast, imported: None, script: Script) -> None:
    version = read_with_vlm(cast.project)
    script(default=answering())
    options = ["--set", "test", "--project", "receipts", "--engine-version", version.digest[:10]]
    call_command("evaluate", *options, stdout=io.StringIO(), stderr=io.StringIO())
    assert EvaluationRun.objects.get().engine_version == version


def test_the_version_of_an_ocr_engine_is_refused_with_the_remedy(cast: Cast, imported: None) -> None:
    version = factories.make_engine_version("rapidocr")
    options = ["--set", "test", "--project", "receipts", "--engine-version", str(version.pk)]
    with pytest.raises(CommandError, match="--engine rapidocr"):
        call_command("evaluate", *options)
