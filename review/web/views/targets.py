"""How much may be wrong among values stored unseen: targets per field, certificates, and fields turned on again."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from review.actions.targets import draft_from_targets, remove_target, resume_field, set_target
from review.exceptions import ConflictError, InvalidInputError
from review.models import DocumentType, Role
from review.selectors.access import Actor, access_document_type, access_project
from review.selectors.document_types import document_types_for, type_among
from review.selectors.events import position_now
from review.selectors.targets import access_stopped, access_target
from review.web.pages import go_to_usual_type, page, render_in_project
from review.web.policy_view import field_paths
from review.web.targets_view import problem_in_words, target_in, targets_page


@require_safe
@page
def overview(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Go to the document type that is sent now."""
    return go_to_usual_type(request, actor, slug, "type_targets", "pages/targets.html")


@require_http_methods(["GET", "HEAD", "POST"])
@page
def targets(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Show a type's targets; a form sent here sets the target of one field, or removes it."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    types = list(document_types_for(project))
    document_type = type_among(types, type_slug)
    problems: list[str] = []
    if request.method == "POST":
        problems = _change(request, actor, document_type)
        if not problems:
            return redirect("type_targets", slug=slug, type_slug=type_slug)
    context = {
        "view": targets_page(document_type, request.POST if problems else None),
        "problems": problems,
        "document_type": document_type,
        "types": types,
        "position": position,
    }
    return render_in_project(request, actor, project, "pages/targets.html", context, status=400 if problems else 200)


def _change(request: HttpRequest, actor: Actor, document_type: DocumentType) -> list[str]:
    """Do what a form asks for; return what was wrong with it."""
    path = request.POST.get("field_path", "")
    label = next((label for known, label, _cost in field_paths(document_type) if known == path), path)
    try:
        if request.POST.get("act") == "remove":
            remove_target(actor=actor, target=access_target(document_type, path))
            messages.success(request, _("“%(field)s” has no target any more.") % {"field": label})
        else:
            wrong_share, confidence = target_in(request.POST)
            set_target(
                actor=actor,
                document_type=document_type,
                field_path=path,
                wrong_share=wrong_share,
                confidence=confidence,
            )
            told = _("The target of “%(field)s” is set. Its audits are watched from now on.")
            messages.success(request, told % {"field": label})
    except InvalidInputError as error:
        return [problem_in_words(one, label) for one in error.details["problems"]]
    except ConflictError as error:
        return [f"{label}: {error.message}"]
    return []


@require_POST
@page
def draft(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Draft a policy whose limits the examined values carry, and show it."""
    project = access_project(actor, slug, Role.MANAGER)
    document_type = access_document_type(project, type_slug)
    try:
        policy = draft_from_targets(actor=actor, document_type=document_type)
    except ConflictError as error:
        messages.error(request, str(error.message))
        return redirect("type_targets", slug=slug, type_slug=type_slug)
    told = _("Policy %(number)s is saved as a draft. It changes nothing until it is activated.")
    messages.success(request, told % {"number": policy.number})
    return redirect("type_targets", slug=slug, type_slug=type_slug)


@require_POST
@page
def resume(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Turn a stopped field on again."""
    project = access_project(actor, slug, Role.MANAGER)
    document_type = access_document_type(project, type_slug)
    resume_field(actor=actor, monitor=access_stopped(document_type, request.POST.get("field_path", "")))
    messages.success(request, _("The field is stored unseen again where it is sure enough, and watched anew."))
    return redirect("type_targets", slug=slug, type_slug=type_slug)
