"""API tokens of a project (administrators)."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from review.actions.tenancy import NewToken, create_token, revoke_token
from review.exceptions import InvalidInputError
from review.models import Project, Role
from review.selectors.access import Actor, access_project
from review.selectors.members import access_token, member_named, members_for
from review.selectors.tokens import tokens_for
from review.web.forms import TokenForm
from review.web.pages import page, render_in_project


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@page
def tokens(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """List the tokens and make new ones; a secret is shown in the answer that made it and never again."""
    project = access_project(actor, slug, Role.ADMIN)
    form = TokenForm(request.POST or None, members=list(members_for(project)))
    made = _create(actor, project, form) if request.method == "POST" and form.is_valid() else None
    context = {
        "tokens": tokens_for(project),
        "form": TokenForm(None, members=form.members) if made else form,
        "made": made,
    }
    return render_in_project(request, actor, project, "pages/tokens.html", context, status=400 if form.errors else 200)


@require_POST
@page
def revoke(request: HttpRequest, actor: Actor, slug: str, token_id: int) -> HttpResponse:
    """End a token."""
    project = access_project(actor, slug, Role.ADMIN)
    revoke_token(actor=actor, token=access_token(project, token_id))
    messages.success(request, _("The token is revoked. Programs that use it are refused from now on."))
    return redirect("tokens", slug=slug)


def _create(actor: Actor, project: Project, form: TokenForm) -> NewToken | None:
    chosen = form.cleaned_data
    try:
        return create_token(
            actor=actor,
            project=project,
            user=member_named(project, chosen["username"]),
            role=Role(chosen["role"]),
            name=chosen["name"],
        )
    except InvalidInputError as error:
        for problem in error.details.get("problems", []):
            form.add_error(problem["pointer"].strip("/"), problem["message"])
        return None
