"""How well reviewers work, and how often somebody looks again (managers)."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from review.actions.second_looks import set_second_look_shares
from review.models import Role
from review.selectors.access import Actor, access_project
from review.web.csv_files import csv_file
from review.web.forms import SecondLooksForm
from review.web.pages import page, render_in_project
from review.web.reviewers_view import PLAIN_COLUMNS, plain_rows, reviewers_view


@require_http_methods(["GET", "HEAD", "POST"])
@page
def reviewers(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show each reviewer's error rate with its interval; set the shares of second reviews and of known documents.

    `?format=csv` is the table as a file.
    """
    project = access_project(actor, slug, Role.MANAGER)
    form = SecondLooksForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        set_second_look_shares(actor=actor, project=project, **form.shares())
        messages.success(request, _("Saved. It holds for what is submitted and given out from now on."))
        return redirect("reviewers", slug=slug)
    shown = reviewers_view(project)
    if request.method != "POST" and request.GET.get("format") == "csv":
        return csv_file(f"{slug}-reviewers", PLAIN_COLUMNS, plain_rows(shown.page))
    context = {"view": shown, "form": form}
    return render_in_project(
        request, actor, project, "pages/reviewers.html", context, status=400 if form.errors else 200
    )
