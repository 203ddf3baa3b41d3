"""Roll-outs of a document type: champion and challenger side by side, start, promote, roll back (managers)."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from review.actions.rollouts import NEXT_STAGE, promote_rollout, roll_back, start_rollout
from review.exceptions import ConflictError, InvalidInputError
from review.models import DocumentType, Role, Rollout, RolloutStage
from review.selectors.access import Actor, access_document_type, access_project
from review.selectors.document_types import document_types_for, type_among
from review.selectors.engines import access_engine_version
from review.selectors.events import position_now
from review.selectors.rollouts import (
    access_rollout,
    champion_of,
    reads_without_rollout,
    rollouts_of,
    stand_in_of,
    versions_to_roll_out,
)
from review.web.pages import page, render_in_project
from review.web.rollouts_view import DEFAULT_SHARES, chosen, problems_of, rollout_page, shares_in

ROLLOUTS_SHOWN = 50


@require_safe
@page
def rollouts(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Show the roll-out that is on its way, or the one of `?rollout=<id>`, and all there were."""
    position = position_now()
    project = access_project(actor, slug, Role.MANAGER)
    types = list(document_types_for(project))
    document_type = type_among(types, type_slug)
    history = list(rollouts_of(document_type)[:ROLLOUTS_SHOWN])
    live = _live_among(history, document_type)
    champion = live.engine_version if live is not None else reads_without_rollout(document_type)
    shown = chosen(history, request.GET.get("rollout", ""))
    before = request.GET.get("before", "")
    is_id = before.isascii() and before.isdecimal() and len(before) < 19
    is_busy = any(one.stage in (RolloutStage.SHADOW, RolloutStage.CANARY) for one in history)
    below = int(before) if is_id else 0
    view = rollout_page(shown, document_type, champion, before=below) if shown is not None else None
    context = {
        "view": view,
        "next_stage": NEXT_STAGE[RolloutStage(shown.stage)].label if view and view.is_on_its_way and shown else "",
        "champion": champion,
        "stand_in": stand_in_of(document_type, live) if live is not None else None,
        "is_first_page": not is_id,
        "is_busy": is_busy,
        "history": history,
        "versions": [] if is_busy else versions_to_roll_out(document_type, champion),
        "shares": DEFAULT_SHARES,
        "document_type": document_type,
        "types": types,
        "position": position,
    }
    return render_in_project(request, actor, project, "pages/rollouts.html", context)


def _live_among(history: list[Rollout], document_type: DocumentType) -> Rollout | None:
    """Return the live roll-out of the type; it is looked up only where it may be older than what is at hand."""
    live = next((one for one in history if one.stage == RolloutStage.LIVE), None)
    if live is not None or len(history) < ROLLOUTS_SHOWN:
        return live
    return rollouts_of(document_type).filter(stage=RolloutStage.LIVE).first()


@require_POST
@page
def start(request: HttpRequest, actor: Actor, slug: str, type_slug: str) -> HttpResponse:
    """Let a version read beside who reads now."""
    document_type = access_document_type(access_project(actor, slug, Role.MANAGER), type_slug)

    def act() -> str:
        known = {str(one.pk) for one in versions_to_roll_out(document_type, champion_of(document_type))}
        wished = request.POST.get("engine_version", "")
        if wished not in known:
            raise InvalidInputError.at("/engine_version", _("Choose one of the versions of the list."))
        version = access_engine_version(wished)
        start_rollout(actor=actor, document_type=document_type, engine_version=version, **shares_in(request.POST))
        return _("%(version)s reads in the shadow of who reads now; both are being compared.") % {"version": version}

    return _done(request, act, slug, type_slug)


@require_POST
@page
def promote(request: HttpRequest, actor: Actor, slug: str, type_slug: str, rollout_id: int) -> HttpResponse:
    """Take a roll-out one stage on, if the gate lets it."""
    document_type = access_document_type(access_project(actor, slug, Role.MANAGER), type_slug)
    rollout = access_rollout(document_type, rollout_id)

    def act() -> str:
        moved = promote_rollout(actor=actor, rollout=rollout)
        stage = RolloutStage(moved.stage).label
        return _("%(version)s is in the stage “%(stage)s” now.") % {"version": moved.engine_version, "stage": stage}

    return _done(request, act, slug, type_slug)


@require_POST
@page
def end(request: HttpRequest, actor: Actor, slug: str, type_slug: str, rollout_id: int) -> HttpResponse:
    """Roll a version back, with a reason."""
    document_type = access_document_type(access_project(actor, slug, Role.MANAGER), type_slug)
    rollout = access_rollout(document_type, rollout_id)

    def act() -> str:
        roll_back(actor=actor, rollout=rollout, reason=request.POST.get("reason", ""))
        return _("%(version)s is rolled back.") % {"version": rollout.engine_version}

    return _done(request, act, slug, type_slug)


def _done(request: HttpRequest, act: Callable[[], str], slug: str, type_slug: str) -> HttpResponse:
    """Do it, say what came of it, and go back to the page."""
    try:
        messages.success(request, act())
    except InvalidInputError as error:
        messages.error(request, problems_of(error))
    except ConflictError as error:
        messages.error(request, str(error.message))
    return redirect("rollouts", slug=slug, type_slug=type_slug)
