"""The benchmarks measure what they say: their parts, and each of them once with next to nothing to do."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from inference.engines.scripted import ANSWERS_VARIABLE
from review.models import AuditEntry, Document, FieldPrediction, Page, ReviewTask
from tests.bench import __main__ as runner
from tests.bench import export, worlds
from tests.bench.databases import postgres_url
from tests.bench.measuring import Cost, family_cpu_seconds, measure, sqlite_work
from tests.bench.queue import EVERYTHING_TO_PEOPLE, Row, budgets_of
from tests.bench.receipts import SAMPLES, distinct_files
from tests.bench.report import Budget, finish, median, ratio, table

PIPES: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("value", "limit", "is_floor", "is_met"),
    [
        (1.2, 1.2, False, True),
        (1.21, 1.2, False, False),
        (0.9, 0.9, True, True),
        (0.89, 0.9, True, False),
        (NOT_A_NUMBER, 1.2, False, False),
        (NOT_A_NUMBER, 0.9, True, False),
    ],
)
def test_a_budget_is_met_up_to_its_limit_and_never_by_what_is_no_number(
    value: float, limit: float, is_floor: bool, is_met: bool
) -> None:
    assert Budget("figure", value, limit, is_floor=is_floor).is_met is is_met


def test_nothing_measured_is_no_number() -> None:
    assert str(median([])) == "nan"
    assert str(ratio(1.0, 0.0)) == "nan"
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert ratio(3.0, 2.0) == 1.5


def test_a_table_aligns_numbers_to_the_right_and_words_to_the_left() -> None:
    assert table(("what", "ms"), [("one", 1.5), ("three", 100.25)]).splitlines() == [
        "what      ms",
        "one      1.5",
        "three  100.2",
    ]


@pytest.mark.parametrize(("value", "status"), [(0.95, 0), (0.85, 1)])
def test_the_last_line_is_json_and_a_missed_budget_the_exit_status(
    value: float, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    budgets = [Budget("share", value, 0.9, is_floor=True)]
    assert finish("name", ("column",), [(1,)], budgets, {"figure": 2}) == status
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {
        "benchmark": "name",
        "figure": 2,
        "budgets": [{"name": "share", "value": value, "at_least": 0.9, "is_met": status == 0}],
    }


@pytest.mark.parametrize("words", [["nothing"], ["queue", "engine", "--limit", "1"], ["--limit", "1"]])
def test_what_the_command_does_not_know_runs_nothing(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run", lambda *_: pytest.fail("a benchmark was run"))
    assert runner.main(words) == 2


def test_all_benchmarks_run_and_one_that_fails_fails_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def run(name: str, options: object) -> int:
        called.append(name)
        return int(name == "overhead")

    monkeypatch.setattr(runner, "run", run)
    assert runner.main([]) == 1
    assert called == list(runner.NAMES)
    assert runner.main(["queue"]) == 0


def test_a_benchmark_knows_nothing_of_this_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("STET_ENGINE", "DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, "of the installation")
    found = runner.environment(tmp_path)
    assert "of the installation" not in found.values()
    assert found["STET_DATA_DIR"] == str(tmp_path)


def test_versions_of_a_sample_all_differ(tmp_path: Path) -> None:
    files = distinct_files(SAMPLES, tmp_path / "a", 30) + distinct_files(SAMPLES, tmp_path / "b", 4, 20)
    assert len({path.read_bytes() for path in files}) == 34
    with pytest.raises(ValueError, match="no image"):
        distinct_files(tmp_path, tmp_path / "c", 1)


def cost(n_queries: int, cpu_ms: float) -> Cost:
    return Cost(n_queries, cpu_ms, 2 * cpu_ms)


def test_a_call_that_asks_more_or_takes_longer_with_more_waiting_misses_its_budget() -> None:
    steady = Row("sqlite", "steady", 0, {10: [cost(5, 1.0)] * 3, 1000: [cost(5, 1.4)] * 3})
    chatty = Row("sqlite", "chatty", 0, {10: [cost(5, 1.0)], 1000: [cost(5, 1.0), cost(6, 1.0)]})
    slow = Row("sqlite", "slow", 0, {10: [cost(5, 1.0)], 1000: [cost(5, 1.6)]})
    assert [budget.is_met for budget in budgets_of("sqlite", [steady])] == [True, True]
    assert [budget.is_met for budget in budgets_of("sqlite", [steady, chatty])] == [False, True]
    assert [budget.is_met for budget in budgets_of("sqlite", [steady, slow])] == [True, False]
    assert chatty.as_json()["n_queries"] == [5, 6]
    assert steady.cells() == ("sqlite", "steady", 0, "5", 1.0, 1.4, 2.0, 2.8, 1.4)


@pytest.mark.django_db
def test_a_call_is_measured_with_every_statement_it_sends() -> None:
    measured = measure(lambda: [Document.objects.count() for _ in range(3)])
    assert measured.n_queries == 3
    assert measured.cpu_ms > 0
    assert measured.wall_ms > 0


def test_the_cpu_time_of_a_family_counts_children_and_what_they_spent_before_they_ended() -> None:
    before = family_cpu_seconds(os.getpid())
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    ended = family_cpu_seconds(os.getpid())
    with subprocess.Popen([sys.executable, "-c", f"{burn}\nprint(flush=True)\ninput()"], **PIPES) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running = family_cpu_seconds(os.getpid())
        child.communicate("\n")
    assert ended - before >= 0.25
    assert running - ended >= 0.25


@pytest.mark.sqlite
@pytest.mark.django_db
def test_what_sqlite_reads_shows_even_where_it_gives_out_one_row() -> None:
    def read(n_rows: int) -> tuple[int, int]:
        with sqlite_work() as work, connection.cursor() as cursor:
            cursor.execute(
                "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < %s) SELECT sum(k) FROM n",
                [n_rows],
            )
            cursor.fetchall()
        return work.n_rows, work.n_instructions

    (few_rows, little), (many_rows, much) = read(10), read(1000)
    assert (few_rows, many_rows) == (1, 1)
    assert much > 50 * little
    with connection.cursor() as cursor:
        # Rows are plain tuples again, and nothing counts any longer.
        assert cursor.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.django_db(transaction=True)
def test_copies_of_documents_are_documents_of_their_own(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, "")
    settings.STET_ENGINE = ""
    worlds.use_scripted_engine()
    document_type = worlds.make_type(worlds.make_project(), "receipt", EVERYTHING_TO_PEOPLE)
    worlds.receive(document_type, [worlds.receipt_image(1), worlds.receipt_image(2)])
    assert worlds.work_off_queue() == 2
    n_predictions = FieldPrediction.objects.count()
    assert n_predictions == 8

    assert worlds.grow(worlds.Originals.of(), 2, 11) == 10

    assert len(set(Document.objects.values_list("sha256", flat=True))) == 10
    assert len(set(Page.objects.values_list("content_hash", flat=True))) == 10
    assert FieldPrediction.objects.count() == 5 * n_predictions
    for task in ReviewTask.objects.select_related("run", "document"):
        assert task.run.document_id == task.document_id
        assert task.run.predictions.count() == 4
        assert AuditEntry.objects.filter(object_type="document", object_id=str(task.document_id)).count() >= 3
    # The next row of the product's own gets a number that no copy has.
    assert worlds.receive(document_type, [worlds.receipt_image(3)])[0].pk > 10


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("words", "n_budgets"),
    [
        ("overhead --sizes 4 12 --documents 10", 1),
        ("queue --sizes 20 40 --calls 3 --databases sqlite", 2),
        ("accuracy --reviews 4000 4100 --days 40 41", 10),
        ("planted --receipts 2", 5),
        ("recorded --every 40", 5),
        ("export --records 60 --taken 20", 2),
    ],
)
def test_a_benchmark_runs_to_its_end_with_little_to_do(words: str, n_budgets: int) -> None:
    result = run_bench(*words.split())
    assert len(result["budgets"]) == n_budgets
    assert all(
        budget["value"] > 0 or budget.get("at_most", 0) == 0 or "MB" in budget["name"] for budget in result["budgets"]
    )


@pytest.mark.django_db(transaction=True)
def test_as_many_taken_as_written_go_the_whole_way_in_groups_on_three_sides(
    monkeypatch: pytest.MonkeyPatch, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    # The benchmark sets it; the fixture puts back what it was.
    settings.FILE_UPLOAD_TEMP_DIR = ""
    monkeypatch.setattr(export, "grown", lambda *_: pytest.fail("what is written was not taken"))
    export.main(["--records", "40", "--taken", "40"])
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    # One vendor a planted record, and that of the first.
    assert sum(result["groups"].values()) == 40
    assert all(n_groups > 0 for n_groups in result["groups"].values())


@pytest.mark.sqlite
@pytest.mark.skipif(postgres_url() is None, reason="no PostgreSQL server answers (TEST_POSTGRES_URL)")
def test_the_queue_is_measured_on_postgresql_too_and_no_database_stays_behind() -> None:
    before = bench_databases()
    result = run_bench("queue", "--sizes", "20", "40", "--calls", "3", "--databases", "postgres")
    assert {row["database"] for row in result["rows"]} == {"postgres"}
    assert all(row["cpu_ms"]["40"] > 0 for row in result["rows"])
    assert not bench_databases() - before


def bench_databases() -> set[str]:
    with psycopg.connect(postgres_url() or "") as server:
        found = server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'stet_bench_%'")
        return {name for (name,) in found}


@pytest.mark.sqlite
@pytest.mark.engine
@pytest.mark.timeout(600)
@pytest.mark.parametrize("words", ["engine --limit 1", "throughput --files 2"])
def test_a_benchmark_of_reading_runs_to_its_end(words: str) -> None:
    result = run_bench(*words.split())
    assert result["ratio"] > 0


@pytest.mark.sqlite
@pytest.mark.engine
@pytest.mark.timeout(900)
def test_the_wait_for_a_marked_area_is_measured_while_pages_are_read() -> None:
    result = run_bench("region", "--regions", "1", "--bulk", "12", "--niceness", "10")
    assert [(row["kind"], row["niceness"]) for row in result["rows"]] == [("idle", 10), ("reading in bulk", 10)]
    assert all(0 < row["median_s"] <= row["longest_s"] for row in result["rows"])


def run_bench(*words: str) -> dict[str, Any]:
    """Run the command as a person does; return its last line. Budgets are not asked for: with so little it is noise."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *words], cwd=runner.ROOT, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(lines[-1])
    assert result["benchmark"] == words[0]
    return result
