"""Which document type a page looks like: a linear model over hashed pieces of its words and a few facts of its layout.

It may say "none of these": a linear model is sure of something on any page, so a page must also be like what was seen
of the type. Learned by `review.learning.classifier`; stored as JSON, numbers only, so that nothing runs when it is
loaded.
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

FORMAT = 2
N_BUCKETS = 4096
LENGTHS = (3, 4, 5)
"""Pieces of words of so many characters: they survive a misread letter, and need no list of words of any language."""
N_LAYOUT = 5
N_FEATURES = N_BUCKETS + N_LAYOUT


@dataclass(frozen=True, slots=True)
class TypeGuess:
    """What a page looks like: the likeliest type, its chance, and whether the page is like what was seen of that type.

    `chances` are those of all types, 1 in all. `is_sure`: right in 99 of 100 pages that were left out.
    """

    label: int
    chance: float
    is_familiar: bool
    is_sure: bool
    chances: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class TypeClassifier:
    """`labels` of the types, `weights` of (types x N_FEATURES) and a `bias` for each; chances are their softmax.

    `centres` (types x N_BUCKETS) are the mean pieces of each type's pages, of length 1; a page whose pieces are less
    like the centre (their cosine, 0-1) than the type's `familiar` is none of its. From a chance of `sure` on it is
    taken at its word. Learned from `n_documents`.
    """

    labels: tuple[int, ...]
    weights: Floats
    bias: Floats
    centres: Floats
    familiar: tuple[float, ...]
    sure: float
    n_documents: int

    def chances(self, reading: PageReading) -> dict[int, float]:
        """Return the chance of each type, 1 in all."""
        return self._chances(page_features(reading))

    def _chances(self, features: Floats) -> dict[int, float]:
        scores = self.weights @ features + self.bias
        chances = np.exp(scores - scores.max())
        return dict(zip(self.labels, (chances / chances.sum()).tolist(), strict=True))

    def guess(self, reading: PageReading) -> TypeGuess | None:
        """Return what a page looks like, None for one without words: it looks like nothing."""
        if not reading.words:
            return None
        features = page_features(reading)
        chances = self._chances(features)
        label = max(chances, key=chances.__getitem__)
        place = self.labels.index(label)
        is_familiar = float(self.centres[place] @ features[:N_BUCKETS]) >= self.familiar[place]
        is_sure = is_familiar and chances[label] >= self.sure
        return TypeGuess(label, chances[label], is_familiar, is_sure, chances)

    def as_bytes(self) -> bytes:
        """Return the model as JSON; `from_bytes` is the inverse. The same numbers make the same bytes."""
        stored = {
            "format": FORMAT,
            "labels": list(self.labels),
            "weights": _rounded(self.weights),
            "bias": self.bias.tolist(),
            "centres": _rounded(self.centres),
            "familiar": list(self.familiar),
            "sure": self.sure,
            "n_documents": self.n_documents,
        }
        return json.dumps(stored, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> "TypeClassifier":
        """Return the stored model; raise ModelDamagedError for bytes that are none, or one of an earlier format."""
        try:
            stored: Mapping[str, Any] = json.loads(payload)
            if stored["format"] != FORMAT:
                raise ValueError("another format")
            found = cls(
                labels=tuple(int(label) for label in stored["labels"]),
                weights=np.array(stored["weights"], dtype=np.float64),
                bias=np.array(stored["bias"], dtype=np.float64),
                centres=np.array(stored["centres"], dtype=np.float64),
                familiar=tuple(float(least) for least in stored["familiar"]),
                sure=float(stored["sure"]),
                n_documents=int(stored["n_documents"]),
            )
            if not found._is_whole():
                raise ValueError("numbers are missing")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelDamagedError("these bytes are no classifier") from error
        return found

    def _is_whole(self) -> bool:
        n_types = len(self.labels)
        shapes = (self.weights.shape, self.bias.shape, self.centres.shape, (len(self.familiar),))
        return n_types > 0 and shapes == ((n_types, N_FEATURES), (n_types,), (n_types, N_BUCKETS), (n_types,))


def _rounded(rows: Floats) -> list[list[float]]:
    return [[round(number, 5) for number in row] for row in rows.tolist()]


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
