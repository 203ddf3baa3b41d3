"""Counts of verdicts as roll-ups, without the verdicts."""

from review.models import AccuracyRollup, DocumentType
from tests import factories


def roll_up(document_type: DocumentType, path: str, n: int, n_correct: int, population: str = "unseen") -> None:
    AccuracyRollup.objects.create(
        project=document_type.project,
        document_type=document_type,
        engine_version=factories.make_engine_version(),
        field_path=path,
        population=population,
        bucket="0.90-0.95",
        n=n,
        n_correct=n_correct,
        sum_w=n,
        sum_wy=n_correct,
        sum_w2=n,
        sum_w2y=n_correct,
    )
