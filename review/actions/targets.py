"""What a manager promises per field, the policy that keeps it, and a field that is turned on again."""

from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._monitors import begin_monitor, record_monitor
from review.actions._policies import create_draft, record_policy
from review.exceptions import ConflictError, InvalidInputError, NotFoundError
from review.live.events import TargetEvent, TargetEventName, publish
from review.models import DocumentType, EngineVersion, FieldCertificate, FieldMonitor, FieldTarget, RoutingPolicy
from review.routing.policy import PolicyRules
from review.routing.targets import Certificate, Target, certify
from review.selectors.access import Actor
from review.selectors.document_types import active_policy
from review.selectors.schemas import column_paths, spec_of
from review.selectors.targets import ExaminedField, examined_fields, look_at, targets_for

LARGEST_SHARE = 0.5
MOST_OF_A_TABLE = 10
"""How many rows of a table's column count in full where nobody says otherwise."""
_MOST = 32_000


def set_target(
    *,
    actor: Actor,
    document_type: DocumentType,
    field_path: str,
    wrong_share: float,
    confidence: float = 0.95,
    most_per_document: int | None = None,
) -> FieldTarget:
    """Promise for a field, rows as `*`: at most `wrong_share` wrong among values stored unseen, at that confidence.

    Its audits are watched from now on. A target that changes is watched anew, unless the field is stopped: that ends
    only when it is turned on again. Setting the same twice changes nothing. Raise InvalidInputError with every problem.
    """
    most = most_per_document
    if most is None:
        most = MOST_OF_A_TABLE if "*" in field_path else 1
    _check(document_type, field_path, wrong_share, confidence, most)
    values = {"wrong_share": wrong_share, "confidence": confidence, "most_per_document": most, "is_active": True}
    with transaction.atomic(durable=True):
        _lock(document_type)
        old = FieldTarget.objects.filter(document_type=document_type, field_path=field_path).first()
        if old is not None and all(getattr(old, name) == value for name, value in values.items()):
            return old
        target, _is_new = FieldTarget.objects.update_or_create(
            document_type=document_type, field_path=field_path, defaults=values | {"set_by": actor.user}
        )
        running = FieldMonitor.objects.filter(document_type=document_type, field_path=field_path, ended_at=None)
        if not running.filter(tripped_at__isnull=False).exists():
            running.update(ended_at=timezone.now(), ended_by=actor.user)
            begin_monitor(target)
        _record(actor, "field_target.set", target, document_type)
    return target


def remove_target(*, actor: Actor, target: FieldTarget) -> None:
    """Promise nothing any more for a field; removing twice is removing once. Raise ConflictError while it is stopped.

    What was certified before stays in the policies, and attempts stay counted.
    """
    with transaction.atomic(durable=True):
        _lock(target.document_type)
        path = target.field_path
        running = FieldMonitor.objects.filter(document_type=target.document_type, field_path=path, ended_at=None)
        if running.filter(tripped_at__isnull=False).exists():
            raise ConflictError(_("This field is stopped. Turn it on again first, then remove its target."))
        if not FieldTarget.objects.filter(pk=target.pk, is_active=True).update(is_active=False):
            return
        running.update(ended_at=timezone.now(), ended_by=actor.user)
        _record(actor, "field_target.removed", target, target.document_type)


def resume_field(*, actor: Actor, monitor: FieldMonitor) -> FieldMonitor:
    """Store a stopped field's values again, under a new monitor, which is returned.

    Turning on twice is turning on once. Raise NotFoundError where its target is gone.
    """
    with transaction.atomic(durable=True):
        document_type = monitor.document_type
        _lock(document_type)
        target = FieldTarget.objects.filter(document_type=document_type, field_path=monitor.field_path).first()
        if target is None:
            raise NotFoundError
        stopped = FieldMonitor.objects.filter(pk=monitor.pk, ended_at=None, tripped_at__isnull=False)
        if not stopped.update(ended_at=timezone.now(), ended_by=actor.user):
            return FieldMonitor.objects.get(document_type=document_type, field_path=monitor.field_path, ended_at=None)
        begun = begin_monitor(target)
        record_monitor(actor, "field_monitor.resumed", monitor, document_type)
    return begun


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One field's certificate, with the labels it was made from."""

    field_path: str
    look: int
    digest: str
    n_examined: int
    certificate: Certificate

    def as_row(self, policy: RoutingPolicy, engine: EngineVersion) -> FieldCertificate:
        return FieldCertificate(
            policy=policy,
            document_type=policy.document_type,
            field_path=self.field_path,
            engine_version=engine,
            look=self.look,
            examined_digest=self.digest,
            n_examined=self.n_examined,
            **self.certificate.as_json(),
        )


