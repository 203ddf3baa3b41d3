import json

import numpy as np
import numpy.typing as npt
import pytest

from inference.engines.detection_size import DetectionSizing, text_height

SIZING = DetectionSizing(
    probe_long_side=736, comfortable_px=26.0, legible_px=16.0, max_long_side=2048, keep_within=1.05
)


def quads_of(heights: list[float], width: float = 200.0) -> npt.NDArray[np.float32]:
    return np.array([[[0, 0], [width, 0], [width, height], [0, height]] for height in heights], np.float32)


@pytest.mark.parametrize(
    ("size", "scale"), [((736, 1472), 0.5), ((1472, 736), 0.5), ((736, 400), 1.0), ((100, 90), 1.0)]
)
def test_first_look_bounds_the_long_side_and_never_enlarges(size: tuple[int, int], scale: float) -> None:
    assert SIZING.probe_scale(*size) == pytest.approx(scale)


def test_large_text_is_shrunk_to_the_comfortable_height() -> None:
    assert SIZING.fitted_scale(800, 1600, 52.0) == pytest.approx(0.5)


@pytest.mark.parametrize("text_px", [16.0, 20.0, 26.0])
def test_text_between_legible_and_comfortable_is_left_at_its_size(text_px: float | None) -> None:
    assert SIZING.fitted_scale(800, 1200, text_px) == 1.0


def test_small_text_is_enlarged_to_the_legible_height() -> None:
    assert SIZING.fitted_scale(600, 1000, 10.0) == pytest.approx(1.6)


@pytest.mark.parametrize("size", [(1500, 2000), (2000, 1500)])
def test_enlarging_stops_at_the_longest_side(size: tuple[int, int]) -> None:
    assert SIZING.fitted_scale(*size, 4.0) == pytest.approx(2048 / 2000)


def test_pages_beyond_the_longest_side_are_shrunk_even_when_their_text_is_small() -> None:
    assert SIZING.fitted_scale(4096, 1000, 8.0) == pytest.approx(0.5)


@pytest.mark.parametrize("text_px", [None, 0.0, -3.0])
def test_page_without_text_at_the_first_look_is_looked_at_in_its_own_size(text_px: float | None) -> None:
    assert SIZING.fitted_scale(900, 1600, text_px) == 1.0


@pytest.mark.parametrize(
    ("probe", "fitted", "is_enough"), [(0.5, 0.4, True), (0.5, 0.5, True), (0.5, 0.52, True), (0.5, 0.54, False)]
)
def test_second_look_is_taken_only_for_a_clearly_larger_scale(probe: float, fitted: float, is_enough: bool) -> None:
    assert SIZING.is_probe_enough(probe, fitted) is is_enough


def test_page_no_larger_than_the_first_look_needs_no_second_unless_its_text_is_small() -> None:
    probe = SIZING.probe_scale(500, 700)
    assert SIZING.is_probe_enough(probe, SIZING.fitted_scale(500, 700, 20.0))
    assert not SIZING.is_probe_enough(probe, SIZING.fitted_scale(500, 700, 9.0))


def test_no_lines_have_no_height() -> None:
    assert text_height(np.zeros((0, 4, 2), np.float32), 0.5) is None


def test_height_is_the_median_of_the_lines() -> None:
    few_tall_ones = text_height(quads_of([40, 40, 40, 300, 5]), 1.0)
    assert few_tall_ones == pytest.approx(text_height(quads_of([40]), 1.0))


def test_upright_and_sideways_lines_count_by_their_thickness() -> None:
    sideways = quads_of([200.0], width=40.0)
    assert text_height(sideways, 1.0) == pytest.approx(text_height(quads_of([40.0]), 1.0))


@pytest.mark.parametrize(
    ("seen_at_736", "native", "long_side"),
    [(13.98, 21, 1527), (13.0, 20, 1528), (17.94, 33, 1600), (20.0, 40, 1600), (23.0, 46, 1600)],
)
def test_height_seen_on_a_small_page_foretells_the_height_at_full_size(
    seen_at_736: float, native: float, long_side: int
) -> None:
    """Pairs measured on training receipts: the detector's margin weighs more at small sizes."""
    scale = 736 / long_side
    assert text_height(quads_of([seen_at_736 / scale]), scale) == pytest.approx(native, rel=0.15)


def test_height_stays_above_zero_for_specks() -> None:
    height = text_height(quads_of([2.0]), 0.5)
    assert height is not None
    assert height > 0


def test_parameters_are_plain_json() -> None:
    data = SIZING.as_json()
    assert json.loads(json.dumps(data)) == data
    assert data["comfortable_px"] == 26.0
