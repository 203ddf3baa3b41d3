"""Documents that people have settled, with the candidates that were found on them: what a training learns from."""

from collections.abc import Mapping
from typing import Any

from review.models import (
    CandidateSet,
    Document,
    DocumentType,
    EngineVersion,
    ExtractionRun,
    FieldReview,
    Page,
    PageRead,
    Reading,
    Record,
    User,
)
from tests import factories

PLANS = {"/total": factories.FieldPlan(value="9.00")}


def candidate(value: str, number: int, **features: float) -> dict[str, Any]:
    """A stored candidate; another number stands elsewhere on the page."""
    return {
        "text": value,
        "value": value,
        "page_number": 1,
        "bbox": [0.1, number / 50, 0.4, (number + 1) / 50],
        "features": {"has_value": 1.0, **features},
        "score": 0.5,
    }


def candidates(right: str, n_wrong: int = 3) -> list[dict[str, Any]]:
    """Stored candidates of an amount: the prior cannot tell them apart, but the right one is the lowest on the page."""
    wrong = [candidate(f"{number + 1}.50", number, top=0.9 - number / 20) for number in range(n_wrong)]
    return [*wrong, candidate(right, n_wrong, top=0.1)]


def teach(
    document_type: DocumentType,
    reviewer: User,
    number: int,
    *,
    base: EngineVersion | None = None,
    value: str | None = None,
    stored: Mapping[str, list[dict[str, Any]]] | None = None,
    verdict: str = "confirmed",
    source: str = "person",
) -> Document:
    """A document whose total a person settled as `value`, read by `base`, with candidates for it."""
    right = f"{100 + number}.00" if value is None else value
    document = factories.make_routed(document_type, PLANS, is_selected=False)
    run = ExtractionRun.objects.get(document=document)
    if base is not None:
        run.engine_version = base
        run.save()
    CandidateSet.objects.create(run=run, payload=dict(stored or {"/total": candidates(right)}))
    record = Record.objects.create(
        project=document.project,
        document=document,
        revision=1,
        run=run,
        reviewer=reviewer,
        values={"/total": right or None},
        provenance={"/total": {"source": source, "verdict": verdict}},
    )
    task = factories.make_task(document, run)
    FieldReview.objects.create(
        task=task,
        document=document,
        field_path="/total",
        verdict=verdict,
        value=record.values["/total"],
        predicted_value="9.00",
        reviewer=reviewer,
        is_correct=True,
        is_in_sample=True,
        inclusion_probability=1.0,
        project=document.project,
        document_type=document_type,
        engine_version=run.engine_version,
        band="review",
    )
    return document


def with_reading(document: Document, words: list[list[Any]]) -> Document:
    """Give a document's first page a reading of these words."""
    run, page = ExtractionRun.objects.get(document=document), Page.objects.get(document=document)
    payload = {"width": 800, "height": 1600, "words": words, "cpu_seconds": 0.0, "quality": {}}
    reading = Reading.objects.create(
        project=document.project,
        engine_version=run.engine_version,
        content_hash=page.content_hash,
        payload=payload,
        cpu_seconds=0.0,
    )
    PageRead.objects.create(run=run, page=page, state="read", reading=reading)
    return document
