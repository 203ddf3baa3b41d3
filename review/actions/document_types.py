"""A person says what a document is: it moves to that type and is read again under it, or stays what it was called."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._documents import publish_document
from review.actions._restarting import cancel_task, hold_open_tasks, reset_document
from review.actions._routing import confirmed_record
from review.actions._suggestions import keep_suggestion
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    UNFINISHED_STATUSES,
    Document,
    DocumentType,
    ForeignReading,
    ReviewTask,
    TaskState,
)
from review.selectors.access import Actor
from review.selectors.blindness import is_withheld
from review.selectors.documents import copies_of


def change_document_type(*, actor: Actor, document: Document, document_type: DocumentType) -> Document:
    """Move a document to another type of its project and read it again under that type's schema; return it.

    Its copies go with it. The earlier run and what was saved in a task are kept; a record that was stored unseen no
    longer counts. To name the type that it has says that the type is right: the suggestion of another one goes, nothing
    else happens. Raise InvalidInputError for a type without a schema or of another project; ConflictError while the
    document is being read, while another person has begun on it, where a person has confirmed values of it
    ("confirmed": they are values of its type; whoever must not know that is not told), and where the type has the same
    file already ("same_file_there").
    """
    document = document.duplicate_of or document
    if document_type.project_id != document.project_id or document_type.active_version_id is None:
        raise InvalidInputError.at("/document_type", _("This document type has no schema yet. Publish one first."))
    with transaction.atomic(durable=True):
        # The rows that intake waits on, in one order: no copy joins, here or there, while the document moves.
        ids = sorted({document.document_type_id, document_type.pk})
        list(DocumentType.objects.select_for_update(no_key=True).only("pk").filter(pk__in=ids).order_by("pk"))
        hold_open_tasks(document.pk)
        document = Document.objects.select_for_update(no_key=True).get(pk=document.pk)
        if document.document_type_id not in ids:
            # Moved in the meantime, to a type whose intake is not held up here.
            raise ConflictError
        before = DocumentType.objects.get(pk=document.document_type_id)
        if before.pk == document_type.pk:
            keep_suggestion(document, None)
            record_audit(actor, "document.type_kept", document, project=document.project_id)
            publish_document(document, "document.type_kept")
            return document
        _refuse(actor, document, document_type)
        for task in ReviewTask.objects.filter(document=document, state=TaskState.OPEN):
            cancel_task(task, actor.user)
        ForeignReading.objects.filter(document=document).update(is_current=False)
        # What was stored unseen are fields of the type that it had: no record of this one.
        document.records.filter(is_current=True).update(is_current=False)
        document.document_type = document_type
        document.save(update_fields=["document_type"])
        document.duplicates.update(document_type=document_type)
        keep_suggestion(document, None)
        reset_document(document)
        detail = {"from": before.slug, "to": document_type.slug}
        record_audit(actor, "document.type_changed", document, project=document.project_id, detail=detail)
    return document


def _refuse(actor: Actor, document: Document, document_type: DocumentType) -> None:
    if document.status in UNFINISHED_STATUSES:
        raise ConflictError(_("This document is being read already. Wait until it is done."))
    if confirmed_record(document) is not None:
        if is_withheld(document, actor.user):
            # Whoever answers a second time does not know that there was a first.
            raise ConflictError(_("You cannot move this document. Skip its task and say which type it is of."))
        message = _(
            "People have confirmed values of this document under its type. Nothing of that is changed: send the file "
            "again as the other type."
        )
        raise ConflictError(message, code="confirmed")
    copies = copies_of(document.project, document.sha256).exclude(pk=document.pk)
    if copies.filter(document_type=document_type).exists():
        raise ConflictError(_("The project has this file as that type already."), code="same_file_there")
