"""How much an audit of a document would teach, from what routing knows of it and of the pages read before."""

from collections.abc import Sequence

from inference.types import FieldReading, hamming_distance
from review.models import ExtractionRun
from review.routing.directed import disagreement, doubt, interest, novelty
from review.selectors.interest import looks_of

_BITS = 64
_AGREEMENTS = ("readers_agree", "vote_agreement")
_SAME = 0.5


def interest_of(fields: Sequence[FieldReading], run: ExtractionRun) -> float:
    """Return the interest of a document, 0-1: doubt, disagreement of readers where two read it, novelty of its look."""
    kinds = {"doubt": doubt([reading.confidence for reading in fields if reading.value is not None])}
    compared = [
        ("one", "one" if reading.evidence[name] >= _SAME else "other")
        for reading in fields
        for name in _AGREEMENTS
        if name in reading.evidence
    ]
    if compared:
        kinds["disagreement"] = disagreement(compared)
    own, others = looks_of(run)
    if own:
        kinds["novelty"] = novelty(_similarity(own, others))
    return interest(kinds)


def _similarity(own: str, others: Sequence[str]) -> float | None:
    """Return how alike the look is to the nearest of the others, None where there is none: half is chance."""
    distances = [hamming_distance(own, other) for other in others]
    return max(0.0, 1 - 2 * min(distances) / _BITS) if distances else None
