"""What is learned from reviewers: models and what they changed, trainings with progress, started and cancelled here."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from review.actions.training import cancel_training, request_training
from review.exceptions import ConflictError, NotFoundError
from review.models import ModelKind, Role
from review.selectors.access import Actor, access_document_type, access_project
from review.selectors.events import position_now
from review.selectors.training import access_training_run
from review.web.csv_files import csv_file
from review.web.learning_view import COLUMNS, learning_page
from review.web.pages import page, render_in_project
from review.web.rollouts_view import DEFAULT_SHARES


@require_safe
@page
def learning(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show what was learned, and the trainings; `?format=csv` is the table of figures as a file."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    shown = learning_page(project)
    if request.GET.get("format") == "csv":
        return csv_file(f"{slug}-learning", COLUMNS, shown.plain())
    context = {
        "view": shown,
        "types": shown.types,
        "shares": DEFAULT_SHARES,
        "position": position,
    }
    return render_in_project(request, actor, project, "pages/learning.html", context)


@require_POST
@page
def start(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Start a training now."""
    project = access_project(actor, slug, Role.MANAGER)
    kind = request.POST.get("kind", "")
    if kind not in ModelKind.values:
        raise NotFoundError
    document_type = None
    if kind != ModelKind.CLASSIFIER:
        document_type = access_document_type(project, request.POST.get("type", ""))
    try:
        request_training(actor=actor, project=project, document_type=document_type, kind=ModelKind(kind))
        messages.success(request, _("The training is in the queue; the next free worker takes it."))
    except ConflictError as error:
        messages.error(request, str(error.message))
    return redirect("learning", slug=slug)


@require_POST
@page
def cancel(request: HttpRequest, actor: Actor, slug: str, run_id: int) -> HttpResponse:
    """Stop a training that is not finished."""
    run = access_training_run(access_project(actor, slug, Role.MANAGER), run_id)
    try:
        cancel_training(actor=actor, run=run)
    except ConflictError as error:
        messages.error(request, str(error.message))
    return redirect("learning", slug=slug)
