"""From a document's page readings to its fields, whoever read the pages (R5)."""

from collections.abc import Sequence

from inference.fields import answered, locate
from inference.fields.prior import Scorer
from inference.types import DocumentTypeSpec, FieldReading, PageReading


def extract(
    readings: Sequence[PageReading], spec: DocumentTypeSpec, scorer: Scorer | None = None
) -> tuple[FieldReading, ...]:
    """Return every field of a document: from a language model's answers where there are any, else from the words.

    `scorer` judges the candidates among the words; without one the prior does.
    """
    if any(reading.answer is not None for reading in readings):
        return answered.read_fields(readings, spec, scorer)
    return locate.locate(readings, spec, scorer)
