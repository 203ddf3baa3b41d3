"""CPU seconds a receipt for reading: RapidOCR as it comes beside ours, page by page in one run."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from inference import bench, registry
from inference.engines.rapidocr_as_it_comes import reader_as_it_comes
from tests.bench.receipts import SAMPLES
from tests.bench.report import Budget, finish

# 2.4 of the 3.6 CPU-seconds that a receipt costs as it comes: as a share, it holds on any machine.
LIMIT = 2.4 / 3.6


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="engine", description=__doc__)
    parser.add_argument("--dir", type=Path, default=SAMPLES, help="folder of page images")
    parser.add_argument("--limit", type=int, help="read at most so many of them")
    options = parser.parse_args(arguments)
    files = bench.image_files(options.dir, options.limit)
    result = bench.measure_cost(registry.build_engine("rapidocr"), bench.load_pages(files), reader_as_it_comes())
    costs = {"ours": result.engine, "as it comes": result.baseline}
    rows = [(name, cost.n_pages, cost.mean, cost.median, cost.p95) for name, cost in costs.items() if cost is not None]
    share = result.ratio if result.ratio is not None else float("nan")
    budgets = [Budget("CPU a page, ours / as it comes", share, round(LIMIT, 3))]
    return finish(
        "engine", ("reader", "pages", "mean CPU s", "median", "95th percentile"), rows, budgets, result.as_json()
    )
