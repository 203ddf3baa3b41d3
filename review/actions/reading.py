"""Pages are read, the last one routes the document, once; a document can be read again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from inference.types import DocumentTypeSpec, FieldReading, PageReading, RawAnswer
from review.actions._audit import record_audit
from review.actions._claims import new_claim_token
from review.actions._documents import note_wait, publish_document, settle_document
from review.actions._findings import evidence_of, with_schema_findings, without_groups
from review.actions._interest import interest_of
from review.actions._pages import has_unfinished_pages
from review.actions._readings import store_raw_answers, store_reading
from review.actions._restarting import cancel_task, hold_open_tasks, reset_document
from review.actions._routing import (
    confirmed_record,
    create_task,
    ensure_active_policy,
    store_decision,
    store_model_record,
    store_predictions,
)
from review.actions._shadows import draw_shadow
from review.actions._suggestions import TypeSuggestion, keep_suggestion
from review.actions._suspects import has_its_turn, wake_waiting
from review.exceptions import ConflictError
from review.models import (
    UNFINISHED_STATUSES,
    Document,
    DocumentStatus,
    DocumentType,
    ExtractionRun,
    ForeignReading,
    Page,
    PageRead,
    PageReadState,
    ReviewTask,
    RoutingPolicy,
    RunState,
    TaskState,
)
from review.routing.bands import Band
from review.routing.decide import DocumentDecision, FieldEvidence, decide
from review.routing.policy import PolicyRules
from review.routing.reasons import Reason, reason_for_failure
from review.selectors.access import Actor
from review.selectors.engines import is_proven
from review.selectors.reading import ReadingKey, key_of
from review.selectors.targets import stopped_paths, uncertified_paths

__all__ = [
    "ClaimedPage",
    "TypeSuggestion",
    "begin_routing",
    "claim_page",
    "complete_run",
    "fail_page",
    "record_page_read",
    "release_page",
    "rerun_document",
    "restart_document",
]

ENGINE_FAILED = "engine_failed"
ROUTING_FAILED = "routing_failed"
UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class ClaimedPage:
    """A page that this process reads now; `token` proves it."""

    page_read: PageRead
    token: str

    @property
    def is_last_attempt(self) -> bool:
        """Whether nobody will try again where this attempt comes to nothing."""
        return self.page_read.n_attempts >= settings.STET_MAX_ATTEMPTS

    @property
    def run(self) -> ExtractionRun:
        """The run that the page is read for."""
        return self.page_read.run

    @property
    def document(self) -> Document:
        """The document that the page belongs to."""
        return self.page_read.run.document

    @property
    def reading_key(self) -> ReadingKey:
        """Under what the page's reading is kept."""
        return key_of(self.run, self.page_read.page)


def claim_page(*, page_read_id: int) -> ClaimedPage | None:
    """Claim a page for this process and count the attempt, before the engine is let loose on it.

    None when there is nothing to do: it is read, or another process holds it, or it waits until its server is asked
    about one page at a time no more (`review.selectors.suspects`). A claim that is older than STET_CLAIM_SECONDS may be
    taken over. No audit row: nothing has happened yet.
    """
    reads = PageRead.objects.select_related(
        "page", "run__document__project__engine_version", "run__engine_version__base", "run__schema_version"
    )
    found = reads.filter(pk=page_read_id, run__is_current=True, run__state=RunState.READING).first()
    if found is None or not _is_free(found):
        return None
    token, now = new_claim_token(), timezone.now()
    with transaction.atomic(durable=True):
        if not has_its_turn(found):
            return None
        same = PageRead.objects.filter(pk=found.pk, state=found.state, claim_token=found.claim_token)
        mine = same.update(
            state=PageReadState.CLAIMED, claim_token=token, claimed_at=now, n_attempts=F("n_attempts") + 1
        )
    found.n_attempts, found.claimed_at = found.n_attempts + 1, now
    return ClaimedPage(found, token) if mine else None


def _is_free(page_read: PageRead) -> bool:
    if page_read.state == PageReadState.PENDING:
        return True
    bound = timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS)
    is_stale = page_read.claimed_at is None or page_read.claimed_at < bound
    return page_read.state == PageReadState.CLAIMED and is_stale


def release_page(
    *,
    claim: ClaimedPage,
    is_counted: bool,
    code: str = "",
    attempts: Sequence[RawAnswer] = (),
    has_broken_off: bool = False,
) -> None:
    """Give a claimed page back unread; `is_counted` false gives the attempt back too (the engine could not be had).

    `code` says on the document why it waits, until the page is read. `attempts` are the answers of a language model
    that was lost before its last one: they are kept. `has_broken_off`: from now on the page is asked alone.
    """
    with transaction.atomic(durable=True):
        is_mine = _mine(claim).update(
            state=PageReadState.PENDING,
            claim_token="",
            n_attempts=F("n_attempts") - (0 if is_counted else 1),
            broke_off_at=timezone.now() if has_broken_off else F("broke_off_at"),
        )
        store_raw_answers(claim.reading_key, attempts, code, claim.page_read.pk)
        if is_mine and code:
            note_wait(claim.run.document_id, DocumentStatus.PROCESSING, code)


