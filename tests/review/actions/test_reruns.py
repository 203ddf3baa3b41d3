"""Documents are read again; what a person confirmed stands."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from review.actions._routing import _kept_families, family_of
from review.actions.reading import (
    claim_page,
    rerun_document,
    restart_document,
)
from review.exceptions import ConflictError
from review.models import (
    AuditEntry,
    Document,
    Event,
    ExtractionRun,
    FieldEdit,
    Record,
    ReviewTask,
    RoutingDecision,
)
from review.selectors.access import SYSTEM, Actor
from tests import factories
from tests.conftest import Cast
from tests.review.actions.reading_room import SURE, UNSURE, field, never_audited, opened, read_again, routed
from tests.review.queueing import queued


def confirm(document: Document, person: Any, **values: str) -> Record:
    """A person's record: each given value confirmed, the rest as the model read it."""
    record = Record.objects.filter(document=document, is_current=True).first()
    run = ExtractionRun.objects.get(document=document, is_current=True)
    accepted = {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "9.00"} | {
        f"/{name}": value for name, value in values.items()
    }
    provenance = {
        path: {"source": "person", "reviewer": person.pk, "verdict": "corrected", "task": 1}
        if path[1:] in values
        else {"source": "model", "engine_version": run.engine_version.digest, "policy": 1, "confidence": 0.9}
        for path in accepted
    }
    Record.objects.filter(document=document).update(is_current=False)
    return Record.objects.create(
        project=document.project,
        document=document,
        revision=(record.revision if record else 0) + 1,
        run=run,
        reviewer=person,
        values=accepted,
        provenance=provenance,
    )


def test_a_rerun_reads_anew_and_keeps_the_old_run(cast: Cast) -> None:
    never_audited(cast.document_type)
    document = routed(cast.document_type)
    rerun = rerun_document(actor=Actor(cast.manager), document=document)
    assert (rerun.status, rerun.band, rerun.n_attempts) == ("received", "", 0)
    assert queued() == [("open_document", document.pk)]
    assert AuditEntry.objects.get(action="document.rerun").actor == cast.manager
    read_again(document, (*SURE[:2], field("/total", "10.00")))
    old, new = ExtractionRun.objects.order_by("pk")
    assert (old.is_current, old.state, new.is_current, new.state) == (False, "routed", True, "routed")
    assert old.predictions.get(field_path="/total").value == "9.00"
    assert Record.objects.get(is_current=True).values["/total"] == "10.00"
    assert Record.objects.count() == 2


def test_a_rerun_never_touches_what_a_person_confirmed(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    ReviewTask.objects.update(state="done")
    Document.objects.update(status="stored")
    confirm(document, cast.reviewer, total="12.34")
    rerun_document(actor=Actor(cast.manager), document=document)
    read_again(document, (field("/company", "OTHER"), field("/date", "2020-01-01"), field("/total", "8.00")))
    record = Record.objects.get(is_current=True)
    assert record.values == {"/company": "OTHER", "/date": "2020-01-01", "/total": "12.34"}
    assert record.provenance["/total"]["source"] == "person"
    assert record.provenance["/company"]["source"] == "model"
    assert record.reviewer == cast.reviewer


def test_a_rerun_of_a_confirmed_document_asks_nobody_and_puts_no_doubt_in_the_record(cast: Cast) -> None:
    document = routed(cast.document_type)
    confirm(document, cast.reviewer, total="12.34")
    rerun_document(actor=Actor(cast.manager), document=document)
    read_again(document, (field("/company", "X", 0.1), field("/date", "2020-01-01"), field("/total", "8.00", 0.1)))
    assert document.status == "stored"
    assert not ReviewTask.objects.filter(state="open").exists()
    assert Record.objects.get(is_current=True).values == {
        "/company": "BOOK TA K",
        "/date": "2020-01-01",
        "/total": "12.34",
    }
    decision = RoutingDecision.objects.get(run__is_current=True)
    assert not decision.is_selected
    assert not decision.fields.filter(is_to_examine=True).exists()


def test_a_document_marked_unusable_is_read_again_only_by_whoever_says_so(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    ReviewTask.objects.update(state="unusable")
    Document.objects.update(status="unreadable", reasons=["unusable"])
    with pytest.raises(ConflictError) as refused:
        rerun_document(actor=Actor(cast.manager), document=document)
    assert refused.value.code == "marked_unusable"
    document.refresh_from_db()
    assert document.status == "unreadable"
    assert rerun_document(actor=Actor(cast.manager), document=document, is_reopening=True).status == "received"


def test_rows_of_a_group_are_kept_together() -> None:
    confirmed = Record(
        values={"/items/0/a": "1", "/items/1/a": "2", "/total": "3"},
        provenance={
            "/items/0/a": {"source": "person"},
            "/items/1/a": {"source": "model"},
            "/total": {"source": "model"},
        },
    )
    assert _kept_families(confirmed, {}) == {"/items"}
    assert family_of("/items/12/a") == "/items"
    assert family_of("/seller/name") == "/seller/name"


def test_a_document_that_is_being_read_is_not_read_again(cast: Cast) -> None:
    document, _ = opened(cast.document_type)
    with pytest.raises(ConflictError):
        rerun_document(actor=Actor(cast.manager), document=document)


def test_a_rerun_cancels_the_task_that_nobody_began(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    rerun_document(actor=Actor(cast.manager), document=document)
    assert ReviewTask.objects.get().state == "cancelled"
    assert Event.objects.filter(name="review_task.cancelled").exists()
    read_again(document, UNSURE)
    assert ReviewTask.objects.filter(state="open").count() == 1


@pytest.mark.parametrize("begun", ["held", "edited"])
def test_a_rerun_does_not_take_a_task_out_of_a_reviewers_hands(cast: Cast, begun: str) -> None:
    document = routed(cast.document_type, UNSURE)
    task = ReviewTask.objects.get()
    if begun == "held":
        later = timezone.now() + timedelta(minutes=5)
        ReviewTask.objects.update(lease_holder=cast.reviewer, lease_expires_at=later, lease_token="t")
    else:
        FieldEdit.objects.create(task=task, field_path="/total", version=1, verdict="confirmed", author=cast.reviewer)
    with pytest.raises(ConflictError):
        rerun_document(actor=Actor(cast.manager), document=document)
    document.refresh_from_db()
    task.refresh_from_db()
    assert (document.status, task.state) == ("review", "open")


def test_a_rerun_of_a_copy_reads_the_first(cast: Cast) -> None:
    document = routed(cast.document_type)
    copy = factories.make_document(cast.document_type, duplicate_of=document, status="stored")
    assert rerun_document(actor=Actor(cast.manager), document=copy) == document
    copy.refresh_from_db()
    assert copy.status == "received"


def test_a_run_of_another_engine_version_is_begun_anew(cast: Cast) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    run = ExtractionRun.objects.get()
    assert restart_document(actor=SYSTEM, document_id=document.pk, run_id=run.pk)
    assert not restart_document(actor=SYSTEM, document_id=document.pk, run_id=run.pk)
    run.refresh_from_db()
    document.refresh_from_db()
    assert (run.state, run.error_code, document.status) == ("failed", "engine_changed", "received")
    assert claim_page(page_read_id=page_read_id) is None
    assert queued() == [("open_document", document.pk)]
    read_again(document)
    assert document.status == "stored"
