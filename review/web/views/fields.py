"""Accuracy of one field: trend and reliability; and what was read wrong, with its crops (managers)."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from review.exceptions import NotFoundError
from review.models import DocumentType, Project, Role
from review.selectors.access import Actor, access_project
from review.selectors.document_types import document_types_for
from review.selectors.errors import ErrorRow, character_confusions, error_rows, newest_checked_type
from review.web.csv_files import csv_file
from review.web.errors_view import shown_errors
from review.web.field_view import field_choices, field_page
from review.web.forms import FieldForm
from review.web.pages import page, render_in_project
from review.web.policy_view import field_paths


@require_safe
@page
def field_accuracy(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show one field over time and by confidence; `?format=trend` and `?format=reliability` are CSV files."""
    project = access_project(actor, slug, Role.MANAGER)
    types = list(document_types_for(project))
    form = FieldForm(request.GET, fields=field_choices(types), has_population=True)
    chosen = form.cleaned_data if form.is_valid() else {}
    document_type, path = _chosen(types, chosen.get("field", "")) or _first(types, project)
    shown = field_page(document_type, path, chosen.get("population", "")) if document_type is not None else None
    if shown is not None and not chosen.get("field"):
        # What is shown without a choice stands in the choice.
        form.data = {**request.GET.dict(), "field": f"{shown.document_type.slug}:{shown.path}"}
    if shown is not None and request.GET.get("format") == "trend":
        rows = [[engine, day, e.point, e.lower, e.upper, e.n] for engine, day, e in shown.points]
        return csv_file(f"{slug}-trend", ["engine", "day", "right", "lower", "upper", "n"], rows)
    if shown is not None and request.GET.get("format") == "reliability":
        rows = [
            [
                row.bucket,
                row.mean_confidence,
                row.accuracy.point,
                row.accuracy.lower,
                row.accuracy.upper,
                row.accuracy.n,
            ]
            for row in shown.reliability
        ]
        header = ["bucket", "mean_confidence", "right", "lower", "upper", "n"]
        return csv_file(f"{slug}-reliability", header, rows)
    return render_in_project(request, actor, project, "pages/field.html", {"field": shown, "form": form})


@require_safe
@page
def errors(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show what was corrected, newest first from `?before=<id>`, and which characters were confused."""
    project = access_project(actor, slug, Role.MANAGER)
    types = list(document_types_for(project))
    form = FieldForm(request.GET, fields=field_choices(types), has_population=False)
    wanted = form.cleaned_data.get("field", "") if form.is_valid() else ""
    document_type, path = _chosen(types, wanted) or (None, "")
    before = request.GET.get("before", "")
    is_id = before.isascii() and before.isdecimal() and len(before) < 19
    rows, has_more = error_rows(
        project, document_type=document_type, field_path=path, before=int(before) if is_id else 0
    )
    confused = character_confusions(project, document_type=document_type, field_path=path)
    if request.GET.get("format") == "csv":
        return csv_file(f"{slug}-errors", _ERROR_COLUMNS, map(_plain, rows))
    if request.GET.get("format") == "confusions":
        plain = [[one.read, one.truth, one.n] for one in confused]
        return csv_file(f"{slug}-confusions", ["read", "truth", "n"], plain)
    context = {
        "rows": shown_errors(rows, types),
        "confusions": confused,
        "form": form,
        "is_filtered": bool(wanted),
        "older_than": rows[-1].review.pk if has_more else None,
        "is_first_page": not is_id,
        "filter_name": dict(field_choices(types)).get(wanted, _("all fields")),
    }
    return render_in_project(request, actor, project, "pages/errors.html", context)


_ERROR_COLUMNS = ["document", "file", "type", "field", "verdict", "read", "truth", "confidence", "at"]


def _plain(row: ErrorRow) -> list[object]:
    one = row.review
    return [
        one.document_id,
        one.document.filename,
        one.document_type.slug,
        one.field_path,
        one.verdict,
        one.predicted_value,
        one.value,
        one.confidence,
        one.created_at.isoformat(),
    ]


def _chosen(types: list[DocumentType], wanted: str) -> tuple[DocumentType | None, str] | None:
    """Return type and path of `type:path`; None where nothing is wanted."""
    slug, colon, path = wanted.partition(":")
    found = next((one for one in types if one.slug == slug), None)
    if colon and found is None:
        raise NotFoundError
    return (found, path) if found is not None else None


def _first(types: list[DocumentType], project: Project) -> tuple[DocumentType | None, str]:
    """Return the field to begin with: of the type that was checked last, the first of those whose errors cost most."""
    checked = newest_checked_type(project)
    costs = [(cost, one, path) for one in types if one.pk == checked for path, _label, cost in field_paths(one)]
    costs = costs or [(cost, one, path) for one in types for path, _label, cost in field_paths(one)]
    best = max(costs, key=lambda found: found[0], default=None)
    return (best[1], best[2]) if best is not None else (None, "")
