"""An engine version on its way to reading a document type: started, promoted stage by stage, rolled back."""

import math
import secrets

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._enqueue import COMPARE_ROLLOUT, EXPORT_TIMEOUT_SECONDS, enqueue
from review.exceptions import ConflictError, InvalidInputError
from review.live.events import RolloutEvent, RolloutEventName, publish
from review.models import DocumentType, EngineVersion, Rollout, RolloutStage
from review.selectors.access import Actor
from review.selectors.engines import is_declared, is_profiled
from review.selectors.gate import gate_of
from review.selectors.rollouts import champion_of

MAX_REASON_LENGTH = 500
NEXT_STAGE = {RolloutStage.SHADOW: RolloutStage.CANARY, RolloutStage.CANARY: RolloutStage.LIVE}


def start_rollout(
    *,
    actor: Actor,
    document_type: DocumentType,
    engine_version: EngineVersion,
    shadow_share: float = 0.2,
    disagreement_share: float = 0.02,
    canary_share: float = 0.05,
) -> Rollout:
    """Let a version read a share of a type's documents beside who reads them now, and have both compared.

    Raise InvalidInputError for a share outside 0-1, for the version of an OCR engine and one learned for another type;
    ConflictError while another version is on its way, or when this one reads the type already.
    """
    _refuse_shares(shadow_share=shadow_share, disagreement_share=disagreement_share, canary_share=canary_share)
    _refuse_version(document_type, engine_version)
    champion = champion_of(document_type)
    if champion is not None and champion.pk == engine_version.pk:
        raise ConflictError(_("This version reads the documents of this type already."))
    try:
        with transaction.atomic(durable=True):
            rollout = Rollout.objects.create(
                document_type=document_type,
                engine_version=engine_version,
                champion=champion,
                shadow_share=shadow_share,
                disagreement_share=disagreement_share,
                canary_share=canary_share,
                salt=secrets.token_hex(16),
                started_by=actor.user,
            )
            enqueue(COMPARE_ROLLOUT, rollout.pk, timeout_seconds=EXPORT_TIMEOUT_SECONDS)
            _record(actor, "rollout.started", rollout)
    except IntegrityError:
        raise ConflictError(
            _("Another version is on its way for this type. Promote it or roll it back first.")
        ) from None
    return rollout


def promote_rollout(*, actor: Actor, rollout: Rollout) -> Rollout:
    """Take a roll-out one stage on: from shadow to canary, from canary to live, where it retires who was live before.

    Raise ConflictError with the reason when the gate is shut (nobody may overrule it), when the roll-out has no next
    stage, and when somebody else was faster.
    """
    stage = NEXT_STAGE.get(RolloutStage(rollout.stage))
    if stage is None:
        raise ConflictError(_("This roll-out has no next stage."), code="no_next_stage")
    with transaction.atomic(durable=True):
        # The gate is asked, and who is live is looked up, while nobody moves a roll-out of this type.
        _lock(rollout)
        now = timezone.now()
        if not Rollout.objects.filter(pk=rollout.pk, stage=rollout.stage).update(stage_since=now):
            raise ConflictError(_("Somebody else moved this roll-out in the meantime. Look again."))
        gate = gate_of(rollout)
        if not gate.is_open:
            raise ConflictError(gate.message, code=gate.refusal)
        if stage == RolloutStage.LIVE:
            live = Rollout.objects.filter(document_type=rollout.document_type_id, stage=RolloutStage.LIVE)
            rollout.replaced = live.first()
            live.update(stage=RolloutStage.RETIRED, stage_since=now)
        rollout.stage, rollout.stage_since = stage, now
        rollout.save(update_fields=["stage", "stage_since", "replaced"])
        comparison = gate.comparison.pk if gate.comparison else None
        _record(actor, "rollout.promoted", rollout, comparison=comparison)
    return rollout


def roll_back(*, actor: Actor, rollout: Rollout, reason: str) -> Rollout:
    """End a roll-out at whatever stage, and say why; who was live before it is live again at once.

    Documents that are being read by it begin anew; what it has read and routed stays as it is. Raise InvalidInputError
    at /reason, ConflictError when it has ended already or somebody else was faster.
    """
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON_LENGTH:
        raise InvalidInputError.at("/reason", _("Say why, in at most 500 characters."))
    if rollout.stage == RolloutStage.RETIRED:
        raise ConflictError(_("This roll-out has ended already."))
    with transaction.atomic(durable=True):
        _lock(rollout)
        now, stage = timezone.now(), rollout.stage
        mine = Rollout.objects.filter(pk=rollout.pk, stage=stage)
        if not mine.update(stage=RolloutStage.RETIRED, stage_since=now, ended_because=reason):
            raise ConflictError(_("Somebody else moved this roll-out in the meantime. Look again."))
        if stage == RolloutStage.LIVE and rollout.replaced_id is not None:
            before = Rollout.objects.filter(pk=rollout.replaced_id, stage=RolloutStage.RETIRED)
            before.update(stage=RolloutStage.LIVE, stage_since=now)
        rollout.stage, rollout.stage_since, rollout.ended_because = RolloutStage.RETIRED, now, reason
        _record(actor, "rollout.rolled_back", rollout, from_stage=stage, reason=reason)
    return rollout


def _lock(rollout: Rollout) -> None:
    """Move the roll-outs of a type one after the other: one that goes live takes the place of another one."""
    DocumentType.objects.select_for_update(no_key=True).only("pk").get(pk=rollout.document_type_id)


def _refuse_shares(**shares: float) -> None:
    problems = [
        {"pointer": f"/{name}", "message": _("Give a share between 0 and 1.")}
        for name, share in shares.items()
        if not (math.isfinite(share) and 0 <= share <= 1)
    ]
    if problems:
        raise InvalidInputError(details={"problems": problems})


def _refuse_version(document_type: DocumentType, version: EngineVersion) -> None:
    models = [model for model in (version.locator, version.calibrator) if model is not None]
    if version.base_id is None and not is_declared(version) and not is_profiled(version):
        message = _("The version of an OCR engine is what is installed. Roll out what was learned or declared.")
        raise InvalidInputError.at("/engine_version", message)
    if any(model.document_type_id != document_type.pk for model in models):
        raise InvalidInputError.at("/engine_version", _("This version was learned for another document type."))


def _record(actor: Actor, name: RolloutEventName, rollout: Rollout, **detail: object) -> None:
    document_type = rollout.document_type
    known = {"engine_version": rollout.engine_version.digest, "stage": str(rollout.stage)}
    record_audit(actor, name, rollout, project=document_type.project_id, detail={**known, **detail})
    publish(RolloutEvent(name, document_type.project_id, document_type.slug, rollout.pk, str(rollout.stage)))
