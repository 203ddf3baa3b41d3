"""What the frame of every page needs to know of its viewer, in one query."""

from dataclasses import dataclass

from django.db.models import Case, Exists, OuterRef, When

from review.models import Membership, Project, Role, User
from review.selectors.learning import learned_by_itself
from review.selectors.review_tasks import n_waiting_for
from review.selectors.targets import targets_left_behind, tripped_monitors


@dataclass(frozen=True, slots=True)
class Frame:
    """The viewer's role in the project, VIEWER for a stranger, and all projects that the viewer may switch to, by name.

    `has_stopped_fields`: a monitor has stopped a field of the project. `has_learned`: something was learned by itself
    and waits for somebody to look at it. `has_left_behind`: a target is certified of an earlier version than reads now.
    `n_waiting` counts the open tasks that the viewer may be given, 0 for whoever reviews nothing.
    """

    role: Role
    projects: tuple[Project, ...]
    has_stopped_fields: bool
    has_learned: bool
    has_left_behind: bool
    n_waiting: int


def frame_for(user: User, project: Project) -> Frame:
    """Return what the frame around a page of the project shows to the user."""
    stopped = tripped_monitors().filter(document_type__project=OuterRef("project"))
    learned = learned_by_itself().filter(project=OuterRef("project"))
    behind = targets_left_behind().filter(document_type__project=OuterRef("project"))
    # Counted where it is shown: not in each of the viewer's projects, nor for whoever reviews nothing.
    reviewing = [role for role in Role if role.includes(Role.REVIEWER)]
    waiting = Case(When(project=project, role__in=reviewing, then=n_waiting_for(user)), default=0)
    memberships = list(
        Membership.objects.filter(user=user)
        .select_related("project")
        .annotate(
            has_stopped_fields=Exists(stopped),
            has_learned=Exists(learned),
            has_left_behind=Exists(behind),
            n_waiting=waiting,
        )
        .order_by("project__name")
    )
    here = next((one for one in memberships if one.project_id == project.pk), None)
    return Frame(
        role=Role(here.role) if here is not None else Role.VIEWER,
        projects=tuple(one.project for one in memberships),
        has_stopped_fields=here is not None and here.has_stopped_fields,
        has_learned=here is not None and here.has_learned,
        has_left_behind=here is not None and here.has_left_behind,
        n_waiting=here.n_waiting if here is not None else 0,
    )
