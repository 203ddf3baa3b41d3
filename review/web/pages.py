"""What every page of a project has in common: who asks, what is shown when it may not be, the frame around it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from review.exceptions import ForbiddenError, NotFoundError
from review.models import Project, Role, User
from review.selectors.access import Actor, access_project
from review.selectors.document_types import usual_type
from review.selectors.frame import frame_for
from review.selectors.learning import learned_in
from review.selectors.targets import left_behind_in, stopped_in

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


def page(view: Callable[Concatenate[HttpRequest, Actor, P], R]) -> Callable[Concatenate[HttpRequest, P], R]:
    """Let only signed-in people in and give the view its actor; missing and forbidden things become plain pages."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return view(request, actor_of(request), *args, **kwargs)
        except NotFoundError:
            raise Http404 from None
        except ForbiddenError:
            raise PermissionDenied from None

    return cast("Callable[Concatenate[HttpRequest, P], R]", guarded)


def actor_of(request: HttpRequest) -> Actor:
    """Return the signed-in user as whoever acts."""
    return Actor(cast("User", request.user))


def go_to_usual_type(request: HttpRequest, actor: Actor, slug: str, route: str, template: str) -> HttpResponse:
    """Send a manager on to the page `route` of the type that is sent now; `template` says that there are no types."""
    project = access_project(actor, slug, Role.MANAGER)
    usual = usual_type(project)
    if usual is not None:
        return redirect(route, slug=slug, type_slug=usual.slug)
    return render_in_project(request, actor, project, template, {})


def render_in_project(
    request: HttpRequest,
    actor: Actor,
    project: Project,
    template: str,
    context: dict[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a page of a project within its frame: the switcher, the navigation of the actor's role."""
    user = cast("User", actor.user)
    known = frame_for(user, project)
    is_manager = known.role.includes(Role.MANAGER)
    is_reviewer = known.role.includes(Role.REVIEWER)
    frame = {
        "n_waiting": known.n_waiting,
        "project": project,
        "projects": known.projects,
        "is_reviewer": is_reviewer,
        "is_manager": is_manager,
        "is_admin": known.role.includes(Role.ADMIN),
        # Looked up where there are any: hardly ever.
        "stopped_fields": stopped_in(project) if is_manager and known.has_stopped_fields else (),
        "left_behind": left_behind_in(project) if is_manager and known.has_left_behind else (),
        "learned_by_itself": learned_in(project) if is_manager and known.has_learned else (),
    }
    return render(request, template, frame | context, status=status)
