"""What the frame of every page needs to know of its viewer, in one query."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from review.models import Membership, Project, Role, User
from review.selectors.learning import learned_by_itself
from review.selectors.targets import targets_left_behind, tripped_monitors


@dataclass(frozen=True, slots=True)
class Frame:
    """The viewer's role in the project, VIEWER for a stranger, and all projects that the viewer may switch to, by name.

    `has_stopped_fields`: a monitor has stopped a field of the project. `has_learned`: something was learned by itself
    and waits for somebody to look at it. `has_left_behind`: a target is certified of an earlier version than reads now.
    """

    role: Role
    projects: tuple[Project, ...]
    has_stopped_fields: bool
    has_learned: bool
    has_left_behind: bool


def frame_for(user: User, project: Project) -> Frame:
    """Return what the frame around a page of the project shows to the user."""
    stopped = tripped_monitors().filter(document_type__project=OuterRef("project"))
    learned = learned_by_itself().filter(project=OuterRef("project"))
    behind = targets_left_behind().filter(document_type__project=OuterRef("project"))
    memberships = list(
        Membership.objects.filter(user=user)
        .select_related("project")
        .annotate(has_stopped_fields=Exists(stopped), has_learned=Exists(learned), has_left_behind=Exists(behind))
        .order_by("project__name")
    )
    here = next((one for one in memberships if one.project_id == project.pk), None)
    return Frame(
        role=Role(here.role) if here is not None else Role.VIEWER,
        projects=tuple(one.project for one in memberships),
        has_stopped_fields=here is not None and here.has_stopped_fields,
        has_learned=here is not None and here.has_learned,
        has_left_behind=here is not None and here.has_left_behind,
    )