def draft_from_targets(*, actor: Actor, document_type: DocumentType) -> RoutingPolicy:
    """Draft a policy whose limits the labels carry, with a certificate for each field that has a target.

    A field whose target the labels do not carry is never stored unseen; every other rule is as in force. Each attempt
    on new labels is a look, counted per field. Raise ConflictError where no field has a target, nothing was read yet,
    or somebody drafted at the same moment.
    """
    targets = list(targets_for(document_type))
    if not targets:
        raise ConflictError(_("No field has a target yet. Set one first."))
    engine, examined = examined_fields(document_type)
    if engine is None:
        raise ConflictError(_("No document of this type was read yet, so there is nothing to certify."))
    attempts = [_attempt(target, engine, examined.get(target.field_path, ExaminedField())) for target in targets]
    found = active_policy(document_type)
    stands = found[1] if found is not None else PolicyRules()
    limits = {one.field_path: one.certificate.thresholds() for one in attempts}
    rules = replace(stands, fields={**stands.fields, **limits})
    with transaction.atomic(durable=True):
        _lock(document_type)
        # What was computed outside of the transaction stands on these numbers.
        if any(one.look != _look(document_type, one, engine) for one in attempts):
            raise ConflictError
        policy = create_draft(actor, document_type, rules)
        FieldCertificate.objects.bulk_create(one.as_row(policy, engine) for one in attempts)
        certified = [one.field_path for one in attempts if one.certificate.is_automated]
        record_policy(actor, "policy.drafted", policy, {"certified": certified, "n_targets": len(attempts)})
    return policy


def _attempt(target: FieldTarget, engine: EngineVersion, examined: ExaminedField) -> _Attempt:
    document_type, path = target.document_type, target.field_path
    digest = examined.digest(target.most_per_document)
    look = look_at(document_type, path, engine, digest, target.wrong_share)
    wanted = Target(target.wrong_share, target.confidence, target.most_per_document, look)
    certificate = certify(examined.values, examined.frame, wanted, salt=f"{document_type.pk} {path}")
    return _Attempt(path, look, digest, len(examined.values), certificate)


def _look(document_type: DocumentType, attempt: _Attempt, engine: EngineVersion) -> int:
    return look_at(document_type, attempt.field_path, engine, attempt.digest, attempt.certificate.target)


def _check(document_type: DocumentType, field_path: str, wrong_share: float, confidence: float, most: int) -> None:
    version = document_type.active_version
    known = column_paths(spec_of(version)) if version is not None else []
    wrong = {
        "/field_path": (field_path not in known, _("The document type has no such field.")),
        "/wrong_share": (
            not 0 < wrong_share < LARGEST_SHARE,
            _("Give a share above 0 and below 0.5, such as 0.01 for one in a hundred."),
        ),
        "/confidence": (not 0 < confidence < 1, _("Give a confidence above 0 and below 1, such as 0.95.")),
        "/most_per_document": (not 1 <= most <= _MOST, _("Give a whole number from 1.")),
    }
    problems = [{"pointer": pointer, "message": message} for pointer, (is_wrong, message) in wrong.items() if is_wrong]
    if problems:
        raise InvalidInputError(details={"problems": problems})


def _lock(document_type: DocumentType) -> None:
    DocumentType.objects.select_for_update(no_key=True).only("pk").get(pk=document_type.pk)


def _record(actor: Actor, name: TargetEventName, target: FieldTarget, document_type: DocumentType) -> None:
    detail = {
        "field_path": target.field_path,
        "wrong_share": target.wrong_share,
        "confidence": target.confidence,
        "most_per_document": target.most_per_document,
    }
    record_audit(actor, name, target, project=document_type.project_id, detail=detail)
    publish(TargetEvent(name, document_type.project_id, document_type.slug, target.field_path))
