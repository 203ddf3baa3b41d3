"""The audits of stored values, shown to the monitors of their fields one document at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils import timezone

from review.actions._audit import record_audit
from review.live.events import MonitorEvent, MonitorEventName, publish
from review.models import DocumentType, FieldMonitor, FieldReview, FieldTarget, Rollout, RolloutStage
from review.routing.audit_floor import least_share
from review.routing.bands import Band
from review.routing.monitor import Monitor, watch
from review.routing.paths import column_path
from review.routing.policy import PolicyRules
from review.routing.thinning import ExaminedValue
from review.routing.what_if import RoutedField
from review.selectors.access import SYSTEM, Actor
from review.selectors.audits import audits_since, is_audit, is_held_for_certificate
from review.selectors.review_tasks import TaskDetail
from review.selectors.schemas import required_paths
from review.selectors.targets import least_shares


def begin_monitor(target: FieldTarget) -> FieldMonitor:
    """Begin to watch a field against its target, within the caller's transaction."""
    monitor = Monitor(target=target.wrong_share, most_per_document=target.most_per_document)
    return FieldMonitor.objects.create(
        document_type=target.document_type, field_path=target.field_path, state=monitor.as_json()
    )


def record_monitor(actor: Actor, name: MonitorEventName, row: FieldMonitor, document_type: DocumentType) -> None:
    """Write down that a field was stopped or turned on again, and tell open pages."""
    detail = {"field_path": row.field_path, "n_documents": row.state["n_documents"], "n_wrong": row.state["n_wrong"]}
    record_audit(actor, name, row, project=document_type.project_id, detail=detail)
    n_documents = int(row.state["n_documents"])
    publish(MonitorEvent(name, document_type.project_id, document_type.slug, row.field_path, n_documents))


def watch_labels(detail: TaskDetail, sha256: str, labels: Sequence[FieldReview]) -> None:
    """Let the monitors of a document type see the labels of one document, within the transaction that makes them.

    Whoever makes the labels of a document makes them once, so each monitor sees a document once, however often a
    submit is sent and whenever a process is killed. The rows are locked one after the other by id: monitors are sums,
    and two documents at the same moment must both be in them.
    """
    if detail.decision is None:
        return
    rows = FieldMonitor.objects.select_for_update(no_key=True, of=("self",)).filter(
        document_type_id=detail.task.document_type_id, ended_at=None
    )
    watched = {row.field_path: row for row in rows.order_by("id")}
    if not watched:
        return
    for path, values in _stored_values(detail, sha256, labels).items():
        if path in watched:
            _watch(watched[path], values, detail)
    of_canary = _stored_values(detail, sha256, labels, is_canary=True)
    known = {path: values for path, values in of_canary.items() if path in watched}
    if known:
        _watch_canary(watched, known, detail)


def _watch_canary(
    watched: Mapping[str, FieldMonitor], stored: Mapping[str, Sequence[ExaminedValue]], detail: TaskDetail
) -> None:
    """Let the monitors of a canary see what it read itself: among all documents its errors would hardly show.

    They begin with the targets of the fields, and count what would have been stored had it been certified: a canary
    has no certificate yet. One that trips is rolled back (`tripped_rollouts`); the field goes on.
    """
    canary = _canary_of(detail)
    if canary is None:
        return
    for path, values in stored.items():
        canary.monitors[path] = watch(_of_canary(canary, watched[path]), [values]).as_json()
    canary.save(update_fields=["monitors"])


def _canary_of(detail: TaskDetail) -> Rollout | None:
    """Return the canary that read a document, locked; None where none did."""
    canaries = Rollout.objects.select_for_update(no_key=True, of=("self",)).select_related("engine_version")
    return canaries.filter(
        document_type_id=detail.task.document_type_id,
        stage=RolloutStage.CANARY,
        engine_version_id=detail.run.engine_version_id,
    ).first()


def _of_canary(canary: Rollout, row: FieldMonitor) -> Monitor:
    """Return a canary's own monitor of a field; one that begins where it has none with the field's target."""
    of_field = Monitor.from_json(row.state)
    new = Monitor(target=of_field.target, most_per_document=of_field.most_per_document)
    known = Monitor.from_json(canary.monitors[row.field_path]) if row.field_path in canary.monitors else new
    is_same_target = (known.target, known.most_per_document) == (new.target, new.most_per_document)
    return known if is_same_target else new


