"""How sure is sure enough: thresholds of a document type, what others would have done, drafts, history (managers)."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from review.actions.directing import draft_directed_audits
from review.actions.policies import activate_policy, draft_policy
from review.exceptions import ConflictError, InvalidInputError
from review.models import DocumentType, Project, Role
from review.selectors.access import Actor, access_document_type, access_project
from review.selectors.document_types import access_policy, document_types_for, policies_of, type_among
from review.selectors.events import position_now
from review.selectors.what_if import routed_documents
from review.web.csv_files import csv_file
from review.web.pages import go_to_usual_type, page, render_in_project
from review.web.policy_view import field_paths, policy_page, problem_in_words, rules_in

POLICIES_SHOWN = 50
_COLUMNS = ["field", "which", "auto", "sampled", "review", "wrong", "lower", "upper", "n", "looked_at"]


@require_safe
@page
def policies(request: HttpRequest, actor: Actor, slug: str) -> HttpResponse:
    """Go to the document type that is sent now."""
    return go_to_usual_type(request, actor, slug, "policy", "pages/policies.html")


@require_http_methods(["GET", "HEAD", "POST"])
@page
def policy(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Show a type's policy; a form sent here is estimated, or saved as a draft when its button says so."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    types = list(document_types_for(project))
    document_type = type_among(types, type_slug)
    wished = None
    if request.method == "POST":
        wished = rules_in(request.POST, [path for path, _label, _cost in field_paths(document_type)])
    elif (number := request.GET.get("from", "")).isdecimal() and len(number) < 9:
        wished = {
            key: value
            for key, value in access_policy(document_type, int(number)).rules.items()
            if key not in ("salt", "directed")
        }
    routed = routed_documents(document_type)
    history = list(policies_of(document_type)[:POLICIES_SHOWN])
    problems: list[str] = []
    try:
        shown = policy_page(document_type, routed, wished, history)
    except InvalidInputError as error:
        problems = [problem_in_words(one, document_type) for one in error.details["problems"]]
        shown = policy_page(document_type, routed, None, history)
    if request.POST.get("act") == "draft" and not problems:
        return _save(request, actor, project, document_type, dict(shown.rules))
    if request.GET.get("format") == "csv":
        return csv_file(f"{slug}-{type_slug}-policy", _COLUMNS, shown.plain())
    context = {
        "policy": shown,
        "problems": problems,
        "document_type": document_type,
        "types": types,
        "position": position,
        "history": history,
        "labels": {path: label for path, label, _cost in field_paths(document_type)},
    }
    status = 400 if problems else 200
    return render_in_project(request, actor, project, "pages/policies.html", context, status=status)


@require_POST
@page
def activate(request: HttpRequest, actor: Actor, slug: str, type_slug: str, number: int) -> HttpResponse:
    """Put a draft, or an earlier policy again, in force."""
    project = access_project(actor, slug, Role.MANAGER)
    chosen = access_policy(access_document_type(project, type_slug), number)
    activate_policy(actor=actor, policy=chosen)
    told = _("Policy %(number)s is in force for every document that is routed from now on.")
    messages.success(request, told % {"number": number})
    return redirect("policy", slug=slug, type_slug=type_slug)


@require_POST
@page
def direct(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Draft the policy in force with its checks directed, or everywhere alike again."""
    document_type = access_document_type(access_project(actor, slug, Role.MANAGER), type_slug)
    try:
        share = _floor_share(request.POST.get("floor", "")) if request.POST.get("act") == "direct" else None
        draft = draft_directed_audits(actor=actor, document_type=document_type, floor_share=share)
        told = _("Policy %(number)s is saved as a draft. It changes nothing until it is activated.")
        messages.success(request, told % {"number": draft.number})
    except InvalidInputError as error:
        messages.error(request, str(error.details["problems"][0]["message"]))
    except ConflictError as error:
        messages.error(request, str(error.message))
    return redirect("policy", slug=slug, type_slug=type_slug)


def _floor_share(text: str) -> float:
    """Return the share that a text in percent is, 0 where it is no number: that is refused as too little."""
    try:
        return round(float(text) / 100, 10)
    except ValueError:
        return 0.0


def _save(
    request: HttpRequest, actor: Actor, project: Project, document_type: DocumentType, rules: dict[str, object]
) -> HttpResponse:
    draft = draft_policy(actor=actor, document_type=document_type, rules=rules)
    told = _("Policy %(number)s is saved as a draft. It changes nothing until it is activated.")
    messages.success(request, told % {"number": draft.number})
    return redirect("policy", slug=project.slug, type_slug=document_type.slug)
