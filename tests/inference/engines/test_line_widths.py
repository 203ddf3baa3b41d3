import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.engines.line_widths import ROW_HEIGHT, LineBatching

sizes = st.lists(st.tuples(st.integers(1, 2000), st.integers(1, 200)), max_size=60)


@pytest.mark.parametrize(
    ("size", "width"),
    [((48, 48), 64), ((64, 48), 64), ((65, 48), 96), ((1, 200), 32), ((200, 24), 416), ((320, 48), 320)],
)
def test_width_is_rounded_up_to_the_step_at_the_models_height(size: tuple[int, int], width: int) -> None:
    assert LineBatching(width_step=32).width_for(size) == width


def test_short_lines_are_not_padded_to_a_fixed_width() -> None:
    assert LineBatching().width_for((60, 30)) < 320


@given(sizes, st.integers(1, 8), st.sampled_from([16, 32, 64]))
def test_every_line_is_read_exactly_once(lines: list[tuple[int, int]], batch_size: int, step: int) -> None:
    batches = LineBatching(width_step=step, batch_size=batch_size).batches(lines)
    assert sorted(position for _, positions in batches for position in positions) == list(range(len(lines)))


@given(sizes, st.integers(1, 8))
def test_no_batch_is_too_large_or_too_narrow_for_its_lines(lines: list[tuple[int, int]], batch_size: int) -> None:
    for width, positions in LineBatching(batch_size=batch_size).batches(lines):
        assert 1 <= len(positions) <= batch_size
        for position in positions:
            across, down = lines[position]
            assert ROW_HEIGHT * across / down <= width


@given(sizes)
def test_padding_stays_below_one_step_and_a_pixel(lines: list[tuple[int, int]]) -> None:
    for width, positions in LineBatching(width_step=32).batches(lines):
        for position in positions:
            across, down = lines[position]
            assert width - ROW_HEIGHT * across / down < 33


def test_lines_of_one_width_share_a_batch() -> None:
    batches = LineBatching(width_step=32, batch_size=6).batches([(100, 48), (300, 48), (110, 48)])
    assert batches == [(128, (0, 2)), (320, (1,))]


def test_no_lines_make_no_batches() -> None:
    assert LineBatching().batches([]) == []


def test_widths_survive_the_recognisers_own_arithmetic() -> None:
    """RapidOCR computes the width as int(48 * (width / 48)): a rounding error would change the shape."""
    assert all(int(ROW_HEIGHT * (width / ROW_HEIGHT)) == width for width in range(32, 12_000, 32))


def test_parameters_are_plain_json() -> None:
    data = LineBatching(width_step=64, batch_size=3).as_json()
    assert json.loads(json.dumps(data)) == {"width_step": 64, "batch_size": 3}