def _mine(claim: ClaimedPage) -> QuerySet[PageRead]:
    return PageRead.objects.filter(pk=claim.page_read.pk, state=PageReadState.CLAIMED, claim_token=claim.token)


def record_page_read(
    *, actor: Actor, claim: ClaimedPage, reading: PageReading | int, is_near_duplicate: bool = False
) -> bool:
    """Record what was read on a claimed page, or the id of the cached reading; whether it was the run's last page.

    `is_near_duplicate`: the cached reading is that of a page that looks the same. False also when the claim was lost:
    whoever took it over answers for the page.
    """
    with transaction.atomic(durable=True):
        if not _touch(claim, n_read=1):
            return False
        is_cached = isinstance(reading, int)
        reading_id = reading if isinstance(reading, int) else _keep_reading(claim, reading)
        is_mine = _mine(claim).update(
            state=PageReadState.READ,
            reading_id=reading_id,
            is_cached=is_cached,
            is_near_duplicate=is_near_duplicate,
        )
        if not is_mine:
            transaction.set_rollback(True)
            return False
        detail = {"run": claim.run.pk, "page_number": claim.page_read.page.page_number, "is_cached": is_cached}
        if is_near_duplicate:
            detail["is_near_duplicate"] = True
        return _finish_page(actor, claim, detail)


def fail_page(
    *,
    actor: Actor,
    claim: ClaimedPage,
    code: str,
    attempts: Sequence[RawAnswer] = (),
    words_reading_id: int | None = None,
) -> bool:
    """Record that a claimed page cannot be read, for good; whether it was the run's last page.

    `attempts` are the answers of a language model that could not be used: they are kept. So are the words that the
    other reader found: a person can pick from them.
    """
    with transaction.atomic(durable=True):
        if not _touch(claim, n_read=0):
            return False
        if not _mine(claim).update(state=PageReadState.FAILED, error_code=code, reading_id=words_reading_id):
            transaction.set_rollback(True)
            return False
        store_raw_answers(claim.reading_key, attempts, code, claim.page_read.pk)
        detail = {"run": claim.run.pk, "page_number": claim.page_read.page.page_number, "error": code}
        return _finish_page(actor, claim, detail)


def _touch(claim: ClaimedPage, *, n_read: int) -> bool:
    # First of all, and on one row for all pages of a document: of the last two pages that finish at once, the second
    # waits here for the first, and then sees that it is the last.
    return bool(
        Document.objects.filter(pk=claim.run.document_id, status=DocumentStatus.PROCESSING).update(
            n_pages_read=F("n_pages_read") + n_read, touched_at=timezone.now(), reasons=[]
        )
    )


def _keep_reading(claim: ClaimedPage, reading: PageReading) -> int:
    page = claim.page_read.page
    if reading.quality:
        Page.objects.filter(pk=page.pk).update(quality=dict(reading.quality))
    if reading.answer is not None:
        store_raw_answers(claim.reading_key, reading.answer.attempts, page_read_id=claim.page_read.pk)
    return store_reading(claim.reading_key, reading, page.perceptual_hash)


def _finish_page(actor: Actor, claim: ClaimedPage, detail: Mapping[str, object]) -> bool:
    document = Document.objects.get(pk=claim.run.document_id)
    record_audit(actor, "document.page_read", document, project=document.project_id, detail=detail)
    publish_document(document, "document.page_read")
    wake_waiting(claim.page_read)
    return not has_unfinished_pages(claim.run.pk)


def begin_routing(*, run_id: int) -> int | None:
    """Count an attempt to route a run whose pages are all read or failed, before it is begun; return its number.

    None when there is nothing to route. What is read can be such that fields are never made of it: that has an end,
    too. No audit row: nothing has happened yet.
    """
    with transaction.atomic(durable=True):
        due = ExtractionRun.objects.filter(pk=run_id, state=RunState.READING, is_current=True)
        if has_unfinished_pages(run_id) or not due.update(n_routing_attempts=F("n_routing_attempts") + 1):
            return None
        return ExtractionRun.objects.values_list("n_routing_attempts", flat=True).get(pk=run_id)


