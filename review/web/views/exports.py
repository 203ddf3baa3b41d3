"""Exports: asking for one, watching it, fetching it (managers)."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from review.actions.exports import cancel_export, media_type_of, request_export
from review.exceptions import StetError
from review.models import Role, WorkState
from review.selectors.access import Actor, access_export, access_project
from review.selectors.events import position_now
from review.selectors.exports import export_counts, exports_for
from review.web.files import send_file
from review.web.forms import EXPORT_FORMATS, ExportForm
from review.web.pages import page, render_in_project

EXPORTS_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@page
def exports(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """List the exports, newest first, say what a new one (`?since=` a day) would hold, and take its wishes."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    form = ExportForm(request.POST or None, initial={"since": request.GET.get("since", "")})
    if request.method == "POST" and form.is_valid():
        request_export(actor=actor, project=project, format=form.cleaned_data["format"], since=form.since_moment())
        return redirect("exports", slug=slug)
    asked = ExportForm(
        {"format": EXPORT_FORMATS[0][0], "since": request.POST.get("since") or request.GET.get("since", "")}
    )
    context = {
        "exports": exports_for(project)[:EXPORTS_SHOWN],
        "form": form,
        "counts": export_counts(project, since=asked.since_moment() if asked.is_valid() else None),
        "position": position,
    }
    return render_in_project(request, actor, project, "pages/exports.html", context, status=400 if form.errors else 200)


@require_POST
@page
def cancel(request: HttpRequest, actor: Actor, slug: str, export_id: int) -> HttpResponse:
    """Stop an export that is not finished."""
    export = access_export(actor, slug, export_id)
    try:
        cancel_export(actor=actor, export=export)
    except StetError as error:
        messages.error(request, str(error.message))
    if export.snapshot_id is not None:
        return redirect("dataset", slug=slug, snapshot_id=export.snapshot_id)
    return redirect("exports", slug=slug)


@require_safe
@page
def download(request: HttpRequest, actor: Actor, slug: str, export_id: int) -> HttpResponseBase:
    """Send the file of a finished export."""
    export = access_export(actor, slug, export_id)
    if export.state != WorkState.DONE:
        raise Http404
    name = f"{slug}-{export.pk}.{export.extension}"
    return send_file(request, export.file, media_type=media_type_of(export), etag=export.sha256, filename=name)
