"""Targets of a document type: which are set, what stands examined to certify thresholds, and what is stopped."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    BigIntegerField,
    BooleanField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce

from review.exceptions import NotFoundError
from review.models import (
    DocumentType,
    EngineVersion,
    FieldCertificate,
    FieldDecision,
    FieldMonitor,
    FieldReview,
    FieldTarget,
    PolicyState,
    Project,
    Rollout,
    RolloutStage,
    RoutingDecision,
)
from review.routing.audit_floor import least_share
from review.routing.bands import Band
from review.routing.calibration_split import is_for_calibration
from review.routing.paths import column_path
from review.routing.policy import PolicyRules
from review.routing.reasons import HOLDS
from review.routing.thinning import ExaminedValue
from review.routing.what_if import RoutedField, is_decided_by_confidence
from review.selectors.calibration import (
    calibrators_of,
    split_salt,
    what_the_reader_said,
    with_claims,
    with_evidence_of,
)
from review.selectors.engines import evidence_version
from review.selectors.schemas import required_paths, spec_of
from review.selectors.what_if import MAX_ROWS, routed_documents

_COLUMNS = (
    "field_path", "confidence", "band", "inclusion_probability", "is_correct", "document__sha256", "reasons", "policy",
    "task__run__schema_version", "evidence",
)  # fmt: skip


_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class ExaminedField:
    """What speaks for a threshold of one field: examined values, and the confidences of all that were routed lately.

    Both hold only values that confidence alone decided, read by one engine version.
    """

    values: tuple[ExaminedValue, ...] = ()
    frame: tuple[float, ...] = ()

    def digest(self, most_per_document: int) -> str:
        """Return the SHA-256 of the examined values, whatever their order, and of how many of a document count.

        Another number makes other trials of the same labels: to ask these is to ask anew.
        """
        lines = sorted(f"{one.document} {one.field_path} {one.confidence!r} {one.is_wrong}" for one in self.values)
        return hashlib.sha256("\n".join([str(most_per_document), *lines]).encode()).hexdigest()


def targets_for(document_type: DocumentType) -> QuerySet[FieldTarget]:
    """Return the targets in force of a type, by field."""
    return document_type.targets.select_related("set_by").filter(is_active=True).order_by("field_path")


def access_target(document_type: DocumentType, field_path: str) -> FieldTarget:
    """Return the target in force of one field; raise NotFoundError."""
    target = targets_for(document_type).select_related("document_type").filter(field_path=field_path).first()
    if target is None:
        raise NotFoundError
    return target


def monitors_for(document_type: DocumentType) -> QuerySet[FieldMonitor]:
    """Return the monitors that watch now, by field."""
    return (
        document_type.monitors.select_related("policy", "engine_version").filter(ended_at=None).order_by("field_path")
    )


def tripped_monitors() -> QuerySet[FieldMonitor]:
    """Return the monitors that have stopped a field, in whatever project."""
    return FieldMonitor.objects.filter(ended_at=None, tripped_at__isnull=False)


def stopped_in(project: Project) -> QuerySet[FieldMonitor]:
    """Return the monitors that have stopped a field of a project's documents, with what names the field."""
    tripped = tripped_monitors().select_related("document_type__active_version")
    return tripped.filter(document_type__project=project).order_by("id")


def access_stopped(document_type: DocumentType, field_path: str) -> FieldMonitor:
    """Return the monitor that has stopped a field; raise NotFoundError where the field is not stopped."""
    monitor = _stopped(document_type).select_related("document_type").filter(field_path=field_path).first()
    if monitor is None:
        raise NotFoundError
    return monitor


def stopped_paths(document_type: DocumentType) -> frozenset[str]:
    """Return the fields of a type that a monitor has stopped, rows as `*`."""
    return frozenset(_stopped(document_type).values_list("field_path", flat=True))


