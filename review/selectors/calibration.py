"""What a calibrator learns from, and what it says of values that were examined before it came."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from review.accuracy.calibration import LabelledField
from review.accuracy.calibrators import Calibrator, calibrator_from_json
from review.models import DocumentType, EngineVersion, FieldPrediction, FieldReview, ModelKind, TrainingRun
from review.routing.calibration_split import is_for_calibration
from review.routing.paths import column_path
from review.selectors.engines import evidence_version
from review.selectors.held_out import shut_out_ids
from review.selectors.rollouts import champion_of

READER_CONFIDENCE = "reader_confidence"
"""Under this name the evidence of a calibrated value keeps what the reader itself had said."""
NEWEST = 20_000
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class LabelsToCalibrate:
    """The ids of the labels that a calibrator learns from, and how many were left out, by reason."""

    label_ids: tuple[int, ...]
    left_out: Mapping[str, int]


def split_salt(document_type_id: int) -> str:
    """Return what names a document type in the draw that divides its documents."""
    return f"type {document_type_id}"


def evidence_to_calibrate(document_type: DocumentType) -> EngineVersion | None:
    """Return the version that reads a type without its calibrator, None where nothing was read yet."""
    champion = champion_of(document_type)
    return evidence_version(champion) if champion is not None else None


def with_evidence_of(evidence: EngineVersion) -> QuerySet[EngineVersion]:
    """Return all versions that see the same evidence: `evidence` itself, and it with any calibrator."""
    base = evidence.base_id or evidence.pk
    calibrated = Q(base=base, locator=evidence.locator_id, calibrator__isnull=False)
    return EngineVersion.objects.filter(Q(pk=evidence.pk) | calibrated)


def types_to_calibrate(at_least: int) -> Iterator[DocumentType]:
    """Yield the types of which so many values were examined since a calibrator was last trained on this evidence.

    The evidence is that of the version that reads now: once a new locator is live, or another reader, what was examined
    before says nothing of it, and counting begins anew.
    """
    newest: dict[tuple[int | None, int | None], int] = {}
    runs = TrainingRun.objects.filter(kind=ModelKind.CALIBRATOR)
    for type_id, base_id, up_to in runs.order_by("pk").values_list("document_type", "base", "snapshot__labels_up_to"):
        newest[type_id, base_id] = up_to or 0
    for document_type in DocumentType.objects.filter(active_version__isnull=False).select_related("project"):
        evidence = evidence_to_calibrate(document_type)
        if evidence is not None:
            labels = _that_may_teach(document_type, evidence)
            # No more rows are looked at than decide it.
            if labels.filter(pk__gt=newest.get((document_type.pk, evidence.pk), 0))[:at_least].count() >= at_least:
                yield document_type


def labels_to_calibrate(document_type: DocumentType, evidence: EngineVersion, up_to: int) -> LabelsToCalibrate:
    """Return the newest labels of a type, up to an id, whose evidence is that of a version and that may teach.

    Left out are documents that are held out, and those that are left to certify thresholds.
    """
    labels = _that_may_teach(document_type, evidence).filter(pk__lte=up_to)
    rows = list(labels.order_by("-pk").values_list("pk", "document_id", "document__sha256")[:NEWEST])
    shut_out = shut_out_ids(document_type.project, {document_id for _pk, document_id, _sha in rows})
    salt = split_salt(document_type.pk)
    allowed = [row for row in rows if row[1] not in shut_out]
    kept = [pk for pk, _document_id, sha256 in allowed if is_for_calibration(sha256, salt)]
    left_out = {"held_out": len(rows) - len(allowed), "for_certificates": len(allowed) - len(kept)}
    return LabelsToCalibrate(tuple(sorted(kept)), left_out)


def _that_may_teach(document_type: DocumentType, evidence: EngineVersion) -> QuerySet[FieldReview]:
    return FieldReview.objects.filter(
        document_type=document_type,
        engine_version__in=with_evidence_of(evidence),
        is_in_sample=True,
        is_correct__isnull=False,
        confidence__isnull=False,
    )


def labelled_fields(label_ids: Sequence[int]) -> Iterator[LabelledField]:
    """Yield the labels of a settled snapshot with what the reader claimed, each standing for 1/pi values."""
    for start in range(0, len(label_ids), _AT_ONCE):
        rows = with_claims(FieldReview.objects.filter(pk__in=label_ids[start : start + _AT_ONCE])).order_by("pk")
        columns = ("field_path", "document__sha256", "confidence", "evidence", "is_correct", "inclusion_probability")
        for path, sha256, confidence, evidence, is_correct, probability in rows.values_list(*columns):
            said, seen = what_the_reader_said(confidence, evidence)
            yield LabelledField(sha256, column_path(path), said, seen, bool(is_correct), 1 / probability)


def with_claims(labels: QuerySet[FieldReview]) -> QuerySet[FieldReview]:
    """Return labels with the evidence of the claim that each is about."""
    claim = FieldPrediction.objects.filter(run=OuterRef("task__run"), field_path=OuterRef("field_path"))
    return labels.annotate(evidence=Subquery(claim.values("evidence")[:1]))


def what_the_reader_said(confidence: float, evidence: Mapping[str, Any] | None) -> tuple[float, dict[str, float]]:
    """Return the reader's own confidence and the numbers behind it, whether or not a calibrator spoke after it."""
    numbers = {
        name: float(value)
        for name, value in (evidence or {}).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return numbers.pop(READER_CONFIDENCE, confidence), numbers


def calibrators_of(version: EngineVersion, evidence: EngineVersion | None = None) -> Mapping[str, Calibrator]:
    """Return the maps of a calibrated version by field, rows as `*`; none of one that is not calibrated.

    `evidence`, its `evidence_version`, spares a query where it is at hand.
    """
    if version.calibrator is None:
        return {}
    digest = (evidence or evidence_version(version)).digest
    stored = json.loads(bytes(version.calibrator.payload))
    return {
        path: calibrator_from_json(data["calibrator"])
        for path, data in stored.items()
        if data["engine_version"] == digest
    }


def calibrated_paths(version: EngineVersion | None, evidence: EngineVersion | None = None) -> Collection[str]:
    """Return the fields, rows as `*`, of which a version's confidence is calibrated; `evidence`: `calibrators_of`."""
    return calibrators_of(version, evidence).keys() if version is not None else ()
