"""The review queue: what waits and why, who holds what, and what managers do about it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from review.actions.queue import assign_tasks, prioritise_tasks, release_tasks
from review.exceptions import InvalidInputError
from review.models import Project, Role
from review.selectors.access import Actor, access_project
from review.selectors.document_types import document_types_for
from review.selectors.events import position_now
from review.selectors.members import member_named
from review.selectors.queue import QueueFilter, queue_figures, queue_rows, reviewers_of
from review.web.forms import QueueForm
from review.web.pages import page, render_in_project


@require_safe
@page
def queue(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show what waits for people, a page at a time from `?after=<priority>:<id>`."""
    position = position_now()
    project = access_project(actor, slug, Role.REVIEWER)
    figures = queue_figures(project)
    types = list(document_types_for(project))
    form = QueueForm(request.GET, document_types=types, reasons=[reason for reason, _n in figures.by_reason])
    chosen = form.cleaned_data if form.is_valid() else {}
    wanted = QueueFilter(
        document_type=next((one for one in types if one.slug == chosen.get("type")), None),
        reason=chosen.get("reason", ""),
        age=chosen.get("age", ""),
        holding=chosen.get("holding", ""),
        after=_key_in(request.GET.get("after", "")),
    )
    rows, has_more = queue_rows(project, wanted)
    context = {
        "figures": figures,
        "rows": rows,
        "next_after": rows[-1].key if has_more else "",
        "is_first_page": wanted.after is None,
        "filters": form,
        "is_filtered": any(chosen.values()),
        "reviewers": reviewers_of(project),
        "position": position,
    }
    return render_in_project(request, actor, project, "pages/queue.html", context)


@require_POST
@page
def change_queue(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Do one thing with the chosen tasks (managers)."""
    project = access_project(actor, slug, Role.MANAGER)
    task_ids = [int(one) for one in request.POST.getlist("task") if one.isascii() and one.isdecimal() and len(one) < 19]
    if not task_ids:
        messages.warning(request, _("No task was chosen. Tick the ones you mean, then choose what to do."))
    else:
        try:
            n = _act(actor, project, request.POST, task_ids)
        except InvalidInputError as error:
            messages.error(request, str(error.details["problems"][0]["message"]))
        else:
            messages.success(request, ngettext("%(n)d task changed.", "%(n)d tasks changed.", n) % {"n": n})
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_ours and back.startswith("/") else reverse("queue", args=[slug]))


def _act(actor: Actor, project: Project, wishes: QueryDict, task_ids: list[int]) -> int:
    match wishes.get("act", ""):
        case "release":
            return release_tasks(actor=actor, project=project, task_ids=task_ids)
        case "prioritise":
            priority = _number_in(wishes.get("priority", ""))
            return prioritise_tasks(actor=actor, project=project, task_ids=task_ids, priority=priority)
        case "assign":
            reviewer = member_named(project, wishes.get("reviewer", ""))
            return assign_tasks(actor=actor, project=project, task_ids=task_ids, reviewer=reviewer)
    raise InvalidInputError.at("/act", _("Choose what to do with the tasks."))


def _number_in(text: str) -> int:
    """Return the whole number that the text is; any other text is a number that is refused."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 9 else 10**9


def _key_in(text: str) -> tuple[int, int] | None:
    """Return the key of a row, `priority:id`; None for any other text."""
    priority, colon, task_id = text.partition(":")
    digits = priority.removeprefix("-")
    is_key = colon and all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (digits, task_id))
    return (int(priority), int(task_id)) if is_key else None