def uncertified_paths(document_type: DocumentType, engine_version_id: int, rules: PolicyRules) -> frozenset[str]:
    """Return the fields with a target that went by a certificate once, and have none for this engine version.

    Rows as `*`. A certificate speaks of the confidences of exactly one version: another calibrator, or none, says other
    numbers of the same evidence. It holds for limits that are at least as strict, and for a target that asks no more
    than was certified. A field that never went by one (no policy with a certificate of it was ever in force) is none of
    them: its limits were set by hand, and its target only watches. So a draft changes nothing.
    """
    target = FieldTarget.objects.filter(document_type=document_type, field_path=OuterRef("field_path"), is_active=True)
    known = FieldCertificate.objects.filter(document_type=document_type).annotate(
        asked_share=Subquery(target.values("wrong_share")[:1]),
        asked_confidence=Subquery(target.values("confidence")[:1]),
        asked_at=Subquery(target.values("set_at")[:1]),
    )
    is_enough = _is_enough_for(F("asked_share"), F("asked_confidence"), F("asked_at"))
    known = known.filter(asked_share__isnull=False).annotate(is_enough=ExpressionWrapper(is_enough, BooleanField()))
    bound, certified = set(), set()
    columns = ("field_path", "engine_version", "threshold", "policy__activated_at", "is_enough")
    for path, version_id, threshold, activated_at, is_enough_for_it in known.values_list(*columns):
        if activated_at is not None:
            bound.add(path)
        # A limit that went through a form has lost its last digits.
        if version_id == engine_version_id and threshold is not None and is_enough_for_it:
            certified |= {path} if rules.thresholds_for(path).review >= threshold - _ROUNDED else set()
    return frozenset(bound - certified)


def _is_enough_for(wrong_share: F, confidence: F, set_at: F) -> Q:
    """Return the condition on certificates that they keep a target, whose columns are given.

    What the policy in force was certified for goes on where its target was changed since: until the next draft.
    """
    is_kept = Q(target__lte=wrong_share, confidence__gte=confidence)
    return is_kept | Q(policy__state=PolicyState.ACTIVE, policy__activated_at__lte=set_at)


def targets_left_behind() -> QuerySet[FieldTarget]:
    """Return the targets that are certified of an earlier version than the one that is live, in whatever project.

    Of a type of which no version is live or declared it cannot be told without looking at what was read.
    """
    live = Rollout.objects.filter(document_type=OuterRef("document_type"), stage=RolloutStage.LIVE)
    reads = Coalesce(
        Subquery(live.values("engine_version")[:1]),
        F("document_type__project__engine_version"),
        output_field=BigIntegerField(),
    )
    own = FieldCertificate.objects.filter(document_type=OuterRef("document_type"), field_path=OuterRef("field_path"))
    of_reader = own.filter(
        _is_enough_for(OuterRef("wrong_share"), OuterRef("confidence"), OuterRef("set_at")),
        engine_version=OuterRef("reads"),
        threshold__isnull=False,
    )
    active = FieldTarget.objects.filter(is_active=True).annotate(reads=reads)
    once = own.filter(policy__activated_at__isnull=False, threshold__isnull=False)
    return active.filter(Exists(once), reads__isnull=False).exclude(Exists(of_reader))


def left_behind_in(project: Project) -> QuerySet[FieldTarget]:
    """Return those of a project, with what names the field."""
    found = targets_left_behind().select_related("document_type__active_version")
    return found.filter(document_type__project=project).order_by("id")


def _stopped(document_type: DocumentType) -> QuerySet[FieldMonitor]:
    return tripped_monitors().filter(document_type=document_type)


def newest_certificates(document_type: DocumentType) -> Mapping[str, FieldCertificate]:
    """Return the newest certificate of each field of a type."""
    of_field = FieldCertificate.objects.filter(document_type=document_type, field_path=OuterRef("field_path"))
    newest = Subquery(of_field.order_by("-id").values("pk")[:1])
    found = FieldCertificate.objects.select_related("policy", "engine_version")
    return {one.field_path: one for one in found.filter(document_type=document_type, pk=newest)}


