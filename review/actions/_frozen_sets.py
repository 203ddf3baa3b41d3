"""What a version of a regression set is frozen under."""

import hashlib
import json
from collections.abc import Sequence

from review.models import DocumentType, RegressionItem


def digest_of(document_type: DocumentType, items: Sequence[RegressionItem]) -> str:
    """Return the SHA-256 of a set's documents and their truth; `items` in the order of their names."""
    contents = [document_type.slug, [[item.name, item.sha256, item.truth] for item in items]]
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
