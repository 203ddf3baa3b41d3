"""Shadow reads: claimed, done or given up, and set going again when their worker dies. None of them makes a record."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from inference.types import DocumentTypeSpec, FieldReading
from review.actions._audit import record_audit
from review.actions._findings import without_groups
from review.actions._routing import confirmed_record, store_predictions
from review.actions._work import end, find_free, is_worn_out, queue, release, take
from review.live.events import RolloutEvent, TaskEvent, publish
from review.models import (
    Document,
    DocumentStatus,
    ExtractionRun,
    FieldPrediction,
    PageRead,
    PageReadState,
    ReviewTask,
    RolloutStage,
    RunRole,
    RunState,
    ShadowField,
    ShadowRead,
    TaskKind,
    TaskState,
    WorkState,
)
from review.routing.sampling import Purpose, draw
from review.selectors.access import Actor
from review.selectors.suspects import has_suspects

ENGINE_FAILED = "engine_failed"


def claim_shadow(*, shadow_id: int) -> ShadowRead | None:
    """Claim a shadow read for this process and count the attempt; None when there is nothing to do.

    One whose roll-out has left the shadow stage is cancelled; one that took its process with it STET_MAX_ATTEMPTS times
    has failed. While a page is asked alone of the challenger's server (`review.selectors.suspects`) it waits for the
    sweep. No audit row: nothing has happened yet.
    """
    shadows = ShadowRead.objects.select_related(
        "rollout__document_type",
        "rollout__engine_version__base",
        "champion_run__schema_version",
        "champion_run__engine_version__base",
        "document__project",
    )
    shadow = find_free(shadows, shadow_id)
    if shadow is None:
        return None
    with transaction.atomic(durable=True):
        if shadow.rollout.stage != RolloutStage.SHADOW:
            end(shadow, WorkState.CANCELLED)
        elif is_worn_out(shadow):
            end(shadow, WorkState.FAILED, error_code=ENGINE_FAILED)
        elif not has_suspects(shadow.rollout.engine_version) and take(shadow):
            return shadow
    return None


def complete_shadow(
    *,
    actor: Actor,
    shadow: ShadowRead,
    spec: DocumentTypeSpec,
    fields: Sequence[FieldReading],
    reading_ids: Sequence[int],
    request_digest: str = "",
    cpu_seconds: float = 0.0,
) -> bool:
    """Keep what the challenger read of a claimed shadow read, and on which fields it differs; whether it was still due.

    `reading_ids` are those of the pages, in their order; `request_digest` is what they were asked with. The run is
    never current and makes no record. By a hash, a share of the documents with a difference is put before a person, who
    is not told of it.
    """
    document, rollout = shadow.document, shadow.rollout
    cells, _missing = without_groups(fields, spec)
    with transaction.atomic(durable=True):
        run = _keep_run(shadow, cells, reading_ids, request_digest, cpu_seconds)
        if not end(shadow, WorkState.DONE, run=run):
            transaction.set_rollback(True)
            return False
        agreed = _agreed(shadow.champion_run, cells)
        differing = [path for path, is_agreed in agreed.items() if not is_agreed]
        drawn = draw(document.sha256, str(rollout.pk), rollout.salt, Purpose.DISAGREEMENT)
        is_drawn = bool(differing) and drawn < rollout.disagreement_share
        ShadowField.objects.bulk_create(
            ShadowField(shadow_read=shadow, field_path=path, is_agreed=is_agreed, is_drawn=is_drawn and not is_agreed)
            for path, is_agreed in agreed.items()
        )
        if is_drawn:
            _ask(shadow, differing)
        detail = {"document": document.pk, "run": run.pk, "n_fields": len(agreed), "n_differing": len(differing)}
        # On the roll-out, not on the document: whoever looks at that one must not learn of a second value.
        record_audit(actor, "rollout.shadow_read", rollout, project=document.project_id, detail=detail)
        slug = rollout.document_type.slug
        publish(RolloutEvent("rollout.shadow_read", document.project_id, slug, rollout.pk, str(rollout.stage)))
    return True


def _keep_run(
    shadow: ShadowRead,
    cells: Sequence[FieldReading],
    reading_ids: Sequence[int],
    request_digest: str,
    cpu_seconds: float,
) -> ExtractionRun:
    run = ExtractionRun.objects.create(
        document=shadow.document,
        engine_version=shadow.rollout.engine_version,
        schema_version=shadow.champion_run.schema_version,
        role=RunRole.SHADOW,
        state=RunState.ROUTED,
        is_current=False,
        request_digest=request_digest,
        examples=shadow.champion_run.examples,
        cpu_seconds=cpu_seconds,
        finished_at=timezone.now(),
    )
    pages = shadow.document.pages.order_by("page_number")
    PageRead.objects.bulk_create(
        PageRead(run=run, page=page, state=PageReadState.READ, reading_id=reading_id)
        for page, reading_id in zip(pages, reading_ids, strict=True)
    )
    store_predictions(run, cells)
    return run


def _agreed(champion: ExtractionRun, cells: Sequence[FieldReading]) -> dict[str, bool]:
    """Return for each field whether both give the same value; finding nothing is as good as having no such row."""
    known = dict(FieldPrediction.objects.filter(run=champion).values_list("field_path", "value"))
    found = {cell.field_path: cell.value for cell in cells}
    return {
        path: known.get(path) == found.get(path) for path in [*known, *(path for path in found if path not in known)]
    }


def _ask(shadow: ShadowRead, differing: Sequence[str]) -> None:
    """Have a person look at the fields on which two versions differ, unless one does already or has settled them."""
    # Or it might be sent back to the beginning meanwhile, and be read again beside an open task.
    document = Document.objects.select_for_update(no_key=True).get(pk=shadow.document_id)
    is_open = ReviewTask.objects.filter(document=document, state=TaskState.OPEN).exists()
    if is_open or document.status != DocumentStatus.STORED or confirmed_record(document) is not None:
        return
    if not ExtractionRun.objects.filter(pk=shadow.champion_run_id, is_current=True).exists():
        return
    task = ReviewTask.objects.create(
        project_id=document.project_id,
        document_type_id=document.document_type_id,
        document=document,
        run=shadow.champion_run,
        kind=TaskKind.DISAGREEMENT,
        disputed_paths=list(differing),
        priority=document.priority,
    )
    publish(TaskEvent("review_task.created", document.project_id, task.pk, document.pk))


def fail_shadow(*, shadow: ShadowRead, code: str) -> None:
    """Record that the challenger cannot read a document. No audit row: nothing follows from it."""
    with transaction.atomic(durable=True):
        end(shadow, WorkState.FAILED, error_code=code)


def pause_shadow(*, shadow: ShadowRead) -> None:
    """Give a claimed shadow read back and queue it for its next page: nothing went wrong, so no attempt is counted."""
    with transaction.atomic(durable=True):
        if release(shadow, is_counted=False):
            queue(shadow)


def release_shadow(*, shadow: ShadowRead, is_counted: bool) -> None:
    """Give a claimed shadow read back; `is_counted` false gives the attempt back too (the engine could not be had)."""
    with transaction.atomic(durable=True):
        release(shadow, is_counted=is_counted)
