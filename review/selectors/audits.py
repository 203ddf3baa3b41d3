"""What the audits of a field have found, by the verdicts as they stand now: what a monitor is counted from anew."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from review.models import DocumentType, EngineVersion, FieldDecision, FieldReview, RoutingDecision, TaskKind
from review.routing.bands import Band
from review.routing.paths import column_path
from review.routing.reasons import Reason
from review.routing.thinning import ExaminedValue
from review.routing.what_if import RoutedField, is_decided_by_confidence

_COLUMNS = (
    "looked_at_in", "field_path", "confidence", "band", "inclusion_probability", "is_correct", "document__sha256",
    "reasons", "policy", "task__run__schema_version",
)  # fmt: skip


def is_audit(field: RoutedField) -> bool:
    """Whether a look at a value says something of those that are stored unseen: it would have been one of them."""
    return field.band is not Band.REVIEW and is_decided_by_confidence(field)


def is_held_for_certificate(field: RoutedField) -> bool:
    """Whether a value would have been stored had its target been certified for the version that read it."""
    return field.band is Band.REVIEW and set(field.reasons) == {Reason.NOT_CERTIFIED}


def audits_since(
    document_type: DocumentType,
    column: str,
    began_at: datetime,
    floors: Mapping[tuple[int, int], float],
    canary: EngineVersion | None = None,
) -> list[Sequence[ExaminedValue]]:
    """Return the audited values of one field, rows as `*`, by document, in the order in which each was first looked at.

    What an adjudication decided stands in the place of the first verdict: when somebody disagreed says something of
    what was found, and an order that did too would void the monitor. `floors` are the least chances by policy and
    schema version. Of a `canary` only what it read itself, also what would have been stored had it been certified. In
    one query.
    """
    decided = FieldDecision.objects.filter(decision__run=OuterRef("task__run"), field_path=OuterRef("field_path"))
    routed = RoutingDecision.objects.filter(run=OuterRef("task__run"))
    first = FieldReview.objects.filter(task=OuterRef("task__first_task"), field_path=OuterRef("field_path"))
    labels = FieldReview.objects.filter(
        Q(task__kind=TaskKind.REVIEW) | Q(task__kind=TaskKind.ADJUDICATION),
        document_type=document_type,
        is_in_sample=True,
        is_correct__isnull=False,
        confidence__isnull=False,
    ).annotate(
        looked_at_in=Coalesce("task__first_task", "task"),
        first_id=Coalesce(Subquery(first.values("pk")[:1]), "pk"),
        first_at=Coalesce(Subquery(first.values("created_at")[:1]), "created_at"),
        reasons=Subquery(decided.values("reasons")[:1]),
        policy=Subquery(routed.values("policy_id")[:1]),
    )
    if "*" not in column:
        labels = labels.filter(field_path=column)
    if canary is not None:
        labels = labels.filter(engine_version=canary)
    found: defaultdict[int, list[ExaminedValue]] = defaultdict(list)
    rows = labels.filter(first_at__gte=began_at).order_by("first_id").values_list(*_COLUMNS)
    for task_id, path, confidence, band, probability, is_correct, sha256, reasons, *routed_by in rows.iterator():
        field = RoutedField(path, confidence, Band(band), tuple(reasons or ()))
        is_held = canary is not None and is_held_for_certificate(field)
        policy_id, version_id = routed_by
        if column_path(path) == column and policy_id is not None and (is_held or is_audit(field)):
            # While values are held back people see all of them.
            floor = probability if is_held else min(floors[policy_id, version_id], probability)
            found[task_id].append(ExaminedValue(sha256, path, confidence, not is_correct, probability, floor))
    return list(found.values())
