"""What a page costs in CPU time: an engine by itself, or beside RapidOCR as it comes, page by page in one run."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from inference.engine import Engine
from inference.types import PageImage

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff"})


@dataclass(frozen=True, slots=True)
class CpuCost:
    """CPU seconds a page over `n_pages` pages; all zero where there are none."""

    n_pages: int
    mean: float
    median: float
    p95: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "CpuCost":
        """Summarise one figure a page."""
        if not seconds:
            return cls(0, 0.0, 0.0, 0.0)
        median, p95 = np.percentile(seconds, (50, 95))
        return cls(len(seconds), float(np.mean(seconds)), float(median), float(p95))


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The engine's cost and, where asked for, that of RapidOCR as it comes over the same pages."""

    engine: CpuCost
    baseline: CpuCost | None

    @property
    def ratio(self) -> float | None:
        """The engine's mean as a share of the baseline's; None without a baseline or without pages."""
        if self.baseline is None or self.baseline.mean == 0:
            return None
        return self.engine.mean / self.baseline.mean

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "engine": asdict(self.engine),
            "baseline": None if self.baseline is None else asdict(self.baseline),
            "ratio": self.ratio,
        }


def image_files(folder: Path, limit: int | None = None) -> list[Path]:
    """Return the image files directly in `folder`, by name, at most `limit` of them."""
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in IMAGE_SUFFIXES)
    return found[:limit]


def load_pages(paths: Iterable[Path]) -> Iterator[PageImage]:
    """Decode one file after another: a bench over thousands must not hold them all."""
    for path in paths:
        with Image.open(path) as image:
            yield PageImage(np.asarray(image.convert("RGB")))


def measure_cost(
    engine: Engine,
    pages: Iterable[PageImage],
    baseline: Callable[[PageImage], object] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> BenchResult:
    """Read every page with the engine and, right after it, with the baseline, so that both meet the same machine.

    The first page is read once beforehand by both, off the clock: first calls plan memory. Which of the two goes first
    alternates. `clock` returns seconds. Raise what the engine raises.
    """
    spent: list[float] = []
    spent_by_baseline: list[float] = []
    for position, page in enumerate(pages):
        runs: list[tuple[Callable[[PageImage], object], list[float]]] = [(engine.read_page, spent)]
        if baseline is not None:
            runs.append((baseline, spent_by_baseline))
        if position == 0:
            for read, _ in runs:
                read(page)
        for read, figures in runs if position % 2 == 0 else reversed(runs):
            started = clock()
            read(page)
            figures.append(clock() - started)
    return BenchResult(CpuCost.of(spent), None if baseline is None else CpuCost.of(spent_by_baseline))
