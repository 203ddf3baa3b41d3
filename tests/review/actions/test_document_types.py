"""A document moves to another type as a person says, and is read again under it; nothing confirmed is touched."""

from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.document_types import change_document_type
from review.actions.leasing import lease_task
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    AuditEntry,
    Document,
    DocumentType,
    ExtractionRun,
    FieldEdit,
    ForeignReading,
    ReviewTask,
    Role,
    TaskKind,
    User,
)
from review.selectors.access import SYSTEM, Actor
from review.selectors.records import current_record, record_history, records_for
from tests import factories
from tests.conftest import Cast
from tests.review.actions.second_room import COMPANY, TOTAL, answer, draw_all, look_at, make_first_task
from tests.review.invoices import INVOICE
from tests.review.labels import add_record
from tests.review.queueing import queued

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def invoice(cast: Cast) -> DocumentType:
    return factories.make_document_type(cast.project, "invoice", INVOICE)


@pytest.fixture
def document(cast: Cast, invoice: DocumentType) -> Document:
    """A receipt that waits for a person and looks like an invoice."""
    made = factories.make_routed(cast.document_type, band="review")
    Document.objects.filter(pk=made.pk).update(suggested_type=invoice, suggested_chance=0.97, suggested_from=40)
    made.refresh_from_db()
    return made


def hold(document: Document, person: User) -> ReviewTask:
    later = timezone.now() + timedelta(minutes=5)
    ReviewTask.objects.filter(document=document).update(
        lease_holder=person, lease_expires_at=later, lease_token="t" * 32
    )
    return ReviewTask.objects.get(document=document)


def test_it_is_read_again_under_its_new_type_and_the_old_run_is_kept(
    cast: Cast, document: Document, invoice: DocumentType
) -> None:
    moved = change_document_type(actor=Actor(cast.manager), document=document, document_type=invoice)
    moved.refresh_from_db()
    assert (moved.document_type, moved.status, moved.band, moved.reasons) == (invoice, "received", "", [])
    assert (moved.suggested_type, moved.suggested_chance, moved.suggested_from) == (None, None, None)
    assert queued() == [("open_document", document.pk)]
    assert ReviewTask.objects.get().state == "cancelled"
    assert ExtractionRun.objects.get().document == document
    entry = AuditEntry.objects.get(action="document.type_changed")
    assert (entry.actor, entry.detail) == (cast.manager, {"from": "receipt", "to": "invoice"})


def test_its_own_type_says_that_the_suggestion_was_wrong_and_changes_nothing_else(
    cast: Cast, document: Document
) -> None:
    change_document_type(actor=Actor(cast.manager), document=document, document_type=cast.document_type)
    document.refresh_from_db()
    assert (document.status, document.suggested_type) == ("review", None)
    assert queued() == []
    assert ReviewTask.objects.get().state == "open"
    assert AuditEntry.objects.get(action="document.type_kept").actor == cast.manager


def test_whoever_holds_the_task_moves_it_and_what_was_saved_is_kept(
    cast: Cast, document: Document, invoice: DocumentType
) -> None:
    task = hold(document, cast.reviewer)
    FieldEdit.objects.create(task=task, field_path="/total", version=1, verdict="confirmed", author=cast.reviewer)
    change_document_type(actor=Actor(cast.reviewer), document=document, document_type=invoice)
    task.refresh_from_db()
    assert task.state == "cancelled"
    assert FieldEdit.objects.filter(task=task).count() == 1


@pytest.mark.parametrize("begun", ["held", "edited"])
def test_it_does_not_move_out_of_the_hands_of_another(
    cast: Cast, document: Document, invoice: DocumentType, begun: str
) -> None:
    if begun == "held":
        hold(document, cast.reviewer)
    else:
        task = ReviewTask.objects.get()
        FieldEdit.objects.create(task=task, field_path="/total", version=1, verdict="confirmed", author=cast.reviewer)
    with pytest.raises(ConflictError):
        change_document_type(actor=Actor(cast.manager), document=document, document_type=invoice)
    document.refresh_from_db()
    assert (document.document_type, document.status) == (cast.document_type, "review")
    assert document.suggested_type == invoice


