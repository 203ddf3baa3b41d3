"""Where a person begins."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from review.selectors.access import Actor, projects_for
from review.web.pages import page


@page
def home(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Show the projects; whoever has just one goes straight to it."""
    projects = list(projects_for(actor).select_related("tenant"))
    if len(projects) == 1:
        return redirect("documents", slug=projects[0].slug)
    return render(request, "pages/home.html", {"projects": projects})
