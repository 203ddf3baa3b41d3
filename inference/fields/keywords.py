"""Which of a field's keywords stand in a text, misread letters included."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

from inference.fields.normalise import clean_text, folded

FUZZY_LENGTH = 5
LOOSE_SCORE, LOOSE_SCORE_IF_LONG, STRICT_SCORE = 80.0, 86.0, 90.0
LONG = 8
WORD = re.compile(r"[^\W\d_]+")


class KeywordEvidence(NamedTuple):
    """Strength (0-1) of the best keyword for and against; the longer match silences the other."""

    for_it: float
    against_it: float


NO_EVIDENCE = KeywordEvidence(0.0, 0.0)


class KeywordIndex:
    """All keywords of a document type, looked up in many texts at once and remembered by text."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._keywords = sorted({keyword for keyword in keywords if folded(keyword)})
        self._position = {keyword: position for position, keyword in enumerate(self._keywords)}
        self._folded = [folded(keyword) for keyword in self._keywords]
        self._lengths = np.array([len(text) for text in self._folded], dtype=np.float64)
        is_fuzzy = [len(text) >= FUZZY_LENGTH and text.isascii() for text in self._folded]
        self._fuzzy = np.array(is_fuzzy, dtype=bool)
        self._fuzzy_folded = [text for text, fuzzy in zip(self._folded, is_fuzzy, strict=True) if fuzzy]
        self._exact = [position for position, fuzzy in enumerate(is_fuzzy) if not fuzzy]
        self._found: dict[str, npt.NDArray[np.float64]] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Look all keywords up in `texts` in one go."""
        new = [text for text in dict.fromkeys(texts) if text not in self._found]
        if not new or not self._keywords:
            return
        compact = [folded(text) for text in new]
        found = np.zeros((len(new), len(self._keywords)))
        if self._fuzzy_folded:
            scores = process.cdist(
                compact, self._fuzzy_folded, scorer=fuzz.partial_ratio, score_cutoff=LOOSE_SCORE, dtype=np.float32
            )
            found[:, self._fuzzy] = self._believable(scores, np.array([len(text) for text in compact])[:, None])
        for row, text in enumerate(new):
            words = {word.casefold() for word in WORD.findall(clean_text(text))}
            for position in self._exact:
                keyword = self._folded[position]
                is_there = keyword in words if keyword.isascii() else keyword in compact[row]
                found[row, position] = float(is_there)
        self._found.update(zip(new, found, strict=True))

    def _believable(
        self, scores: npt.NDArray[np.float32], text_lengths: npt.NDArray[np.int_]
    ) -> npt.NDArray[np.float64]:
        """Keep a loose match only where the keyword is most of the text: "Tutal :" yes, letters of an address no."""
        lengths = self._lengths[self._fuzzy]
        similarity = scores * np.minimum(text_lengths / lengths, 1.0)
        loose = np.where(lengths < LONG, LOOSE_SCORE, LOOSE_SCORE_IF_LONG)
        is_most = text_lengths <= 2 * lengths
        kept = (similarity >= STRICT_SCORE) | (is_most & (similarity >= loose))
        return np.where(kept, similarity / 100.0, 0.0)

    def positions(self, keywords: Sequence[str]) -> npt.NDArray[np.intp]:
        """Return the columns of `keywords`, for `evidence` and `strength`."""
        return np.array([self._position[keyword] for keyword in keywords if keyword in self._position], dtype=np.intp)

    def strength(self, text: str, positions: npt.NDArray[np.intp]) -> float:
        """Return how well the best of some keywords is found in `text`, 0-1."""
        return self._best(text, positions)[0]

    def _best(self, text: str, positions: npt.NDArray[np.intp]) -> tuple[float, float]:
        """Return (similarity, length) of the longest keyword that is found."""
        if not positions.size or not text:
            return 0.0, 0.0
        self.prepare((text,))
        scores = self._found[text][positions]
        reach = scores**3 * self._lengths[positions]
        best = int(reach.argmax())
        return float(scores[best]), float(reach[best])

    def evidence(self, text: str, for_it: npt.NDArray[np.intp], against_it: npt.NDArray[np.intp]) -> KeywordEvidence:
        """Weigh keywords for and against in one text: "total qty" against silences "total" for."""
        good, good_length = self._best(text, for_it)
        bad, bad_length = self._best(text, against_it)
        if bad_length > good_length:
            return KeywordEvidence(0.0, bad)
        return KeywordEvidence(good * specificity(good_length), 0.0)


def specificity(length: float) -> float:
    """Return how telling a keyword of that many characters is: "grand total" says more than "total"."""
    return 0.6 + 0.4 * min(length / 12.0, 1.0)
