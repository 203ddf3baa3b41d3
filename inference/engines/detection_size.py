"""How large the detector should see a page: as large as its text needs, and no larger, for time goes by pixels."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class DetectionSizing:
    """Found on 38 training receipts: from 26 px a line up, detecting at a larger size changes nothing that counts.

    A first look at `probe_long_side` measures the text. Text higher than `comfortable_px` (a detected line's box, with
    the detector's margin) is shrunk to it; text lower than `legible_px` is enlarged to it; `max_long_side` bounds
    the result. A second look within `keep_within` of the first one's scale is not worth its time.
    """

    probe_long_side: int = 736
    comfortable_px: float = 26.0
    legible_px: float = 16.0
    max_long_side: int = 2048
    keep_within: float = 1.05

    def probe_scale(self, width: int, height: int) -> float:
        """Return the scale of the first look; it never enlarges."""
        return min(1.0, self.probe_long_side / max(width, height))

    def fitted_scale(self, width: int, height: int, text_px: float | None) -> float:
        """Return the scale at which to detect, given the text's height in pixels of the unscaled page (None: no text).

        A page on which the first look found nothing is looked at once more at its own size: small print hides.
        """
        if text_px is None or text_px <= 0:
            scale = 1.0
        elif text_px > self.comfortable_px:
            scale = self.comfortable_px / text_px
        else:
            scale = max(1.0, self.legible_px / text_px)
        return min(scale, self.max_long_side / max(width, height))

    def is_probe_enough(self, probe_scale: float, fitted_scale: float) -> bool:
        """Whether the first look was already (nearly) as large as wanted."""
        return fitted_scale <= probe_scale * self.keep_within

    def as_json(self) -> dict[str, Any]:
        """Return the parameters as plain JSON data."""
        return asdict(self)


def text_height(quads: npt.NDArray[np.float32], scale: float) -> float | None:
    """Return the median height of text lines, in pixels of the unscaled page, or None when there are no lines.

    `quads` (n, 4, 2) are detected lines in unscaled pixels, clockwise from the top left, as seen at `scale`.
    """
    if len(quads) == 0:
        return None
    down = np.linalg.norm(quads[:, 0] - quads[:, 3], axis=1)
    across = np.linalg.norm(quads[:, 0] - quads[:, 1], axis=1)
    seen = float(np.median(np.minimum(down, across))) * scale
    # The detector's margin and its grid make low text look higher than it is: of 10 px it reports 14, of 21 px 23.
    return max(seen - 5.0, 1.0) * 1.18 / scale
