"""What the tests of roll-outs share: a reader, one that learned nothing new, one that learned the wrong thing."""

from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.db import transaction

from inference.fields.learned import PRIOR
from review.actions._compositions import ensure_composed_version
from review.actions.intake import receive_document
from review.actions.regression_sets import LabelledFile, import_regression_set
from review.models import Document, DocumentType, EngineVersion, RegressionSet, Rollout, RolloutStage, ShadowRead
from review.selectors.access import SYSTEM
from review.tasks_evaluation import installed_version
from tests.conftest import Cast
from tests.review.conftest import picture
from tests.review.queueing import work_off
from tests.review.scripted import WORDS
from tests.review.trained import make_locator

TWO_AMOUNTS = [*WORDS, ["Cash", 0.1, 0.7, 0.3, 0.73, 0.99], ["10.00", 0.7, 0.7, 0.8, 0.73, 0.99]]
"""The receipt of WORDS, whose total is 9.00, with another amount below it."""


def champion() -> EngineVersion:
    """The scripted engine as it reads now."""
    return installed_version("scripted")


def as_good(cast: Cast, weight: float = 1.0) -> EngineVersion:
    """A version that learned to choose as the champion chooses; another weight above 0, another version."""
    return _learned(cast, weight)


def worse(cast: Cast) -> EngineVersion:
    """A version that learned to choose for the total what the champion thinks least of."""
    return _learned(cast, -1.0)


def _learned(cast: Cast, weight: float) -> EngineVersion:
    return a_learned_version(cast.document_type, champion(), weight)


def a_learned_version(document_type: DocumentType, base: EngineVersion, weight: float) -> EngineVersion:
    """A version of a type that scores totals by so many times the prior's score."""
    with transaction.atomic():
        return ensure_composed_version(base, make_locator(document_type, {"/total": {PRIOR: weight}}))


def freeze(cast: Cast, folder: Path, n: int = 2, name: str = "test") -> RegressionSet:
    """A regression set of so many receipts that the champion reads rightly."""
    folder.mkdir(exist_ok=True)
    files = []
    for number in range(n):
        path = folder / f"{name}{number}.jpg"
        path.write_bytes(picture(f"{name} {number}"))
        files.append(LabelledFile(path.name, path, {"/total": "9.00", "/date": "25/12/2018"}))
    return import_regression_set(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, name=name, files=files
    ).regression_set


def send(cast: Cast, text: str = "a receipt", **how: Any) -> Document:
    """Send a receipt and do all work that is waiting."""
    document = receive_document(
        actor=SYSTEM,
        project=cast.project,
        document_type=cast.document_type,
        file=ContentFile(picture(text, **how)),
        filename=f"{text}.jpg",
    ).document
    work_off()
    return Document.objects.get(pk=document.pk)


def rolled_out(
    cast: Cast, version: EngineVersion, stage: RolloutStage = RolloutStage.SHADOW, **shares: float
) -> Rollout:
    """A roll-out in that stage, without the way that leads there; by default every document is drawn for everything."""
    given = {"shadow_share": 1.0, "disagreement_share": 1.0, "canary_share": 1.0} | shares
    return Rollout.objects.create(
        document_type=cast.document_type, engine_version=version, stage=stage, salt="salt", **given
    )


def waiting(cast: Cast, version: EngineVersion, **how: Any) -> ShadowRead:
    """A document that the champion has read, and that the version is to read in its shadow."""
    document = send(cast, **how)
    return ShadowRead.objects.create(
        rollout=rolled_out(cast, version), document=document, champion_run=document.runs.get(is_current=True)
    )
