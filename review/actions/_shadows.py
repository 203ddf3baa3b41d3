"""Which routed documents the challenger of a roll-out reads as well: drawn by hash, in the transaction that routes."""

from review.actions._work import queue
from review.models import Document, ExtractionRun, Rollout, RolloutStage, ShadowRead
from review.routing.sampling import Purpose, draw


def draw_shadow(document: Document, run: ExtractionRun) -> None:
    """Have a document read a second time, off the record, if its hash says so; once a roll-out, whatever comes.

    A document with a page that could not be read says nothing of the challenger.
    """
    rollout = Rollout.objects.filter(document_type=document.document_type_id, stage=RolloutStage.SHADOW).first()
    if rollout is None or rollout.engine_version_id == run.engine_version_id or run.error_code:
        return
    drawn = draw(document.sha256, str(rollout.pk), rollout.salt, Purpose.SHADOW)
    if drawn >= rollout.shadow_share or ShadowRead.objects.filter(rollout=rollout, document=document).exists():
        return
    shadow = ShadowRead.objects.create(rollout=rollout, document=document, champion_run=run)
    queue(shadow)
