"""PP-OCRv6 through RapidOCR: the reader for a plain CPU, one thread, one engine a process (R1)."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from inference.engines.detection_size import DetectionSizing, text_height
from inference.engines.line_widths import LineBatching
from inference.engines.ppocr_models import LineModels, Pixels, PpOcrModels, PreparedPage, Quads
from inference.engines.reading_order import in_reading_order
from inference.errors import EngineError, EngineUnavailableError
from inference.imaging.quality import measure
from inference.types import BBox, OcrProfile, PageImage, PageReading, PageRequest, Word

MIN_TEXT_SCORE = 0.5
"""What the recogniser is less sure of is mostly noise: RapidOCR's own bound."""

IMAGING_PROFILE = "upright"
"""The page is read as it comes out of `inference.imaging.pages`: upright and bounded, neither cropped nor rescued."""


class RapidOCREngine:
    """Implements `inference.engine.Engine`; a word of its readings is a line as detected.

    Cheaper than RapidOCR as it comes by three things: detection at a size fitted to the text's height, recognition
    without padding (see `detection_size` and `line_widths`), and ONNX Runtime's memory arena (see `ppocr_models`).
    """

    name = "rapidocr"

    def __init__(
        self,
        models: LineModels | None = None,
        sizing: DetectionSizing | None = None,
        batching: LineBatching | None = None,
        profile: OcrProfile | None = None,
    ) -> None:
        self._models = PpOcrModels() if models is None else models
        self._min_text_score = MIN_TEXT_SCORE if profile is None else profile.min_text_score
        self._sizing = (_sizing_of(profile) if profile is not None else DetectionSizing()) if sizing is None else sizing
        self._batching = LineBatching() if batching is None else batching
        self._version = {
            "engine": self.name,
            "model": "PP-OCRv6 small",
            "imaging_profile": IMAGING_PROFILE,
            "detection": self._sizing.as_json(),
            "recognition": {**self._batching.as_json(), "min_text_score": self._min_text_score},
            **self._models.describe(),
            # By this an engine can be built again, beside that of the house.
            **({} if profile is None else {"profile": profile.as_json()}),
        }

    @property
    def version(self) -> Mapping[str, Any]:
        """Libraries' versions, the weights' checksums and all sizes and thresholds."""
        return dict(self._version)

    def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:  # noqa: ARG002
        """Read one page; a page without text has no words.

        Raise EngineError when the models fail on it, EngineUnavailableError when there is too little memory.
        """
        started = time.thread_time()
        try:
            words = self._words(page.pixels)
            quality = measure(page)
        except MemoryError:
            raise EngineUnavailableError("too little memory to read a page") from None
        except Exception as failure:
            # The cause is left out on purpose: its message might quote what stands on the page.
            raise EngineError(f"reading failed with {type(failure).__name__}") from None
        width, height = page.size
        return PageReading(width, height, words, time.thread_time() - started, quality)

    def _words(self, rgb: Pixels) -> tuple[Word, ...]:
        page = self._models.prepare(rgb)
        quads = self._find_lines(page)
        if len(quads) == 0:
            return ()
        texts = self._read(self._models.cut_out(page, quads))
        boxes = _fractions(self._models.to_page(page, quads), page.size)
        return in_reading_order(
            Word(text, box, score)
            for (text, score), box in zip(texts, boxes, strict=True)
            if text.strip() and score >= self._min_text_score
        )

    def _find_lines(self, page: PreparedPage) -> Quads:
        """Look once at a small size; look again where the text asks for a larger one."""
        height, width = page.pixels.shape[:2]
        probe_scale = self._sizing.probe_scale(width, height)
        quads = self._models.find_lines(page, probe_scale)
        scale = self._sizing.fitted_scale(width, height, text_height(quads, probe_scale))
        if self._sizing.is_probe_enough(probe_scale, scale):
            return quads
        larger = self._models.find_lines(page, scale)
        # A lone line on an empty page is sometimes found at the small size only.
        return larger if len(larger) else quads

    def _read(self, lines: list[Pixels]) -> list[tuple[str, float]]:
        texts = [("", 0.0)] * len(lines)
        sizes = [(line.shape[1], line.shape[0]) for line in lines]
        for width, positions in self._batching.batches(sizes):
            answers = self._models.read_lines([lines[position] for position in positions], width)
            for position, answer in zip(positions, answers, strict=True):
                texts[position] = answer
        return texts


def with_profile(profile: OcrProfile) -> RapidOCREngine:
    """Return an engine that sees pages as a declared version says."""
    return RapidOCREngine(profile=profile)


def _sizing_of(profile: OcrProfile) -> DetectionSizing:
    return DetectionSizing(
        probe_long_side=profile.probe_long_side,
        comfortable_px=profile.comfortable_px,
        legible_px=profile.legible_px,
        max_long_side=profile.max_long_side,
    )


def _fractions(quads: Quads, size: tuple[int, int]) -> list[BBox]:
    """Return the upright box around each quad, in shares of a page of `size` (width, height)."""
    shares = np.clip(quads / np.asarray(size, np.float32), 0.0, 1.0)
    return [BBox(*map(float, (*quad.min(axis=0), *quad.max(axis=0)))) for quad in shares]
