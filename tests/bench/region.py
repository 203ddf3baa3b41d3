"""How long somebody at a desk waits until a marked part of a page is read again, while the workers read in bulk."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from review.actions.leasing import lease_task
from review.actions.regions import request_region
from review.models import (
    UNFINISHED_STATUSES,
    Document,
    ExtractionRun,
    FieldPrediction,
    RegionReading,
    RegionState,
    ReviewTask,
    Role,
    User,
)
from review.selectors.access import Actor
from review.selectors.regions import UNFINISHED
from tests.bench import worlds
from tests.bench.receipts import SAMPLES, distinct_files
from tests.bench.report import Budget, finish, median

ROOT = Path(__file__).resolve().parent.parent.parent
FIELD = "/total"
LIMIT_SECONDS = 2.0
PATIENCE_SECONDS = 600.0
POLL_SECONDS = 0.02
BETWEEN_SECONDS = 1.0
"""Nobody marks one area right after the other: the next one meets workers in another state."""


def main(arguments: Sequence[str]) -> int:
    """Print how long regions take with idle workers, and while they read, at each niceness."""
    parser = argparse.ArgumentParser(prog="region", description=__doc__)
    parser.add_argument("--regions", type=int, default=12, help="regions of each kind")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--bulk", type=int, default=60, help="documents that are read meanwhile, at each niceness")
    parser.add_argument("--niceness", type=int, nargs="+", default=[0, 10], help="of the workers that read in bulk")
    options = parser.parse_args(arguments)
    call_command("migrate", verbosity=0)
    project = worlds.make_project()
    document_type = worlds.make_type(project, "receipt")
    reviewer = worlds.make_member(project, "rui", Role.REVIEWER)
    rows: list[tuple[str, int, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        files = iter(distinct_files(SAMPLES, Path(folder), 4 + options.bulk * len(options.niceness)))
        first = worlds.receive(document_type, (next(files).read_bytes() for _ in range(4)))
        with working(options.workers, options.niceness[0]):
            wait_for(first)
            tasks = held_tasks(first, reviewer)
            rows.append(("idle", options.niceness[0], *figures(read_regions(reviewer, tasks, options.regions))))
        for niceness in options.niceness:
            worlds.receive(document_type, (next(files).read_bytes() for _ in range(options.bulk)))
            with working(options.workers, niceness):
                wait_until_reading()
                waits = read_regions(reviewer, tasks, options.regions)
                still = Document.objects.filter(status__in=UNFINISHED_STATUSES)
                if not still.exists():
                    raise RuntimeError("the workers were done before the regions were: give them more with --bulk")
                rows.append(("reading in bulk", niceness, *figures(waits)))
                still.delete()
    last = rows[-1]
    budgets = [Budget(f"median seconds while reading in bulk, niceness {last[1]}", last[2], LIMIT_SECONDS)]
    header = ["workers are", "niceness", "median s", "longest s"]
    plain = [dict(zip(("kind", "niceness", "median_s", "longest_s"), row, strict=True)) for row in rows]
    return finish("region", header, rows, budgets, {"n": options.regions, "workers": options.workers, "rows": plain})


@contextmanager
def working(n_workers: int, niceness: int) -> Iterator[None]:
    """Let workers run: `n_workers` for all that is queued, and the one of the desk."""
    own = {"STET_WORKERS": str(n_workers), "STET_BULK_NICENESS": str(niceness)}
    log = Path(settings.DATA_DIR) / "work.log"
    with log.open("ab") as file:
        work = [sys.executable, str(ROOT / "manage.py"), "work"]
        process = subprocess.Popen(work, env=os.environ | own, stdout=file, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def wait_for(documents: Sequence[Document]) -> None:
    """Wait until the documents are read."""
    unfinished = Document.objects.filter(pk__in=[one.pk for one in documents], status__in=UNFINISHED_STATUSES)
    until = time.monotonic() + PATIENCE_SECONDS
    while unfinished.exists():
        if time.monotonic() > until:
            raise RuntimeError("the documents are not read in time")
        time.sleep(POLL_SECONDS * 10)


def wait_until_reading() -> None:
    """Wait until a page of the bulk is read: the engines are loaded then, that of the desk too."""
    n_before = ExtractionRun.objects.filter(state="routed").count()
    until = time.monotonic() + PATIENCE_SECONDS
    while ExtractionRun.objects.filter(state="routed").count() < n_before + 2:
        if time.monotonic() > until:
            raise RuntimeError("nothing is read")
        time.sleep(POLL_SECONDS * 10)


def held_tasks(documents: Sequence[Document], reviewer: User) -> list[tuple[ReviewTask, int, list[float]]]:
    """Return a task of each document that the reviewer holds, with a place on its page: where the total was read."""
    found = []
    for document in documents:
        run = ExtractionRun.objects.get(document=document)
        places = FieldPrediction.objects.filter(run=run, bbox__isnull=False)
        place = places.filter(field_path=FIELD).first() or places.first()
        if place is None or place.bbox is None or place.page_number is None:
            raise RuntimeError(f"nothing was found on {document.filename}")
        task = ReviewTask.objects.filter(document=document).first() or ReviewTask.objects.create(
            project=document.project, document_type=document.document_type, document=document, run=run
        )
        lease_task(actor=Actor(reviewer), task=task)
        x0, y0, x1, y1 = place.bbox
        around = [max(0.0, x0 - 0.01), max(0.0, y0 - 0.005), min(1.0, x1 + 0.01), min(1.0, y1 + 0.005)]
        found.append((task, place.page_number, around))
    return found


def read_regions(reviewer: User, tasks: Sequence[tuple[ReviewTask, int, list[float]]], n: int) -> list[float]:
    """Ask for `n` regions one after the other; return the seconds from the request to what stands there."""
    waits = []
    for number in range(n):
        task, page_number, bbox = tasks[number % len(tasks)]
        started = time.monotonic()
        region = request_region(actor=Actor(reviewer), task=task, page_number=page_number, bbox=bbox, field_path=FIELD)
        while RegionReading.objects.filter(pk=region.pk, state__in=UNFINISHED).exists():
            time.sleep(POLL_SECONDS)
        waits.append(time.monotonic() - started)
        if RegionReading.objects.get(pk=region.pk).state != RegionState.DONE:
            raise RuntimeError("a region could not be read")
        time.sleep(BETWEEN_SECONDS)
    return waits


def figures(waits: Sequence[float]) -> tuple[float, float]:
    """Return the median and the longest."""
    return median(waits), max(waits)
