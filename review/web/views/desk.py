"""The review desk: a shell around one task at a time; the scripts fetch the tasks through the API."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from review import words
from review.models import Role
from review.selectors.access import Actor, access_project
from review.selectors.document_types import document_types_for
from review.selectors.events import position_now
from review.web.desk_texts import desk_texts
from review.web.pages import page, render_in_project


@require_safe
@ensure_csrf_cookie
@page
def desk(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Show the desk (reviewers); `?task=` opens one particular task first."""
    project = access_project(actor, slug, Role.REVIEWER)
    asked = request.GET.get("task", "")
    settings = {
        "api": reverse("api:review_tasks", kwargs={"project": slug}),
        "documents_api": reverse("api:documents", kwargs={"project": slug}),
        "documents": reverse("documents", kwargs={"slug": slug}),
        "user": actor.user.get_username() if actor.user else "",
        "task": int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 18 else None,
        "texts": desk_texts(),
        "types": [
            {"slug": one.slug, "label": words.label_of(one.labels, one.slug)}
            for one in document_types_for(project)
            if one.active_version_id is not None
        ],
    }
    context = {"settings": settings, "position": position_now()}
    return render_in_project(request, actor, project, "pages/desk.html", context)
