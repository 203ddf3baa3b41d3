"""Pages a second of the whole product, as a share of a bare loop over the same engine, files and processes."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from tests.bench.__main__ import ROOT, environment
from tests.bench.bare_loop import Spent, read_bare
from tests.bench.receipts import SAMPLES, distinct_files, names
from tests.bench.report import Budget, finish, median, ratio

FLOOR = 0.90
ORDER = ("bare", "product", "product", "bare")
WARM_UP_VERSION = 20
WARM_UP_A_PROCESS = 2


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="throughput", description=__doc__)
    parser.add_argument("--dir", type=Path, default=SAMPLES, help="folder of page images (default: samples/)")
    parser.add_argument("--files", type=int, default=24, help="pages to read in each run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--engine", default="rapidocr")
    options = parser.parse_args(arguments)
    folder = Path(settings.DATA_DIR) / "files"
    files = distinct_files(options.dir, folder / "measured", options.files)
    n_warm_up = WARM_UP_A_PROCESS * options.processes
    warm_up = distinct_files(options.dir, folder / "warm_up", n_warm_up, WARM_UP_VERSION)
    runs = []
    for kind in ORDER:
        if kind == "bare":
            spent = read_bare(warm_up[:WARM_UP_A_PROCESS], files, options.processes, options.engine)
        else:
            spent = run_product(warm_up, files, options.processes, options.engine)
        runs.append((kind, len(files), spent.seconds, len(files) / spent.seconds, spent.cpu_seconds_per_page))
    speed = {kind: _speed([run[3] for run in runs if run[0] == kind]) for kind in ORDER}
    cpu = {kind: median([run[4] for run in runs if run[0] == kind]) for kind in ORDER}
    share = ratio(speed["product"], speed["bare"])
    return finish(
        "throughput",
        ("run", "pages", "seconds", "pages/s", "CPU s a page"),
        runs,
        [Budget("pages/s, product / bare loop", share, FLOOR, is_floor=True)],
        {"pages_per_second": speed, "ratio": share, "cpu_seconds_per_page": cpu, "processes": options.processes},
    )


def _speed(speeds: Sequence[float]) -> float:
    """Return pages a second over runs of equally many pages."""
    return len(speeds) / sum(1 / speed for speed in speeds)


def run_product(warm_up: Sequence[Path], files: Sequence[Path], n_processes: int, engine: str) -> Spent:
    """Return the time from warm workers to the last document routed. Raise RuntimeError when a run fails."""
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR) as folder:
        command = [sys.executable, "-m", "tests.bench.child", "product_run", "--workers", str(n_processes)]
        command += ["--warm-up", *names(warm_up), "--files", *names(files)]
        own = environment(Path(folder)) | {"STET_ENGINE": engine}
        done = subprocess.run(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"a run of the product failed:\n{done.stdout}")
    answer = json.loads(done.stdout.splitlines()[-1])
    return Spent(answer["seconds"], answer["cpu_seconds_per_page"])