def look_at(document_type: DocumentType, field_path: str, engine: EngineVersion, digest: str, target: float) -> int:
    """Return which attempt it would be to certify the field on these labels.

    Asking the same again is no new look, and an attempt that could not have passed was none.
    """
    looks = FieldCertificate.objects.filter(
        document_type=document_type, field_path=field_path, engine_version=engine
    ).order_by("-look", "-id")
    last = looks.first()
    if last is None:
        return 1
    is_same = (last.examined_digest, last.target) == (digest, target)
    return last.look if is_same or not last.could_pass else last.look + 1


def examined_fields(document_type: DocumentType) -> tuple[EngineVersion | None, Mapping[str, ExaminedField]]:
    """Return the engine version that reads now and, by field, what was examined of what it read.

    The newest 20,000 examined values and the documents of the last 30 days; of a value that was examined twice the
    newer label counts.
    """
    routed = routed_documents(document_type)
    if routed.engine is None:
        return None, {}
    values: defaultdict[str, dict[tuple[str, str], ExaminedValue]] = defaultdict(dict)
    for value in _examined_values(document_type, routed.engine):
        values[column_path(value.field_path)].setdefault((value.document, value.field_path), value)
    frames: defaultdict[str, list[float]] = defaultdict(list)
    for fields in routed.documents:
        for field in fields:
            if is_decided_by_confidence(field) and field.confidence is not None:
                frames[column_path(field.field_path)].append(field.confidence)
    return routed.engine, {
        path: ExaminedField(tuple(values[path].values()), tuple(frames[path])) for path in {*values, *frames}
    }


def least_shares(document_type: DocumentType) -> Mapping[tuple[int, int], float]:
    """Return the least chance of a look that a policy left a value, by policy and by the document's schema version.

    Which fields decide about a document is said by the version that it was read by, not by the one in force now.
    """
    rules = {pk: PolicyRules.from_json(data) for pk, data in document_type.policies.values_list("pk", "rules")}
    required = {one.pk: required_paths(spec_of(one)) for one in document_type.schema_versions.all()}
    return {(policy, one): least_share(rules[policy], required[one]) for policy in rules for one in required}


def _examined_values(document_type: DocumentType, engine: EngineVersion) -> list[ExaminedValue]:
    """Return the values with the confidence that the engine version gives them now.

    A calibrator learned from a part of the documents: those cannot certify what it says. What was examined before it
    came counts all the same, by what it says of the evidence that was kept.
    """
    floors, maps = least_shares(document_type), calibrators_of(engine)
    salt = split_salt(document_type.pk)
    found = []
    for path, confidence, band, probability, is_correct, sha256, reasons, policy_id, version_id, evidence in _rows(
        document_type, engine
    ):
        field = RoutedField(path, confidence, Band(band), tuple(reasons or ()))
        is_taught = bool(maps) and is_for_calibration(sha256, salt)
        if policy_id is None or is_taught or not is_decided_by_confidence(field):
            continue
        said, seen = what_the_reader_said(confidence, evidence)
        of_field = maps.get(column_path(path))
        found.append(
            ExaminedValue(
                document=sha256,
                field_path=path,
                confidence=said if of_field is None else of_field.probability(said, seen),
                is_wrong=not is_correct,
                inclusion_probability=probability,
                # While a field is held back people see all of its values: none had a lesser chance on such a day.
                floor=probability if HOLDS & set(field.reasons) else min(floors[policy_id, version_id], probability),
            )
        )
    return found


def _rows(document_type: DocumentType, engine: EngineVersion) -> list[tuple[Any, ...]]:
    decided = FieldDecision.objects.filter(decision__run=OuterRef("task__run"), field_path=OuterRef("field_path"))
    routed = RoutingDecision.objects.filter(run=OuterRef("task__run"))
    labels = FieldReview.objects.filter(
        document_type=document_type,
        engine_version__in=with_evidence_of(evidence_version(engine)),
        is_in_sample=True,
        is_correct__isnull=False,
        confidence__isnull=False,
    )
    labels = with_claims(labels).annotate(
        reasons=Subquery(decided.values("reasons")[:1]), policy=Subquery(routed.values("policy_id")[:1])
    )
    return list(labels.order_by("-id").values_list(*_COLUMNS)[:MAX_ROWS])