def test_what_people_confirmed_stays_where_it_is(cast: Cast, document: Document, invoice: DocumentType) -> None:
    run = ExtractionRun.objects.get()
    person = {"source": "person", "verdict": "confirmed"}
    document.records.create(
        project=cast.project, revision=1, run=run, values={"/total": "9.00"}, provenance={"/total": person}
    )
    with pytest.raises(ConflictError) as refused:
        change_document_type(actor=Actor(cast.manager), document=document, document_type=invoice)
    assert refused.value.code == "confirmed"
    document.refresh_from_db()
    assert document.document_type == cast.document_type


def test_what_another_engine_said_of_it_as_its_old_type_is_not_taken_for_values_of_the_new_one(
    cast: Cast, document: Document, invoice: DocumentType
) -> None:
    claims = [{"field_path": "/total", "value": "9.00", "confidence": 0.9}]
    ForeignReading.objects.create(document=document, engine_version=factories.make_engine_version(), fields=claims)
    change_document_type(actor=Actor(cast.manager), document=document, document_type=invoice)
    assert not ForeignReading.objects.get().is_current


def test_whoever_answers_a_second_time_does_not_learn_of_the_first(cast: Cast, invoice: DocumentType) -> None:
    draw_all(cast)
    task = make_first_task(cast)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    second = factories.make_member(cast.project, Role.REVIEWER)
    lease_task(actor=Actor(second), task=look_at(task, TaskKind.SECOND_REVIEW))
    codes = []
    for person in (second, cast.manager):
        with pytest.raises(ConflictError) as refused:
            change_document_type(actor=Actor(person), document=task.document, document_type=invoice)
        codes.append(refused.value.code)
    assert codes == ["conflict", "confirmed"]


def test_what_was_moved_in_the_meantime_is_looked_at_again(
    cast: Cast, document: Document, invoice: DocumentType
) -> None:
    seen = Document.objects.get(pk=document.pk)
    memo = factories.make_document_type(cast.project, "memo")
    Document.objects.filter(pk=document.pk).update(document_type=memo)
    with pytest.raises(ConflictError):
        change_document_type(actor=SYSTEM, document=seen, document_type=invoice)
    assert Document.objects.get().document_type == memo


def test_what_was_stored_unseen_is_no_record_of_its_new_type(cast: Cast, invoice: DocumentType) -> None:
    record = add_record(cast.document_type)
    change_document_type(actor=SYSTEM, document=record.document, document_type=invoice)
    assert list(records_for(cast.project)) == []
    assert current_record(record.document) is None
    assert list(record_history(record.document)) == [record]


def test_copies_go_with_it_and_a_copy_moves_the_first(cast: Cast, document: Document, invoice: DocumentType) -> None:
    copy = factories.make_document(cast.document_type, duplicate_of=document, status="review")
    assert change_document_type(actor=SYSTEM, document=copy, document_type=invoice) == document
    copy.refresh_from_db()
    assert (copy.document_type, copy.status, copy.duplicate_of) == (invoice, "received", document)


def test_a_file_is_not_there_twice_under_one_type(cast: Cast, document: Document, invoice: DocumentType) -> None:
    factories.make_document(invoice, sha256=document.sha256)
    with pytest.raises(ConflictError) as refused:
        change_document_type(actor=SYSTEM, document=document, document_type=invoice)
    assert refused.value.code == "same_file_there"


@pytest.mark.parametrize("status", ["received", "processing"])
def test_what_is_being_read_waits(cast: Cast, invoice: DocumentType, status: str) -> None:
    document = factories.make_document(cast.document_type, status=status)
    with pytest.raises(ConflictError):
        change_document_type(actor=SYSTEM, document=document, document_type=invoice)


def test_a_type_without_a_schema_or_of_another_project_is_no_type(cast: Cast, document: Document) -> None:
    empty = DocumentType.objects.create(project=cast.project, slug="empty")
    for document_type in (empty, cast.other_document_type):
        with pytest.raises(InvalidInputError):
            change_document_type(actor=SYSTEM, document=document, document_type=document_type)
