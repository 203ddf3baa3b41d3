"""Two readings of one page at two scales: how far they agree, character by character (R7)."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from rapidfuzz.distance import Levenshtein

from inference.answers.leaves import leaves
from inference.types import DocumentTypeSpec

VOTE_ERROR_COST = 100.0
"""A field whose error costs so much is read twice without being marked: one wrong amount against a hundred words."""


def is_high_value(spec: DocumentTypeSpec) -> bool:
    """Whether a document type asks for a second reading: by a field marked so, or by what an error in one costs."""
    columns = [column for group in spec.groups for column in group.columns]
    return any(one.is_high_value or one.error_cost >= VOTE_ERROR_COST for one in [*spec.fields, *columns])


def vote(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, float]:
    """Map the path of each value that one of the readings has to their agreement there, 0-1.

    1 is the same text up to white space and width of characters; else the share of characters that an alignment leaves
    in place. A value that only one reading has agrees with nothing: 0. Rows are compared by their place.
    """
    texts = [{path: _plain(value) for path, value in leaves(dict(values))} for values in (first, second)]
    agreement = {}
    for path in dict.fromkeys([*texts[0], *texts[1]]):
        one, other = texts[0].get(path, ""), texts[1].get(path, "")
        if one or other:
            agreement[path] = Levenshtein.normalized_similarity(one, other)
    return agreement


def _plain(value: object) -> str:
    return "" if value is None else "".join(unicodedata.normalize("NFKC", str(value)).split())