def complete_run(
    *,
    actor: Actor,
    run: ExtractionRun,
    spec: DocumentTypeSpec,
    fields: Sequence[FieldReading],
    failures: Sequence[str] = (),
    suggestion: TypeSuggestion | None = None,
    cpu_seconds: float = 0.0,
) -> bool:
    """Route a document whose pages are all read or failed: exactly one caller does, and is told True.

    Keeps what was read and how it was decided; then the document is stored with a record, or a person is asked, or
    both (an audit). A page that failed sends the whole document to a person; `failures` are the codes of why.
    So does a `suggestion`, another type that the first page looks like.
    """
    document_type = run.document.document_type
    cells, missing = without_groups(fields, spec)
    checked, faults = with_schema_findings(cells, run.schema_version.schema)
    doubts = [Reason.TYPE_DOUBTFUL] * bool(suggestion)
    faults = (*map(reason_for_failure, failures), *doubts, *missing, *faults)
    with transaction.atomic(durable=True):
        # Compare-and-set: only the run that is still being read can be routed, and only once.
        due = ExtractionRun.objects.filter(pk=run.pk, state=RunState.READING, is_current=True)
        error_code = failures[0] if failures else ""
        if not due.update(
            state=RunState.ROUTED, finished_at=timezone.now(), cpu_seconds=cpu_seconds, error_code=error_code
        ):
            return False
        document = Document.objects.get(pk=run.document_id)
        policy = ensure_active_policy(document_type)
        interest = interest_of(checked, run)
        evidence = [evidence_of(reading, spec) for reading in checked]
        decision = _decide(run, policy, evidence, faults, interest)
        confirmed = confirmed_record(document)
        is_stored = confirmed is not None or decision.band is not Band.REVIEW
        store_predictions(run, checked)
        store_decision(run, policy, decision, is_asked=confirmed is None, interest=interest)
        if is_stored:
            store_model_record(document, run, policy=policy, fields=checked, decision=decision, confirmed=confirmed)
        settle_document(
            document,
            "document.routed",
            status=DocumentStatus.STORED if is_stored else DocumentStatus.REVIEW,
            band=decision.band,
            reasons=[str(reason) for reason in decision.reasons],
        )
        if decision.is_selected and confirmed is None:
            create_task(document, run)
        draw_shadow(document, run)
        _record_routed(actor, run, decision, suggestion)
    return True


def _decide(
    run: ExtractionRun,
    policy: RoutingPolicy,
    evidence: Sequence[FieldEvidence],
    faults: Sequence[Reason],
    interest: float | None,
) -> DocumentDecision:
    document_type, rules = run.document.document_type, PolicyRules.from_json(policy.rules)
    return decide(
        evidence,
        rules,
        run.document.sha256,
        str(policy.pk),
        document_reasons=faults,
        is_proven=is_proven(run.engine_version),
        stopped=stopped_paths(document_type),
        uncertified=uncertified_paths(document_type, run.engine_version_id, rules),
        interest=interest,
    )


def _record_routed(
    actor: Actor, run: ExtractionRun, decision: DocumentDecision, suggestion: TypeSuggestion | None
) -> None:
    """Write the audit row of a routing, and on the document what it looks like."""
    keep_suggestion(run.document, suggestion)
    detail: dict[str, object] = {
        "run": run.pk,
        "band": str(decision.band),
        "is_selected": decision.is_selected,
        "reasons": [str(reason) for reason in decision.reasons],
    }
    if suggestion is not None:
        detail |= {"suggested_type": suggestion.slug, "chance": round(suggestion.chance, 4)}
    record_audit(actor, "document.routed", run.document, project=run.document.project_id, detail=detail)


def rerun_document(*, actor: Actor, document: Document, is_reopening: bool = False) -> Document:
    """Read a document again with the project's engine as it is now; return the document that is read.

    The earlier run and its predictions are kept, and so is what a person confirmed. A person's word that the document
    is unusable is overruled only by whoever says so (`is_reopening`). Raise ConflictError without that, while the
    document is being read, or while a reviewer has begun on it.
    """
    document = document.duplicate_of or document
    with transaction.atomic(durable=True):
        # The type's row is what intake waits on: no duplicate joins while the standing changes.
        DocumentType.objects.select_for_update(no_key=True).only("pk").get(pk=document.document_type_id)
        hold_open_tasks(document.pk)
        document = Document.objects.select_for_update(no_key=True).get(pk=document.pk)
        if document.status in UNFINISHED_STATUSES:
            raise ConflictError(_("This document is being read already. Wait until it is done."))
        if document.reasons == [UNUSABLE] and not is_reopening:
            raise ConflictError(
                _("A reviewer marked this document as unusable. To read it all the same, send “reopen”: true."),
                code="marked_unusable",
            )
        for task in ReviewTask.objects.filter(document=document, state=TaskState.OPEN):
            cancel_task(task)
        # An engine of ours reads it now, whatever came with it.
        ForeignReading.objects.filter(document=document).update(is_current=False)
        reset_document(document)
        record_audit(actor, "document.rerun", document, project=document.project_id)
    return document


def restart_document(*, actor: Actor, document_id: int, run_id: int) -> bool:
    """Begin a document anew whose run was started by another version of the engine; whether it was still due."""
    with transaction.atomic(durable=True):
        unfinished = ExtractionRun.objects.filter(pk=run_id, is_current=True, state=RunState.READING)
        if not unfinished.update(state=RunState.FAILED, error_code="engine_changed", finished_at=timezone.now()):
            return False
        document = Document.objects.select_for_update(no_key=True).get(pk=document_id)
        reset_document(document)
        record_audit(actor, "document.restarted", document, project=document.project_id, detail={"run": run_id})
    return True
