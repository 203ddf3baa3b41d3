"""Data sets: taking a snapshot, watching it, and writing it for trainers (managers)."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from review.actions.exports import request_snapshot_export
from review.actions.snapshots import cancel_snapshot, request_snapshot
from review.exceptions import StetError
from review.models import Role, Split, WorkState
from review.selectors.access import Actor, access_project, access_snapshot
from review.selectors.events import position_now
from review.selectors.exports import export_counts
from review.selectors.snapshots import exports_of, snapshots_for
from review.web.forms import SnapshotExportForm, SnapshotForm
from review.web.pages import page, render_in_project

SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@page
def datasets(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """List the snapshots, newest first, say what a new one would hold, and take its wishes."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    form = SnapshotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        wishes = form.cleaned_data
        snapshot = request_snapshot(
            actor=actor,
            project=project,
            holding=wishes["holding"],
            personal=wishes["personal"],
            seed=wishes["seed"],
            validation_share=wishes["validation"] / 100,
            test_share=wishes["test"] / 100,
        )
        return redirect("dataset", slug=slug, snapshot_id=snapshot.pk)
    context = {
        "snapshots": snapshots_for(project)[:SHOWN],
        "form": form,
        "counts": export_counts(project),
        "position": position,
    }
    return render_in_project(
        request, actor, project, "pages/datasets.html", context, status=400 if form.errors else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
@page
def dataset(request: HttpRequest, actor: Actor, slug: str, snapshot_id: int) -> HttpResponse:
    """Say what a snapshot holds and what was left out, list its archives, and take the wish for another."""
    position = position_now()
    snapshot = access_snapshot(actor, slug, snapshot_id)
    form = SnapshotExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            request_snapshot_export(actor=actor, snapshot=snapshot, **form.cleaned_data)
        except StetError as error:
            messages.error(request, str(error.message))
        return redirect("dataset", slug=slug, snapshot_id=snapshot_id)
    context = {
        "snapshot": snapshot,
        "is_taken": snapshot.state == WorkState.DONE,
        "sides": [(Split(name).label, side) for name, side in snapshot.manifest["split"]["sides"].items()]
        if snapshot.manifest
        else [],
        "exports": exports_of(snapshot)[:SHOWN],
        "form": form,
        "position": position,
    }
    status = 400 if form.errors else 200
    return render_in_project(request, actor, snapshot.project, "pages/dataset.html", context, status=status)


@require_POST
@page
def cancel(request: HttpRequest, actor: Actor, slug: str, snapshot_id: int) -> HttpResponse:
    """Stop a snapshot that is not taken."""
    snapshot = access_snapshot(actor, slug, snapshot_id)
    try:
        cancel_snapshot(actor=actor, snapshot=snapshot)
    except StetError as error:
        messages.error(request, str(error.message))
    return redirect("datasets", slug=slug)
