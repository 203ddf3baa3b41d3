"""CPU that the product itself spends on a page, with few and with many documents in the database."""

import argparse
import time
from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from review.models import DocumentStatus
from tests.bench import worlds
from tests.bench.databases import databases
from tests.bench.report import Budget, finish, median, ratio

LIMIT = 1.2
N_ORIGINALS = 100
BLOCK = 10


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="overhead", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 20_000], help="documents that are there")
    parser.add_argument("--documents", type=int, default=300, help="documents that are passed through at each size")
    options = parser.parse_args(arguments)
    n_documents = max(BLOCK, options.documents // BLOCK * BLOCK)
    figures = measure_overhead(sorted(options.sizes), n_documents)
    milliseconds = {size: 1000 * sum(blocks) / n_documents for size, blocks in figures.items()}
    rows = [
        (size, n_documents, milliseconds[size], 1000 * median(figures[size]) / BLOCK, 1000 * min(figures[size]) / BLOCK)
        for size in figures
    ]
    first, last = min(figures), max(figures)
    growth = median([ratio(many, few) for few, many in zip(figures[first], figures[last], strict=True)])
    return finish(
        "overhead",
        ("documents", "passed through", "CPU ms a page", "median block", "best block"),
        rows,
        [Budget(f"CPU a page at {last:,} / at {first:,} documents", growth, LIMIT)],
        {"cpu_ms_per_page": milliseconds, "ratio": growth},
    )


def measure_overhead(sizes: Sequence[int], n_documents: int) -> dict[int, list[float]]:
    """Return, for each size, CPU seconds of blocks of BLOCK documents; blocks of all sizes take turns."""
    worlds.use_scripted_engine()
    n_originals = min(N_ORIGINALS, *sizes)
    with databases("sqlite") as standing:
        filling = standing[0]
        document_type = worlds.make_type(worlds.make_project(), "receipt")
        worlds.receive(document_type, map(worlds.receipt_image, range(n_originals)))
        worlds.work_off_queue()
        originals = worlds.Originals.of()
        by_size = {}
        for size in sizes:
            filling.use()
            worlds.grow(originals, n_originals, size)
            by_size[size] = filling.copy(f"at_{size}")
            standing.append(by_size[size])
        spent: dict[int, list[float]] = {size: [] for size in sizes}
        for block in range(-1, n_documents // BLOCK):
            files = [worlds.receipt_image(1_000_000 + (block + 1) * BLOCK + n) for n in range(BLOCK)]
            # Which size goes first alternates; the block before the first one is off the clock.
            for size in sizes if block % 2 else reversed(sizes):
                by_size[size].use()
                # The same files a second time: the stores of the two databases must not share them.
                settings.MEDIA_ROOT = settings.DATA_DIR / f"media_{size}"
                connection.ensure_connection()
                started = time.process_time()
                documents = worlds.receive(document_type, files)
                worlds.work_off_queue()
                if block >= 0:
                    spent[size].append(time.process_time() - started)
                for document in documents:
                    document.refresh_from_db()
                    assert document.status in {DocumentStatus.STORED, DocumentStatus.REVIEW}, document.status
    return spent
