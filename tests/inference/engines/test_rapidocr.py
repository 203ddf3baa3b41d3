import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from inference.engines.detection_size import DetectionSizing
from inference.engines.line_widths import LineBatching
from inference.engines.ppocr_models import Pixels, PreparedPage, Quads
from inference.engines.rapidocr import MIN_TEXT_SCORE, RapidOCREngine
from inference.errors import EngineError, EngineUnavailableError
from inference.types import PageImage

SECRET = "IBAN DE02 1203 0000"


class FakeModels:
    """Lines whose crops carry their own number in the first pixel, so that a mix-up of texts and boxes shows."""

    def __init__(self, quads: Quads, answers: Sequence[tuple[str, float]], quads_at_first: Quads | None = None) -> None:
        self.quads, self.answers = quads, list(answers)
        self.quads_at_first = quads if quads_at_first is None else quads_at_first
        self.scales: list[float] = []
        self.batches: list[tuple[int, int]] = []
        self.failure: BaseException | None = None

    def describe(self) -> Mapping[str, Any]:
        return {"weights_sha256": {"detection": "aa", "recognition": "bb"}}

    def prepare(self, rgb: Pixels) -> PreparedPage:
        return PreparedPage(rgb, (rgb.shape[1], rgb.shape[0]), {})

    def find_lines(self, page: PreparedPage, scale: float) -> Quads:
        if self.failure is not None:
            raise self.failure
        self.scales.append(scale)
        return self.quads_at_first if len(self.scales) == 1 else self.quads

    def cut_out(self, page: PreparedPage, quads: Quads) -> list[Pixels]:
        lines = []
        for number, quad in enumerate(quads):
            width, height = (np.ptp(quad, axis=0)).astype(int)
            lines.append(np.full((height, width, 3), number, np.uint8))
        return lines

    def read_lines(self, lines: Sequence[Pixels], width: int) -> list[tuple[str, float]]:
        self.batches.append((width, len(lines)))
        return [self.answers[int(line[0, 0, 0])] for line in lines]

    def to_page(self, page: PreparedPage, quads: Quads) -> Quads:
        return quads


def quad(x0: float, y0: float, x1: float, y1: float) -> list[list[float]]:
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def quads(*boxes: tuple[float, float, float, float]) -> Quads:
    return np.array([quad(*box) for box in boxes], np.float32).reshape(-1, 4, 2)


def page(width: int = 800, height: int = 1600, number: int = 1) -> PageImage:
    return PageImage(np.full((height, width, 3), 255, np.uint8), number)


THREE = quads((500, 300, 700, 330), (100, 300, 300, 330), (100, 100, 500, 130))
ANSWERS = [("4.00", 0.9), ("TOTAL", 0.8), ("SHOP", 0.99)]


def test_words_keep_their_own_boxes_and_scores_and_come_in_reading_order() -> None:
    reading = RapidOCREngine(FakeModels(THREE, ANSWERS)).read_page(page())
    assert [(word.text, word.score) for word in reading.words] == [("SHOP", 0.99), ("TOTAL", 0.8), ("4.00", 0.9)]
    assert reading.words[0].bbox == pytest.approx((100 / 800, 100 / 1600, 500 / 800, 130 / 1600))
    assert reading.words[2].bbox == pytest.approx((500 / 800, 300 / 1600, 700 / 800, 330 / 1600))
    assert (reading.width, reading.height) == (800, 1600)


def test_slanted_line_gets_the_upright_box_around_it() -> None:
    slanted = np.array([[[100, 120], [300, 100], [304, 140], [104, 160]]], np.float32)
    reading = RapidOCREngine(FakeModels(slanted, [("up", 0.9)])).read_page(page(400, 200))
    assert reading.words[0].bbox == pytest.approx((0.25, 0.5, 0.76, 0.8))


def test_boxes_stay_within_the_page() -> None:
    beyond = quads((-20, 150, 420, 230))
    (word,) = RapidOCREngine(FakeModels(beyond, [("edge", 0.9)])).read_page(page(400, 200)).words
    assert word.bbox == (0.0, 0.75, 1.0, 1.0)


def test_page_without_text_is_read_as_empty() -> None:
    models = FakeModels(quads(), [])
    reading = RapidOCREngine(models).read_page(page())
    assert reading.words == ()
    assert models.batches == []


@pytest.mark.parametrize("answer", [("", 0.99), ("  ", 0.99), ("noise", MIN_TEXT_SCORE - 0.01)])
def test_blank_and_doubtful_lines_are_left_out(answer: tuple[str, float]) -> None:
    answers = [ANSWERS[0], answer, ANSWERS[2]]
    reading = RapidOCREngine(FakeModels(THREE, answers)).read_page(page())
    assert [word.text for word in reading.words] == ["SHOP", "4.00"]


def test_line_at_the_bound_of_doubt_is_kept() -> None:
    reading = RapidOCREngine(FakeModels(quads((10, 10, 200, 40)), [("kept", MIN_TEXT_SCORE)])).read_page(page())
    assert [word.text for word in reading.words] == ["kept"]


