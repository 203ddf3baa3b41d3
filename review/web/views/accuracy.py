"""Can it be trusted, and how much does it do alone (managers)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from review.models import Role
from review.selectors.access import Actor, access_project
from review.selectors.accuracy import rates
from review.web.accuracy_view import accuracy_page
from review.web.csv_files import csv_file
from review.web.pages import page, render_in_project


@require_safe
@page
def accuracy(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show accuracy per field with intervals, and the rates of the last days; `?format=csv` is the table as a file."""
    project = access_project(actor, slug, Role.MANAGER)
    shown = accuracy_page(project)
    if request.GET.get("format") == "csv":
        header = ["type", "field", "population", "bucket", "right", "lower", "upper", "n"]
        return csv_file(f"{slug}-accuracy", header, shown.plain())
    context = {"accuracy": shown, "rates": rates(project)}
    return render_in_project(request, actor, project, "pages/accuracy.html", context)