def recount(detail: TaskDetail, field_paths: Iterable[str]) -> None:
    """Count the monitors of fields anew whose first verdicts an adjudication has replaced, within its transaction.

    All audits since a monitor began are gone through again in the order of their first look, by the verdicts as they
    stand now: the state is that which it would have come to had the first reviewer said so. What has tripped stays so.
    """
    document_type = detail.task.document_type
    columns = {column_path(path) for path in field_paths}
    rows = FieldMonitor.objects.select_for_update(no_key=True, of=("self",)).filter(
        document_type=document_type, ended_at=None, field_path__in=columns
    )
    floors = least_shares(document_type) if columns else {}
    counted = list(rows.order_by("id"))
    for row in counted:
        audits = audits_since(document_type, row.field_path, row.began_at, floors)
        _keep(row, _anew(Monitor.from_json(row.state), audits), detail)
    canary = _canary_of(detail) if counted else None
    if canary is not None:
        for row in counted:
            since = max(row.began_at, canary.stage_since)
            audits = audits_since(document_type, row.field_path, since, floors, canary.engine_version)
            canary.monitors[row.field_path] = _anew(_of_canary(canary, row), audits).as_json()
        canary.save(update_fields=["monitors"])


def _anew(old: Monitor, audits: Iterable[Sequence[ExaminedValue]]) -> Monitor:
    counted = watch(replace(old, log_wealth=None, n_documents=0, n_wrong=0, tripped_at=None), audits)
    return counted if old.tripped_at is None else replace(counted, tripped_at=old.tripped_at)


def _watch(row: FieldMonitor, values: Sequence[ExaminedValue], detail: TaskDetail) -> None:
    _keep(row, watch(Monitor.from_json(row.state), [values]), detail)


def _keep(row: FieldMonitor, monitor: Monitor, detail: TaskDetail) -> None:
    row.state = monitor.as_json()
    changed = ["state"]
    is_new = monitor.is_tripped and row.tripped_at is None
    if is_new and detail.decision is not None:
        row.tripped_at = timezone.now()
        row.policy, row.engine_version = detail.decision.policy, detail.run.engine_version
        changed += ["tripped_at", "policy", "engine_version"]
    row.save(update_fields=changed)
    if is_new:
        # The reviewer's answer was the last drop, not their act.
        record_monitor(SYSTEM, "field_monitor.tripped", row, detail.task.document_type)


def _stored_values(
    detail: TaskDetail, sha256: str, labels: Sequence[FieldReview], *, is_canary: bool = False
) -> Mapping[str, list[ExaminedValue]]:
    """Return, by column, the values that would have been stored unseen had nobody been asked to look.

    Of a canary also those that only wait for its certificate.
    """
    by_column: defaultdict[str, list[ExaminedValue]] = defaultdict(list)
    for value in _audited(detail, sha256, labels, is_canary=is_canary):
        by_column[column_path(value.field_path)].append(value)
    return by_column


def _audited(
    detail: TaskDetail, sha256: str, labels: Sequence[FieldReview], *, is_canary: bool
) -> Iterator[ExaminedValue]:
    if detail.decision is None:
        return
    floor = least_share(PolicyRules.from_json(detail.decision.policy.rules), required_paths(detail.spec))
    for label in labels:
        field = detail.field_at(label.field_path)
        if field is None or field.decision is None or not label.is_in_sample or label.is_correct is None:
            continue
        routed = RoutedField(label.field_path, label.confidence, Band(label.band), tuple(field.decision.reasons))
        is_held = is_canary and is_held_for_certificate(routed)
        if not (is_held or is_audit(routed)) or label.confidence is None:
            continue
        yield ExaminedValue(
            document=sha256,
            field_path=label.field_path,
            confidence=label.confidence,
            is_wrong=not label.is_correct,
            inclusion_probability=label.inclusion_probability,
            floor=label.inclusion_probability if is_held else min(floor, label.inclusion_probability),
        )
