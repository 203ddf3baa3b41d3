"""A profile says how large an OCR engine sees a page; what cannot be one is refused with each mistake named."""

import pytest

from inference.engines.detection_size import DetectionSizing
from inference.engines.rapidocr import MIN_TEXT_SCORE
from inference.types import OcrProfile, OcrProfileError


def test_what_is_not_said_is_as_the_house_reads() -> None:
    house = DetectionSizing()
    profile = OcrProfile.from_json({"legible_px": 20})
    assert (profile.probe_long_side, profile.comfortable_px) == (house.probe_long_side, house.comfortable_px)
    assert (profile.max_long_side, profile.min_text_score) == (house.max_long_side, MIN_TEXT_SCORE)
    assert profile.legible_px == 20.0
    assert OcrProfile.from_json(profile.as_json()) == profile


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        ({"language": "en", "min_text_score": 2}, {"language", "min_text_score"}),
        ({"probe_long_side": 736.5}, {"probe_long_side"}),
        ({"probe_long_side": True}, {"probe_long_side"}),
        ({"comfortable_px": "26"}, {"comfortable_px"}),
        ({"min_text_score": float("nan")}, {"min_text_score"}),
        ({"legible_px": 40, "comfortable_px": 30}, {"legible_px"}),
        ({"probe_long_side": 2000, "max_long_side": 1000}, {"probe_long_side"}),
    ],
)
def test_each_mistake_is_named(data: dict[str, object], wrong: set[str]) -> None:
    with pytest.raises(OcrProfileError) as refused:
        OcrProfile.from_json(data)
    assert {key for key, _message in refused.value.problems} == wrong
