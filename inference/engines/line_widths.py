"""Which cut-out lines are recognised together: those of one width, so that hardly any of the input is padding."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

ROW_HEIGHT = 48
"""The recogniser's input height in pixels."""


@dataclass(frozen=True, slots=True)
class LineBatching:
    """Widths are rounded up to a multiple of `width_step`; at most `batch_size` lines go in at once.

    As it comes, RapidOCR pads every line to 320 px or to the longest of its batch of six; receipts' lines are 226 px
    long on average. The step bounds how many shapes the runtime has to plan memory for.
    """

    width_step: int = 32
    batch_size: int = 6

    def as_json(self) -> dict[str, Any]:
        """Return the parameters as plain JSON data."""
        return asdict(self)

    def width_for(self, size: tuple[int, int]) -> int:
        """Return the input width for a line cut out at `size` (width, height) pixels."""
        width, height = size
        return max(1, math.ceil(math.ceil(ROW_HEIGHT * width / height) / self.width_step)) * self.width_step

    def batches(self, sizes: Sequence[tuple[int, int]]) -> list[tuple[int, tuple[int, ...]]]:
        """Split lines of these sizes into (input width, positions in `sizes`); each position occurs exactly once."""
        by_width: dict[int, list[int]] = {}
        for position, size in enumerate(sizes):
            by_width.setdefault(self.width_for(size), []).append(position)
        return [
            (width, tuple(positions[start : start + self.batch_size]))
            for width, positions in sorted(by_width.items())
            for start in range(0, len(positions), self.batch_size)
        ]
