import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from inference.bench import BenchResult, CpuCost, image_files, load_pages, measure_cost
from inference.errors import EngineError
from inference.types import PageImage, PageReading, PageRequest


class Clock:
    """A clock that only its readers move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now


class SlowEngine:
    """Spends `seconds[i]` of the clock on its i-th read."""

    name = "slow"

    def __init__(self, clock: Clock, seconds: list[float]) -> None:
        self.clock, self.seconds = clock, list(seconds)

    @property
    def version(self) -> Mapping[str, Any]:
        return {}

    def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:
        self.clock.calls.append("engine")
        self.clock.now += self.seconds.pop(0)
        return PageReading(*page.size, (), 0.0)


def pages(count: int) -> list[PageImage]:
    return [PageImage(np.zeros((2, 3, 3), np.uint8)) for _ in range(count)]


def test_cost_is_summed_up_by_mean_median_and_tail() -> None:
    cost = CpuCost.of([1.0] * 19 + [21.0])
    assert (cost.n_pages, cost.median) == (20, 1.0)
    assert cost.mean == pytest.approx(2.0)
    assert 1.0 <= cost.p95 <= 21.0
    assert CpuCost.of(list(np.arange(101.0))).p95 == pytest.approx(95.0)


def test_no_pages_cost_nothing() -> None:
    assert CpuCost.of([]) == CpuCost(0, 0.0, 0.0, 0.0)


def test_first_call_is_off_the_clock() -> None:
    clock = Clock()
    result = measure_cost(SlowEngine(clock, [100.0, 1.0, 2.0, 3.0]), pages(3), clock=clock)
    assert result.engine.mean == pytest.approx(2.0)
    assert result.engine.n_pages == 3
    assert result.baseline is None
    assert result.ratio is None


def test_both_read_every_page_in_turn_and_the_first_alternates() -> None:
    clock = Clock()

    def baseline(page: PageImage) -> None:
        clock.calls.append("baseline")
        clock.now += 4.0

    result = measure_cost(SlowEngine(clock, [9.0] + [1.0] * 4), pages(4), baseline, clock)
    assert clock.calls[2:] == ["engine", "baseline", "baseline", "engine"] * 2
    assert result.baseline is not None
    assert result.engine.mean == pytest.approx(1.0)
    assert result.baseline.mean == pytest.approx(4.0)
    assert result.ratio == pytest.approx(0.25)


def test_bench_of_nothing_is_empty_and_has_no_ratio() -> None:
    result = measure_cost(SlowEngine(Clock(), []), [], lambda page: None)
    assert result.engine.n_pages == 0
    assert result.ratio is None


def test_failing_engine_ends_the_bench() -> None:
    class Failing(SlowEngine):
        def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:
            raise EngineError("no")

    with pytest.raises(EngineError):
        measure_cost(Failing(Clock(), []), pages(1))


@pytest.mark.parametrize("baseline", [None, CpuCost(2, 4.0, 4.0, 4.0)])
def test_result_is_plain_json(baseline: CpuCost | None) -> None:
    data = BenchResult(CpuCost(2, 1.0, 1.0, 1.0), baseline).as_json()
    assert json.loads(json.dumps(data)) == data
    assert data["engine"]["mean"] == 1.0
    assert data["ratio"] == (None if baseline is None else 0.25)


def test_images_are_taken_by_name_and_other_files_left(tmp_path: Path) -> None:
    for name in ("b.JPG", "a.png", "notes.txt", "c.jpeg", "truth.json"):
        (tmp_path / name).touch()
    assert [path.name for path in image_files(tmp_path)] == ["a.png", "b.JPG", "c.jpeg"]
    assert [path.name for path in image_files(tmp_path, 2)] == ["a.png", "b.JPG"]


def test_pages_are_decoded_to_rgb_one_at_a_time(tmp_path: Path) -> None:
    Image.new("L", (5, 7), 200).save(tmp_path / "grey.png")
    stream = load_pages([tmp_path / "grey.png", tmp_path / "absent.png"])
    first = next(stream)
    assert first.pixels.shape == (7, 5, 3)
    assert first.pixels.dtype == np.uint8
    with pytest.raises(FileNotFoundError):
        next(stream)
