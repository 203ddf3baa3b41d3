import dataclasses

import pytest

from inference.imaging.limits import PIXEL_CEILING, Limits


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
@pytest.mark.parametrize("value", [0, -1])
def test_no_limit_may_be_zero_or_less(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


def test_pixels_beyond_what_the_decoder_opens_cannot_be_promised() -> None:
    assert Limits(max_pixels=PIXEL_CEILING).max_pixels == PIXEL_CEILING
    with pytest.raises(ValueError, match="max_pixels"):
        Limits(max_pixels=PIXEL_CEILING + 1)


def test_a3_at_600_dpi_passes_by_default() -> None:
    assert Limits().max_pixels >= 7016 * 9921
