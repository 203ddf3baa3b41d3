"""Who belongs to a project."""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from review.exceptions import InvalidInputError, NotFoundError
from review.models import ApiToken, Membership, Project, User


def members_for(project: Project) -> QuerySet[Membership]:
    """Return the memberships of a project with their users, newest first."""
    return Membership.objects.select_related("user").filter(project=project).order_by("-id")


def member_named(project: Project, username: str) -> User:
    """Return a member by user name; raise InvalidInputError at /username, alike for strangers and for nobody.

    So that the members of another project cannot be found by trying names.
    """
    membership = members_for(project).filter(user__username=username).first()
    if membership is None:
        raise InvalidInputError.at("/username", _("No member of this project has this name. Add the user first."))
    return membership.user


def access_token(project: Project, token_id: int) -> ApiToken:
    """Return a token of an accessed project; raise NotFoundError."""
    token = ApiToken.objects.select_related("user").filter(project=project, pk=token_id).first()
    if token is None:
        raise NotFoundError
    return token
