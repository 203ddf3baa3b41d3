"""One document: its pages beside its fields, why it stands where it stands, and what was done to it."""

from functools import partial
from mimetypes import guess_type

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from review.actions.document_types import change_document_type
from review.actions.leasing import release_task_for_manager
from review.actions.reading import rerun_document
from review.exceptions import StetError
from review.models import ReviewTask, Role, TaskKind, TaskState
from review.selectors.access import (
    Actor,
    access_document,
    access_document_in_hand,
    access_document_type,
    access_page,
    access_review_task,
)
from review.selectors.document_types import document_types_for
from review.selectors.documents import DocumentDetail, document_detail
from review.selectors.events import position_now
from review.selectors.raw_answers import raw_answers_of
from review.selectors.review_tasks import holder_at, tasks_for
from review.web.document_view import field_rows, page_views, revisions
from review.web.files import send_file
from review.web.pages import page, render_in_project

DUPLICATES_SHOWN = 20


@require_safe
@page
def document(request: HttpRequest, actor: Actor, slug: str, document_id: int) -> HttpResponse:
    """Show a document."""
    position = position_now()
    found = access_document(actor, slug, document_id)
    detail = document_detail(found, actor.user)
    fields = field_rows(detail)
    task = _task_to_show(detail, actor)
    context = {
        "document": found,
        "detail": detail,
        "fields": fields,
        "pages": page_views(detail),
        "revisions": revisions(list(detail.records), fields, [field.path for field in detail.fields]),
        "task": task,
        "is_in_hand": task is not None and holder_at(task, timezone.now()) == actor.user,
        # Looked up for whoever has asked for them.
        "types": document_types_for(found.project) if "retype" in request.GET else (),
        # Looked up where there are any: the document says so.
        "duplicates": found.duplicates.order_by("pk")[:DUPLICATES_SHOWN],
        "position": position,
        # Looked up when it is shown: to managers.
        "raw_answers": partial(raw_answers_of, found.project_id, detail.run, detail.pages),
    }
    return render_in_project(request, actor, found.project, "pages/document.html", context)


def _task_to_show(detail: DocumentDetail, actor: Actor) -> ReviewTask | None:
    """Return the open task of a document; what one is not told of on the desk is not told here either."""
    waiting = [task for task in detail.tasks if task.state == TaskState.OPEN]
    if all(task.kind == TaskKind.REVIEW for task in waiting):
        return waiting[0] if waiting else None
    document = detail.document
    tasks = tasks_for(document.project, reviewer=actor.user)
    return tasks.filter(document_id=document.duplicate_of_id or document.pk).first()


@require_safe
@page
def original(request: HttpRequest, actor: Actor, slug: str, document_id: int) -> HttpResponseBase:
    """Send the file as it came, byte for byte."""
    found = access_document(actor, slug, document_id)
    return send_file(request, found.original, media_type=found.media_type, etag=found.sha256, filename=found.filename)


@require_safe
@page
def page_image(request: HttpRequest, actor: Actor, slug: str, document_id: int, page_number: int) -> HttpResponseBase:
    """Send the image of one page."""
    found = access_page(actor, slug, document_id, page_number)
    media_type = guess_type(found.image.name or "")[0] or "image/jpeg"
    return send_file(request, found.image, media_type=media_type, etag=found.content_hash)


@require_POST
@page
def rerun(request: HttpRequest, actor: Actor, slug: str, document_id: int) -> HttpResponse:
    """Read the document again (managers); what people decided stays."""
    found = access_document(actor, slug, document_id, Role.MANAGER)
    try:
        # Whoever presses the button has read on this page that it was marked as unusable, and why.
        rerun_document(actor=actor, document=found, is_reopening=True)
    except StetError as error:
        messages.error(request, str(error.message))
    return redirect("document", slug=slug, document_id=document_id)


@require_POST
@page
def change_type(request: HttpRequest, actor: Actor, slug: str, document_id: int) -> HttpResponse:
    """Move the document to a type, or say that its own is right (managers, and who holds its task)."""
    found = access_document_in_hand(actor, slug, document_id)
    document_type = access_document_type(found.project, request.POST.get("document_type", ""))
    try:
        change_document_type(actor=actor, document=found, document_type=document_type)
    except StetError as error:
        messages.error(request, str(error.message))
    return redirect("document", slug=slug, document_id=document_id)


@require_POST
@page
def release(request: HttpRequest, actor: Actor, slug: str, task_id: int) -> HttpResponse:
    """Take a task back from whoever holds it (managers)."""
    task = access_review_task(actor, slug, task_id, Role.MANAGER)
    try:
        release_task_for_manager(actor=actor, task=task)
    except StetError as error:
        messages.error(request, str(error.message))
    return redirect("document", slug=slug, document_id=task.document_id)
