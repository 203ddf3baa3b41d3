"""Which document type a page looks like: a linear model over hashed pieces of its words and a few facts of its layout.

Learned by `review.learning.classifier`; stored as JSON, numbers only, so that nothing runs when it is loaded.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from inference.errors import ModelDamagedError
from inference.fields.normalise import folded
from inference.types import PageReading

Floats = npt.NDArray[np.float64]

FORMAT = 1
N_BUCKETS = 4096
LENGTHS = (3, 4, 5)
"""Pieces of words of so many characters: they survive a misread letter, and need no list of words of any language."""
N_LAYOUT = 5
N_FEATURES = N_BUCKETS + N_LAYOUT


@dataclass(frozen=True, slots=True)
class TypeClassifier:
    """`labels` of the types, `weights` of (types x N_FEATURES) and a `bias` for each; chances are their softmax."""

    labels: tuple[int, ...]
    weights: Floats
    bias: Floats

    def chances(self, reading: PageReading) -> dict[int, float]:
        """Return the chance of each type, 1 in all."""
        scores = self.weights @ page_features(reading) + self.bias
        chances = np.exp(scores - scores.max())
        return dict(zip(self.labels, (chances / chances.sum()).tolist(), strict=True))

    def as_bytes(self) -> bytes:
        """Return the model as JSON; `from_bytes` is the inverse. The same numbers make the same bytes."""
        stored = {
            "format": FORMAT,
            "labels": list(self.labels),
            "weights": [[round(weight, 5) for weight in row] for row in self.weights.tolist()],
            "bias": self.bias.tolist(),
        }
        return json.dumps(stored, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> "TypeClassifier":
        """Return the stored model; raise ModelDamagedError for bytes that are none."""
        try:
            stored: Mapping[str, Any] = json.loads(payload)
            labels = tuple(int(label) for label in stored["labels"])
            weights = np.array(stored["weights"], dtype=np.float64)
            bias = np.array(stored["bias"], dtype=np.float64)
            is_whole = weights.shape == (len(labels), N_FEATURES) and bias.shape == (len(labels),)
            if stored["format"] != FORMAT or not labels or not is_whole:
                raise ValueError("another format, or numbers are missing")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelDamagedError("these bytes are no classifier") from error
        return cls(labels, weights, bias)


def page_features(reading: PageReading) -> Floats:
    """Return what the classifier sees of a page: (N_FEATURES,), the pieces of words with a length of 1 in all."""
    counts = np.zeros(N_BUCKETS)
    for word in reading.words:
        for piece in _pieces(folded(word.text)):
            counts[zlib.crc32(piece.encode()) % N_BUCKETS] += 1
    counts = np.sqrt(counts)
    length = float(np.linalg.norm(counts))
    return np.concatenate([counts / length if length else counts, _layout(reading)])


def _pieces(text: str) -> Iterator[str]:
    padded = f" {text} "
    for length in LENGTHS:
        for start in range(len(padded) - length + 1):
            yield padded[start : start + length]


def _layout(reading: PageReading) -> Floats:
    """Return facts of the layout, each in 0-1: tall or wide, how many words, how large, how wide, how many figures."""
    boxes = [word.bbox for word in reading.words]
    text = "".join(word.text for word in reading.words)
    return np.array(
        [
            reading.height / (reading.width + reading.height),
            min(len(boxes) / 200, 1.0),
            min(20 * float(np.mean([box.height for box in boxes])), 1.0) if boxes else 0.0,
            float(np.mean([box.width for box in boxes])) if boxes else 0.0,
            sum(character.isdigit() for character in text) / max(len(text), 1),
        ]
    )
