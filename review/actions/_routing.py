"""From a located document to rows: predictions, the decision, and the record or the task that follows from it."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from inference.types import FieldReading
from review.actions._records import store_record
from review.live.events import TaskEvent, publish
from review.models import (
    CandidateSet,
    Document,
    DocumentType,
    ExtractionRun,
    FieldDecision,
    FieldPrediction,
    PolicyState,
    Record,
    ReviewTask,
    RoutingDecision,
    RoutingPolicy,
)
from review.routing.bands import Band
from review.routing.decide import DocumentDecision
from review.routing.policy import PolicyRules


def ensure_active_policy(document_type: DocumentType) -> RoutingPolicy:
    """Return the active policy of a type; where there is none, the default rules become one."""
    policies = RoutingPolicy.objects.filter(document_type=document_type)
    policy = policies.filter(state=PolicyState.ACTIVE).first()
    if policy is not None:
        return policy
    last = policies.order_by("-number").values_list("number", flat=True).first() or 0
    try:
        with transaction.atomic():
            return RoutingPolicy.objects.create(
                document_type=document_type,
                number=last + 1,
                state=PolicyState.ACTIVE,
                rules=PolicyRules().as_json(),
                activated_at=timezone.now(),
            )
    except IntegrityError:
        # Another document of the type was routed at the same moment.
        return policies.get(state=PolicyState.ACTIVE)


def store_predictions(run: ExtractionRun, fields: Sequence[FieldReading]) -> None:
    """Keep what the run claims for each field, and the candidates among which it chose."""
    FieldPrediction.objects.bulk_create(
        FieldPrediction(
            run=run,
            field_path=reading.field_path,
            raw_text=reading.raw_text,
            value=reading.value,
            confidence=reading.confidence,
            evidence=dict(reading.evidence),
            findings=list(reading.findings),
            page_number=reading.page_number,
            bbox=list(reading.bbox) if reading.bbox is not None else None,
        )
        for reading in fields
    )
    candidates = {reading.field_path: reading.candidates_as_json() for reading in fields if reading.candidates}
    CandidateSet.objects.create(run=run, payload=candidates)


def store_decision(
    run: ExtractionRun, policy: RoutingPolicy, decision: DocumentDecision, *, is_asked: bool, interest: float | None
) -> RoutingDecision:
    """Keep the decision; `is_asked` false is a rerun that no person is asked about, whatever was drawn."""
    stored = RoutingDecision.objects.create(
        run=run,
        document_id=run.document_id,
        policy=policy,
        band=decision.band,
        is_selected=decision.is_selected and is_asked,
        is_full_examination=decision.is_full_examination and is_asked,
        reasons=[str(reason) for reason in decision.reasons],
        draw=decision.draws.audit,
        full_examination_draw=decision.draws.full_examination,
        interest=interest,
    )
    FieldDecision.objects.bulk_create(
        FieldDecision(
            decision=stored,
            field_path=field.field_path,
            band=field.band,
            reasons=[str(reason) for reason in field.reasons],
            inclusion_probability=field.inclusion_probability,
            is_to_examine=field.is_to_examine and is_asked,
        )
        for field in decision.fields
    )
    return stored


def create_task(document: Document, run: ExtractionRun) -> ReviewTask:
    """Ask a person to look at a routed document."""
    task = ReviewTask.objects.create(
        project_id=document.project_id,
        document_type_id=document.document_type_id,
        document=document,
        run=run,
        priority=document.priority,
    )
    publish(TaskEvent("review_task.created", document.project_id, task.pk, document.pk))
    return task


def store_model_record(
    document: Document,
    run: ExtractionRun,
    *,
    policy: RoutingPolicy,
    fields: Sequence[FieldReading],
    decision: DocumentDecision,
    confirmed: Record | None,
) -> Record:
    """Accept what was read. From a record that a person has confirmed, nothing is taken that the person touched.

    Nor does a doubtful value ever take the place of one that stands.
    """
    bands = {field.field_path: field.band for field in decision.fields}
    values: dict[str, Any] = {reading.field_path: reading.value for reading in fields}
    provenance: dict[str, Mapping[str, Any]] = {
        reading.field_path: {
            "source": "model",
            "engine_version": run.engine_version.digest,
            "policy": policy.number,
            "confidence": reading.confidence,
            "band": str(bands[reading.field_path]),
        }
        for reading in fields
    }
    if confirmed is not None:
        kept = _kept_families(confirmed, bands)
        values = {path: value for path, value in values.items() if family_of(path) not in kept}
        values |= {path: value for path, value in confirmed.values.items() if family_of(path) in kept}
        old = confirmed.provenance
        provenance = {path: old[path] if family_of(path) in kept else provenance[path] for path in values}
    return store_record(
        document,
        run=run,
        values=values,
        provenance=provenance,
        reviewer=confirmed.reviewer if confirmed is not None else None,
    )


def family_of(field_path: str) -> str:
    """Return the path of the repeated group that a field stands in, or its own: rows are kept or replaced together."""
    tokens = field_path.split("/")
    row = next((position for position, token in enumerate(tokens) if token.isdecimal()), len(tokens))
    return "/".join(tokens[:row])


def _kept_families(confirmed: Record, bands: Mapping[str, Band]) -> set[str]:
    by_person = {family_of(path) for path, source in confirmed.provenance.items() if source.get("source") == "person"}
    doubtful = {family_of(path) for path, band in bands.items() if band is Band.REVIEW}
    return by_person | (doubtful & {family_of(path) for path in confirmed.values})


def confirmed_record(document: Document) -> Record | None:
    """Return the document's record if a person has confirmed anything in it."""
    record = Record.objects.select_related("reviewer").filter(document=document, is_current=True).first()
    if record is None or not any(source.get("source") == "person" for source in record.provenance.values()):
        return None
    return record