def test_large_text_is_read_after_one_look() -> None:
    models = FakeModels(quads((50, 100, 700, 220)), [("BIG", 0.9)])
    RapidOCREngine(models).read_page(page())
    assert models.scales == [pytest.approx(736 / 1600)]


def test_small_text_gets_a_second_look_at_a_larger_size() -> None:
    models = FakeModels(THREE, ANSWERS)
    RapidOCREngine(models).read_page(page())
    probe, fitted = models.scales
    assert probe == pytest.approx(736 / 1600)
    assert probe < fitted <= 1.0


def test_lines_of_the_second_look_count_not_those_of_the_first() -> None:
    first = quads((100, 100, 300, 125))
    reading = RapidOCREngine(FakeModels(THREE, ANSWERS, quads_at_first=first)).read_page(page())
    assert len(reading.words) == 3


def test_page_empty_at_the_first_look_is_looked_at_again_in_full_size() -> None:
    models = FakeModels(THREE, ANSWERS, quads_at_first=quads())
    reading = RapidOCREngine(models).read_page(page())
    assert models.scales[1] == 1.0
    assert len(reading.words) == 3


def test_line_found_at_the_first_look_only_is_kept() -> None:
    models = FakeModels(quads(), [("LONE", 0.9)], quads_at_first=quads((100, 100, 300, 130)))
    reading = RapidOCREngine(models).read_page(page())
    assert len(models.scales) == 2
    assert [word.text for word in reading.words] == ["LONE"]


def test_lines_go_to_the_recogniser_in_batches_of_one_width() -> None:
    boxes = [(100.0, 40.0 * i, 100.0 + (120 if i % 2 else 400), 40.0 * i + 30) for i in range(10)]
    models = FakeModels(quads(*boxes), [(str(i), 0.9) for i in range(10)])
    reading = RapidOCREngine(models, batching=LineBatching(width_step=32, batch_size=4)).read_page(page())
    assert models.batches == [(192, 4), (192, 1), (640, 4), (640, 1)]
    assert [word.text for word in reading.words] == [str(i) for i in range(10)]


@pytest.mark.parametrize("error", [RuntimeError, ValueError, IndexError, OSError])
def test_failing_models_become_an_engine_error_that_quotes_nothing(error: type[Exception]) -> None:
    models = FakeModels(THREE, ANSWERS)
    models.failure = error(SECRET)
    with pytest.raises(EngineError) as caught:
        RapidOCREngine(models).read_page(page())
    assert SECRET not in str(caught.value)
    assert error.__name__ in str(caught.value)
    # A traceback in a log shows causes too.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_want_of_memory_may_pass() -> None:
    models = FakeModels(THREE, ANSWERS)
    models.failure = MemoryError()
    with pytest.raises(EngineUnavailableError):
        RapidOCREngine(models).read_page(page())


def test_interruption_is_not_taken_for_a_bad_page() -> None:
    models = FakeModels(THREE, ANSWERS)
    models.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        RapidOCREngine(models).read_page(page())


def test_too_few_answers_are_an_error_not_shifted_texts() -> None:
    class Forgetful(FakeModels):
        def read_lines(self, lines: Sequence[Pixels], width: int) -> list[tuple[str, float]]:
            return super().read_lines(lines, width)[:-1]

    with pytest.raises(EngineError):
        RapidOCREngine(Forgetful(THREE, ANSWERS)).read_page(page())


def test_reading_says_what_it_cost_and_how_good_the_image_is(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([10.0, 12.5])
    monkeypatch.setattr("inference.engines.rapidocr.time.thread_time", lambda: next(ticks))
    reading = RapidOCREngine(FakeModels(THREE, ANSWERS)).read_page(page())
    assert reading.cpu_seconds == 2.5
    assert {"sharpness", "contrast", "skew_degrees"} <= set(reading.quality)
    assert reading.quality["brightness"] == pytest.approx(1.0)


def test_no_document_text_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        RapidOCREngine(FakeModels(quads((10, 10, 200, 40)), [(SECRET, 0.9)])).read_page(page())
    printed = capfd.readouterr()
    assert SECRET not in caplog.text + printed.out + printed.err


def test_version_is_plain_json_and_names_the_weights() -> None:
    version = RapidOCREngine(FakeModels(THREE, ANSWERS)).version
    assert json.loads(json.dumps(version)) == version
    assert version["engine"] == "rapidocr"
    assert version["weights_sha256"] == {"detection": "aa", "recognition": "bb"}
    assert version["imaging_profile"]


@pytest.mark.parametrize(
    "other", [{"sizing": DetectionSizing(comfortable_px=40.0)}, {"batching": LineBatching(width_step=64)}]
)
def test_another_size_is_another_version(other: dict[str, Any]) -> None:
    models = FakeModels(THREE, ANSWERS)
    assert RapidOCREngine(models, **other).version != RapidOCREngine(models).version


def test_caller_cannot_change_the_version() -> None:
    engine = RapidOCREngine(FakeModels(THREE, ANSWERS))
    version = engine.version
    assert isinstance(version, dict)
    version.clear()
    assert engine.version["engine"] == "rapidocr"
