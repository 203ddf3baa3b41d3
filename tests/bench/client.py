"""What talking to a vLLM server costs this side of it: CPU a request beside the image, and memory over many."""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.imaging.quality import measure
from inference.serving.chat import chat_client
from inference.serving.page_images import PreparedImage, prepare_page
from inference.types import PageImage
from tests.bench.report import Budget, finish
from tests.inference.serving.asking import a_page
from tests.replay.scenarios import SCENARIOS

SCENARIO = SCENARIOS["receipt"]
LIMIT_MS = 3.0
LIMIT_GROWTH_MB = 4.0


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="client", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="requests over which memory must not grow")
    parser.add_argument("--pages", type=int, default=300, help="requests with a real receipt, over which CPU is taken")
    parser.add_argument("--warm", type=int, default=1_000, help="requests before the first look at memory")
    options = parser.parse_args(arguments)
    with replaying("receipt") as url, chat_client(url) as client:
        engine = VlmEngine(SCENARIO.spec, ServedModel(SCENARIO.spec, client))
        image_ms, other_ms = cpu_a_request(engine, SCENARIO.page(), options.pages)
        megabytes = memory_over(engine, a_page(size=(200, 300)), options.warm, options.requests)
    rows = [
        ("prepare, measure and encode the image", options.pages, image_ms),
        ("all the rest", options.pages, other_ms),
    ]
    growth = megabytes[-1] - megabytes[0]
    budgets = [
        Budget("CPU ms a request beside the image", other_ms, LIMIT_MS),
        Budget(f"MB grown over {options.requests:,} requests", growth, LIMIT_GROWTH_MB),
    ]
    figures = {"image_ms": image_ms, "other_ms": other_ms, "resident_mb": [round(one, 1) for one in megabytes]}
    return finish("client", ("part", "requests", "median CPU ms"), rows, budgets, figures)


@contextmanager
def replaying(name: str) -> Iterator[str]:
    """Yield the address of a server, in a process of its own, that answers everything with one recording."""
    command = [sys.executable, "-m", "tests.replay.server", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def cpu_a_request(engine: VlmEngine, page: PageImage, n_pages: int) -> tuple[float, float]:
    """Return the median CPU milliseconds a page takes for its image, and for everything else."""
    spent: list[float] = []

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            started = time.thread_time()
            try:
                return call(*args, **named)
            finally:
                spent[-1] += time.thread_time() - started

        return run

    totals, request = [], SCENARIO.request()
    with (
        mock.patch("inference.serving.dialogue.prepare_page", timed(prepare_page)),
        mock.patch.object(PreparedImage, "as_data_url", timed(PreparedImage.as_data_url)),
        mock.patch("inference.engines.vlm.measure", timed(measure)),
    ):
        for _ in range(n_pages + 1):
            spent.append(0.0)
            started = time.thread_time()
            reading = engine.read_page(page, request)
            totals.append(time.thread_time() - started)
            assert reading.answer is not None
    # The first one meets imports, caches and a connection that are not there yet.
    others = [total - image for total, image in zip(totals, spent, strict=True)][1:]
    return 1000 * statistics.median(spent[1:]), 1000 * statistics.median(others)


def memory_over(engine: VlmEngine, page: PageImage, n_warm: int, n_requests: int) -> list[float]:
    """Return resident megabytes after the first requests and ten times on the way through the others."""
    request = SCENARIO.request()
    megabytes = []
    for number in range(1, n_warm + n_requests + 1):
        engine.read_page(page, request)
        if number >= n_warm and (number - n_warm) % max(n_requests // 10, 1) == 0:
            megabytes.append(_resident_megabytes())
    return megabytes


def _resident_megabytes() -> float:
    n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return n_pages * os.sysconf("SC_PAGE_SIZE") / 1e6
