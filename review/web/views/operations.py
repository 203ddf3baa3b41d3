"""How much is done alone, how fast, and what it costs (managers)."""

import math
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from review import words
from review.actions.costs import set_prices
from review.exceptions import InvalidInputError
from review.models import Role
from review.selectors.access import Actor, access_project
from review.selectors.events import position_now
from review.selectors.operations import PRICE_NAMES, Operations
from review.selectors.operations import operations as operations_of
from review.web.csv_files import csv_file
from review.web.pages import page, render_in_project

_DAY_COLUMNS = ["day", "n_documents", "n_pages", "n_auto", "n_sampled", "n_review", "n_selected", "cpu_seconds"]


@require_http_methods(["GET", "HEAD", "POST"])
@page
def operations(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show rates and costs, and keep prices; `?format=days` and `?format=costs` are CSV files."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    problems: list[str] = []
    if request.method == "POST":
        try:
            set_prices(actor=actor, project=project, prices=_prices_in(request.POST))
        except InvalidInputError as error:
            problems = [_in_words(one) for one in error.details["problems"]]
        else:
            messages.success(request, _("The prices are kept."))
            return redirect("operations", slug=slug)
    shown = operations_of(project)
    if request.GET.get("format") == "days":
        rows = [[getattr(day, name) for name in _DAY_COLUMNS] for day in shown.days]
        return csv_file(f"{slug}-days", _DAY_COLUMNS, rows)
    if request.GET.get("format") == "costs":
        parts = [*shown.costs.as_mapping().items(), ("total", shown.costs.total)]
        header = ["part", "cost_per_1000_pages", "currency"]
        return csv_file(f"{slug}-costs", header, [[name, cost, shown.prices.currency] for name, cost in parts])
    context = {
        "operations": shown,
        "parts": list(shown.costs.as_mapping().items()),
        "chart": _chart(shown),
        "prices": [(name, _typed(request.POST, name, shown)) for name in ("currency", *PRICE_NAMES)],
        "problems": problems,
        "position": position,
    }
    status = 400 if problems else 200
    return render_in_project(request, actor, project, "pages/operations.html", context, status=status)


def _chart(shown: Operations) -> dict[str, Any]:
    return {
        "days": [day.day.isoformat() for day in shown.days],
        "bands": [str(words.BAND_NAMES[band]) for band in ("auto", "sampled", "review")],
        "counts": [[day.n_auto, day.n_sampled, day.n_review] for day in shown.days],
    }


def _prices_in(data: QueryDict) -> dict[str, object]:
    prices: dict[str, object] = {"currency": data.get("currency", "").strip()}
    for name in PRICE_NAMES:
        text = data.get(name, "").strip()
        try:
            prices[name] = float(text)
        except ValueError:
            prices[name] = text
    return prices


def _typed(data: QueryDict, name: str, shown: Operations) -> str:
    """Return what stands in the form: what was typed, else the price in force."""
    value = data.get(name) or getattr(shown.prices, name)
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def _in_words(problem: dict[str, str]) -> str:
    name = words.say(words.PRICES, problem["pointer"].strip("/"))
    return f"{name}: {words.say(words.PRICE_PROBLEMS, problem['message'])}"
