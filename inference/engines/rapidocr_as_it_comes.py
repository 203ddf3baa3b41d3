"""RapidOCR with its own sizes and padding, the yardstick of `bench_engine`; the product never reads with it."""

from collections.abc import Callable

import cv2
import rapidocr

from inference.engines.ppocr_models import parameters, weights_paths
from inference.types import PageImage


def reader_as_it_comes() -> Callable[[PageImage], object]:
    """Return a function that reads one page with RapidOCR's defaults, but for one thread and no angle classifier.

    Raise EngineUnavailableError when a weights file is missing.
    """
    settings = parameters(weights_paths())
    settings["EngineConfig.onnxruntime.enable_cpu_mem_arena"] = False
    ocr = rapidocr.RapidOCR(params=settings)
    return lambda page: ocr(cv2.cvtColor(page.pixels, cv2.COLOR_RGB2BGR))
