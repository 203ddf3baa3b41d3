"""The yardstick of throughput: processes that do nothing but decode a file and read it."""

import multiprocessing
import time
from collections.abc import Sequence
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

from inference.bench import load_pages
from inference.registry import build_engine

WARM_UP_SECONDS = 120


class Spent(NamedTuple):
    """Seconds on the wall for all pages, and CPU seconds of all processes for each."""

    seconds: float
    cpu_seconds_per_page: float


def read_bare(warm_up: Sequence[Path], files: Sequence[Path], n_processes: int, engine: str) -> Spent:
    """Return the time from the moment when every process is warm to the last file read.

    Each process builds its own engine and reads the files of `warm_up`; then each takes the next file as it is free.
    """
    context = multiprocessing.get_context("spawn")
    todo: SimpleQueue[Path | None] = context.SimpleQueue()
    times: SimpleQueue[tuple[float, float, float]] = context.SimpleQueue()
    for file in files:
        todo.put(file)
    for _ in range(n_processes):
        todo.put(None)
    barrier = context.Barrier(n_processes)
    processes = [
        context.Process(target=_loop, args=(engine, warm_up, todo, times, barrier)) for _ in range(n_processes)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a process of the bare loop died")
    started, ended, cpu = zip(*(times.get() for _ in processes), strict=True)
    return Spent(max(ended) - min(started), sum(cpu) / len(files))


def _loop(
    engine_name: str,
    warm_up: Sequence[Path],
    todo: "SimpleQueue[Path | None]",
    times: "SimpleQueue[tuple[float, float, float]]",
    barrier: Barrier,
) -> None:
    engine = build_engine(engine_name)
    for page in load_pages(warm_up):
        engine.read_page(page)
    # Where another process died, nobody waits for it for ever.
    barrier.wait(timeout=WARM_UP_SECONDS)
    # The clock is the system's, the same in all processes.
    started, cpu_started = time.monotonic(), time.process_time()
    while (file := todo.get()) is not None:
        for page in load_pages([file]):
            engine.read_page(page)
    times.put((started, time.monotonic(), time.process_time() - cpu_started))
