"""Who may do what: projects, members, tokens."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.exceptions import ConflictError, InvalidInputError
from review.models import ApiToken, Membership, Project, ReviewTask, Role, TaskState, Tenant, User
from review.selectors.access import Actor
from review.selectors.tokens import token_digest

SECRET_PREFIX = "stet_"  # noqa: S105 - lets secret scanners recognise a leaked token


def create_tenant(*, actor: Actor, slug: str, name: str) -> Tenant:
    """Create an organisation; raise ConflictError when the slug is taken."""
    with transaction.atomic(durable=True):
        if Tenant.objects.filter(slug=slug).exists():
            raise ConflictError(_("There is already a tenant with this short name. Choose another."))
        tenant = Tenant.objects.create(slug=slug, name=name)
        record_audit(actor, "tenant.created", tenant, project=None)
    return tenant


def create_project(*, actor: Actor, tenant: Tenant, slug: str, name: str) -> Project:
    """Create a project; raise ConflictError when the slug is taken."""
    with transaction.atomic(durable=True):
        if Project.objects.filter(slug=slug).exists():
            raise ConflictError(_("There is already a project with this short name. Choose another."))
        project = Project.objects.create(tenant=tenant, slug=slug, name=name)
        record_audit(actor, "project.created", project, project=project)
    return project


def create_user(*, actor: Actor, username: str, password: str, is_staff: bool = False) -> User:
    """Create a person who may sign in; raise ConflictError when the name is taken.

    `is_staff` opens the admin pages, with all rights on them.
    """
    with transaction.atomic(durable=True):
        if User.objects.filter(username=username).exists():
            raise ConflictError(_("There is already a user of this name. Choose another."))
        user = User.objects.create_user(username, password=password, is_staff=is_staff, is_superuser=is_staff)
        record_audit(actor, "user.created", user, project=None)
    return user


def set_password(*, actor: Actor, user: User, password: str) -> None:
    """Give a user a new password; sessions under the old one end."""
    with transaction.atomic(durable=True):
        user.set_password(password)
        user.save(update_fields=["password"])
        record_audit(actor, "user.password_set", user, project=None)


def add_member(*, actor: Actor, project: Project, user: User, role: Role) -> Membership:
    """Give a user a role in a project, or change the one there is."""
    with transaction.atomic(durable=True):
        membership, is_new = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
        action = "membership.added" if is_new else "membership.changed"
        record_audit(actor, action, membership, project=project, detail={"user": user.pk, "role": role})
    return membership


def remove_member(*, actor: Actor, project: Project, user: User) -> None:
    """Take a user's role in a project away; the user's tokens for it are revoked with it."""
    with transaction.atomic(durable=True):
        membership = Membership.objects.filter(project=project, user=user).first()
        if membership is None:
            return
        record_audit(actor, "membership.removed", membership, project=project, detail={"user": user.pk})
        membership.delete()
        # What was kept for them goes back to everybody.
        ReviewTask.objects.filter(project=project, assignee=user, state=TaskState.OPEN).update(assignee=None)
        ApiToken.objects.filter(project=project, user=user, revoked_at=None).update(revoked_at=timezone.now())


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token and its secret, which is shown this once and kept nowhere."""

    token: ApiToken
    secret: str


def create_token(
    *, actor: Actor, project: Project, user: User, role: Role, name: str = "", expires_at: datetime | None = None
) -> NewToken:
    """Make an API token for one project with one role; raise InvalidInputError for a role beyond the user's own."""
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic(durable=True):
        membership = Membership.objects.filter(project=project, user=user).first()
        if membership is None:
            raise InvalidInputError.at("/user", _("This user is no member of the project. Add the user first."))
        if not Role(membership.role).includes(role):
            raise InvalidInputError.at("/role", _("A token may not do more than its user. Choose a smaller role."))
        token = ApiToken.objects.create(
            project=project,
            user=user,
            role=role,
            name=name,
            prefix=secret[:12],
            digest=token_digest(secret),
            expires_at=expires_at,
        )
        record_audit(actor, "token.created", token, project=project, detail={"user": user.pk, "role": role})
    return NewToken(token, secret)


def revoke_token(*, actor: Actor, token: ApiToken) -> None:
    """End a token for good; revoking it again changes nothing."""
    with transaction.atomic(durable=True):
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record_audit(actor, "token.revoked", token, project=token.project_id)


def note_token_use(*, token: ApiToken) -> None:
    """Remember, at most once a minute, that a token was used. No audit row: every request has one use."""
    with transaction.atomic(durable=True):
        now = timezone.now()
        if token.last_used_at is None or (now - token.last_used_at).total_seconds() > 60:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def set_language(*, user: User, language: str) -> None:
    """Remember the language a person reads Stet in."""
    with transaction.atomic(durable=True):
        User.objects.filter(pk=user.pk).update(language=language)
