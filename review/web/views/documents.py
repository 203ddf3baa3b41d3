"""The documents of a project: the list, its rows as they move, and sending files."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from review.actions.intake import ReceivedDocument, receive_document
from review.exceptions import RefusedFileError, StetError, StorageFullError
from review.models import Document, Project, Role
from review.selectors.access import Actor, access_document_type, access_project
from review.selectors.document_types import document_types_for
from review.selectors.documents import documents_for, filter_by_look, filter_by_status, shown_status
from review.selectors.events import position_now
from review.selectors.review_tasks import queue_summary
from review.selectors.workers import worker_summary
from review.web.forms import FilterForm
from review.web.pages import page, render_in_project

PAGE_SIZE = 50
MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list. `is_match` is false for a document that has left the filter since it was listed."""

    document: Document
    status: str
    is_match: bool = True


@require_safe
@page
def documents(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """List the documents, newest first, a page at a time from `?before=<id>`."""
    # Read first: an event between this and the list is then sent again, not lost.
    position = position_now()
    project = access_project(actor, slug)
    types = list(document_types_for(project))
    filters = FilterForm(request.GET, document_types=types)
    workers = worker_summary()
    chosen = _filtered(project, filters)
    before = _id_in(request.GET.get("before", ""))
    # One more than is shown tells whether there is an older page.
    found = list((chosen.filter(pk__lt=before) if before else chosen)[: PAGE_SIZE + 1])
    context = {
        "rows": [Row(one, shown_status(one, workers=workers)) for one in found[:PAGE_SIZE]],
        "older_than": found[PAGE_SIZE - 1].pk if len(found) > PAGE_SIZE else None,
        "is_first_page": not before,
        "is_filtered": any(filters.cleaned_data.values()) if filters.is_valid() else False,
        "filters": filters,
        "document_types": types,
        # Whoever sends more, mostly sends more of the same.
        "usual_type_id": found[0].document_type_id if found else None,
        "workers": workers,
        "standstill": next((what for one in types if (what := workers.standstill(one.pk))), ""),
        "queue": queue_summary(project),
        "position": position,
    }
    return render_in_project(request, actor, project, "pages/documents.html", context)


@require_safe
@page
def document_rows(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Return the rows of `?ids=1,2,3` and the queue as they stand now, for a list that is open."""
    project = access_project(actor, slug)
    ids = [number for part in request.GET.get("ids", "").split(",")[:MAX_ROWS] if (number := _id_in(part))]
    workers = worker_summary()
    matching = set(_filtered(project, _filters(request, project)).filter(pk__in=ids).values_list("pk", flat=True))
    rows = [
        Row(one, shown_status(one, workers=workers), one.pk in matching)
        for one in documents_for(project).filter(pk__in=ids)
    ]
    context = {"project": project, "rows": rows, "queue": queue_summary(project)}
    return render(request, "partials/document_updates.html", context)


@require_POST
@page
def upload(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Accept files: one at a time as JSON for the page's script, any number for a browser without scripts."""
    project = access_project(actor, slug, Role.REVIEWER)
    document_type = access_document_type(project, request.POST.get("document_type", ""))
    files = request.FILES.getlist("files")
    wants_json = request.accepts("application/json") and not request.accepts("text/html")
    for file in files:
        try:
            received = receive_document(
                actor=actor, project=project, document_type=document_type, file=file, filename=file.name or ""
            )
        except (RefusedFileError, StorageFullError) as error:
            if wants_json:
                return _refusal(error)
            messages.error(request, f"{file.name}: {error.message}")
        else:
            if wants_json:
                return JsonResponse(_answer(slug, received), status=201)
            _tell(request, file, received)
    if wants_json:
        return JsonResponse({"message": _nothing_sent()}, status=400)
    if not files:
        messages.error(request, _nothing_sent())
    return redirect("documents", slug=slug)


def _answer(slug: str, received: ReceivedDocument) -> dict[str, object]:
    document = received.document
    original = document.duplicate_of_id or document.pk
    return {
        "id": document.pk,
        "url": reverse("document", args=[slug, document.pk]),
        "is_duplicate": received.is_duplicate,
        "original_url": reverse("document", args=[slug, original]),
        "message": _duplicate_notice() if received.is_duplicate else _("Accepted"),
    }


def _duplicate_notice() -> str:
    return _("The same file was sent before; it is linked, not read again.")


def _nothing_sent() -> str:
    return _("No file was chosen. Choose one or more files, then send them.")


def _refusal(error: StetError) -> JsonResponse:
    status = 507 if isinstance(error, StorageFullError) else 422
    return JsonResponse({"code": error.code, "message": str(error.message)}, status=status)


def _tell(request: HttpRequest, file: "UploadedFile[bytes]", received: ReceivedDocument) -> None:
    if received.is_duplicate:
        messages.info(request, f"{file.name}: {_duplicate_notice()}")
    else:
        messages.success(request, f"{file.name}: {_('Accepted')}")


def _filters(request: HttpRequest, project: Project) -> FilterForm:
    return FilterForm(request.GET, document_types=list(document_types_for(project)))


def _filtered(project: Project, filters: FilterForm) -> QuerySet[Document]:
    """Return the documents that pass the filters; a filter that is no choice is left out."""
    filters.is_valid()
    chosen, found = filters.cleaned_data, documents_for(project)
    if status := chosen.get("status"):
        found = filter_by_status(found, status)
    if band := chosen.get("band"):
        found = found.filter(band=band)
    if type_slug := chosen.get("type"):
        found = found.filter(document_type__slug=type_slug)
    if look := chosen.get("looks"):
        found = filter_by_look(found, look)
    return found


def _id_in(text: str) -> int:
    """Return the id that the text is, 0 for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else 0
