"""Examined values of a reader that promises too much, for whatever calibrates."""

import random

from review.models import Document, DocumentType, EngineVersion, ExtractionRun, FieldPrediction, FieldReview
from review.routing.calibration_split import is_for_calibration
from review.selectors.calibration import split_salt
from tests.review.targets_room import examine

CLAIMED = 0.9


def overconfident(document_type: DocumentType, n: int, *, seed: int = 3) -> None:
    """n examined totals, each claimed with 0.9 or 0.6: of the first 6 in 10 are right, of the second 2 in 10."""
    generator = random.Random(seed)
    claims = [CLAIMED if generator.random() < 0.5 else 0.6 for _ in range(n)]
    examine(document_type, [(claim, generator.random() < (0.6 if claim == CLAIMED else 0.2)) for claim in claims])
    FieldPrediction.objects.filter(run__document__document_type=document_type).update(evidence={"ocr_score": 0.9})


def to_learn_from(document_type: DocumentType) -> set[int]:
    """The documents that the draw leaves to calibrators."""
    salt = split_salt(document_type.pk)
    documents = Document.objects.filter(document_type=document_type)
    return {one.pk for one in documents if is_for_calibration(one.sha256, salt)}


def read_by(document_type: DocumentType, version: EngineVersion) -> None:
    """All of it was read by this version."""
    ExtractionRun.objects.filter(document__document_type=document_type).update(engine_version=version)
    FieldReview.objects.filter(document_type=document_type).update(engine_version=version)
