"""Examined values of a reader that promises too much, for whatever calibrates."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator

from review.models import Document, DocumentType, EngineVersion, ExtractionRun, FieldPrediction, FieldReview
from review.routing.calibration_split import is_for_calibration
from review.selectors.calibration import split_salt
from tests.review.targets_room import examine

CLAIMED = 0.9


def overconfident(document_type: DocumentType, n: int) -> None:
    """n examined totals, claimed with 0.9 and 0.6 in turns: of the first 6 in 10 are right, of the second 2 in 10.

    So it is among those that the draw leaves to calibrators, every third of each claim, and among the others: what is
    learned must not hang on the ids that the draw goes by.
    """
    plans = list(itertools.islice(_in_turns(), n))
    earlier = set(Document.objects.filter(document_type=document_type).values_list("pk", flat=True))
    examine(document_type, [(claim, is_right) for claim, _, is_right in plans])
    documents = Document.objects.filter(document_type=document_type).exclude(pk__in=earlier).order_by("pk")
    for document, (_, is_taught, _) in zip(documents, plans, strict=True):
        document.sha256 = _drawn(document, is_taught=is_taught)
    Document.objects.bulk_update(documents, ["sha256"])
    FieldPrediction.objects.filter(run__document__document_type=document_type).update(evidence={"ocr_score": 0.9})


def _in_turns() -> Iterator[tuple[float, bool, bool]]:
    """Yield claim, whether it is for calibrators, and whether it is right."""
    n_right = {CLAIMED: 3, 0.6: 1}
    seen: Counter[tuple[float, bool]] = Counter()
    for turn in itertools.count():
        for claim, n_of_five in n_right.items():
            is_taught = turn % 3 == 0
            yield claim, is_taught, seen[claim, is_taught] % 5 < n_of_five
            seen[claim, is_taught] += 1


def _drawn(document: Document, *, is_taught: bool) -> str:
    """A content that the draw puts on this side."""
    salt = split_salt(document.document_type_id)
    contents = (hashlib.sha256(f"{document.pk} {n}".encode()).hexdigest() for n in itertools.count())
    return next(one for one in contents if is_for_calibration(one, salt) == is_taught)


def to_learn_from(document_type: DocumentType) -> set[int]:
    """The documents that the draw leaves to calibrators."""
    salt = split_salt(document_type.pk)
    documents = Document.objects.filter(document_type=document_type)
    return {one.pk for one in documents if is_for_calibration(one.sha256, salt)}


def read_by(document_type: DocumentType, version: EngineVersion) -> None:
    """All of it was read by this version."""
    ExtractionRun.objects.filter(document__document_type=document_type).update(engine_version=version)
    FieldReview.objects.filter(document_type=document_type).update(engine_version=version)
