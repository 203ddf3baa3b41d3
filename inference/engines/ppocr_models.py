"""The PP-OCRv6 models of rapidocr's wheel, each step by itself: find lines, cut them out, read them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
import numpy.typing as npt
import rapidocr
from rapidocr.ch_ppocr_rec import TextRecInput
from rapidocr.utils.process_img import apply_vertical_padding, map_boxes_to_original

from inference.engines.line_widths import ROW_HEIGHT
from inference.errors import EngineUnavailableError

Pixels = npt.NDArray[np.uint8]
Quads = npt.NDArray[np.float32]
"""(n, 4, 2): corners in pixels, clockwise from the top left."""

WEIGHTS = {"detection": "PP-OCRv6_det_small.onnx", "recognition": "PP-OCRv6_rec_small.onnx"}


@dataclass(frozen=True, slots=True)
class PreparedPage:
    """What the models see: BGR pixels, and the steps that led there from a page of `size` (width, height)."""

    pixels: Pixels
    size: tuple[int, int]
    steps: Mapping[str, Any]


class LineModels(Protocol):
    """What `RapidOCREngine` needs of its models; tests put their own in."""

    def describe(self) -> Mapping[str, Any]:
        """Return names, versions, checksums and fixed parameters as plain JSON data."""

    def prepare(self, rgb: Pixels) -> PreparedPage:
        """Bring a page within the bounds that the models work in."""

    def find_lines(self, page: PreparedPage, scale: float) -> Quads:
        """Return the lines of text found at `scale`, in pixels of the prepared page."""

    def cut_out(self, page: PreparedPage, quads: Quads) -> list[Pixels]:
        """Return each line straightened."""

    def read_lines(self, lines: Sequence[Pixels], width: int) -> list[tuple[str, float]]:
        """Return (text, score) of each line; `width` is the input width, at least that of each line at its height."""

    def to_page(self, page: PreparedPage, quads: Quads) -> Quads:
        """Map corners back to pixels of the page before it was prepared."""


class PpOcrModels:
    """Implements `LineModels` with ONNX Runtime, one thread, nothing fetched.

    The memory arena is on: without it each detection maps and faults in its activations afresh, which takes as long
    as the arithmetic. Raises EngineUnavailableError when a weights file is missing or does not load.
    """

    def __init__(self, folder: Path | None = None) -> None:
        paths = weights_paths(folder)
        self._checksums = {part: hashlib.sha256(path.read_bytes()).hexdigest() for part, path in paths.items()}
        cv2.setNumThreads(1)
        try:
            ocr: Any = rapidocr.RapidOCR(params=parameters(paths))
            self._detector = ocr._load_det_model()
            self._recogniser = ocr._load_rec_model()
        except Exception as failure:
            raise EngineUnavailableError(f"the models do not load: {type(failure).__name__}") from failure
        self._ocr = ocr

    def describe(self) -> Mapping[str, Any]:
        """Return library versions, the weights' SHA-256 and the detector's thresholds."""
        settings = self._ocr.cfg
        return {
            **{name: installed_version(name) for name in ("rapidocr", "onnxruntime")},
            "opencv": cv2.__version__,
            "weights_sha256": dict(self._checksums),
            "max_side": settings.Global.max_side_len,
            "thresholds": {
                name: settings.Det[name] for name in ("thresh", "box_thresh", "unclip_ratio", "use_dilation")
            },
        }

    def prepare(self, rgb: Pixels) -> PreparedPage:
        """Bound the sides to 30-2,000 px and pad very flat pages, as RapidOCR does."""
        size = (int(rgb.shape[1]), int(rgb.shape[0]))
        bounded, steps = self._ocr.preprocess_img(cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))
        padded, steps = apply_vertical_padding(bounded, steps, self._ocr.width_height_ratio, self._ocr.min_height)
        return PreparedPage(padded, size, steps)

    def find_lines(self, page: PreparedPage, scale: float) -> Quads:
        """Detect at `scale` (rounded so that both sides are multiples of 32, as the network requires)."""
        height, width = page.pixels.shape[:2]
        # RapidOCR shrinks by a bound on the long side only, and enlarges by one on the short side only.
        if scale <= 1:
            self._detector.limit_type, self._detector.limit_side_len = "max", round(scale * max(height, width))
        else:
            self._detector.limit_type, self._detector.limit_side_len = "min", round(scale * min(height, width))
        found = self._detector(page.pixels).boxes
        return np.zeros((0, 4, 2), np.float32) if found is None else np.asarray(found, np.float32)

    def cut_out(self, page: PreparedPage, quads: Quads) -> list[Pixels]:
        """Return each line straightened; lines much higher than wide are turned by 90°."""
        return list(self._ocr.crop_text_regions(page.pixels, quads))

    def read_lines(self, lines: Sequence[Pixels], width: int) -> list[tuple[str, float]]:
        """Recognise all `lines` in one batch of exactly `width` pixels."""
        self._recogniser.rec_image_shape = (3, ROW_HEIGHT, width)
        self._recogniser.rec_batch_num = len(lines)
        answer = self._recogniser(TextRecInput(img=list(lines)))
        return [(str(text), float(score)) for text, score in zip(answer.txts, answer.scores, strict=True)]

    def to_page(self, page: PreparedPage, quads: Quads) -> Quads:
        """Undo padding and scaling; corners are clipped to the page."""
        width, height = page.size
        return np.asarray(map_boxes_to_original(quads.copy(), dict(page.steps), height, width), np.float32)


def weights_paths(folder: Path | None = None) -> dict[str, Path]:
    """Return the weights' files in `folder` (default: rapidocr's wheel); EngineUnavailableError if one is missing."""
    folder = Path(rapidocr.__file__).parent / "models" if folder is None else folder
    paths = {part: folder / name for part, name in WEIGHTS.items()}
    for path in paths.values():
        # RapidOCR would fetch a missing file from the network.
        if not path.is_file():
            raise EngineUnavailableError(f"weights are missing: {path}")
    return paths


def parameters(paths: Mapping[str, Path]) -> dict[str, Any]:
    """Return RapidOCR's settings: these weights, one thread, no angle classifier, a silent log."""
    return {
        "Global.use_cls": False,
        "Global.log_level": "critical",
        "Det.model_path": str(paths["detection"]),
        "Rec.model_path": str(paths["recognition"]),
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
    }
