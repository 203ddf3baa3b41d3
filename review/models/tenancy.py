"""Who owns data, where work happens, who may do what."""

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a member may do in a project; each role may do what those before it may."""

    VIEWER = "viewer", _("viewer")
    REVIEWER = "reviewer", _("reviewer")
    MANAGER = "manager", _("manager")
    ADMIN = "admin", _("administrator")

    @property
    def rank(self) -> int:
        """Position in the order of rights, 0 for the least."""
        return list(Role).index(self)

    def includes(self, other: "Role") -> bool:
        """Whether this role may do everything that `other` may."""
        return self.rank >= other.rank


class User(AbstractUser):
    """A person who signs in."""

    language = models.CharField(_("language"), max_length=10, blank=True)


class Tenant(models.Model):
    """An organisation. Nothing of one tenant is ever visible to another."""

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=200)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("tenant")
        verbose_name_plural = _("tenants")

    def __str__(self) -> str:
        return self.name


class Project(models.Model):
    """A place where documents of some types are read and reviewed; its slug is unique in the installation.

    Its pages are read by the declared `engine_version` where there is one, else by the engine `engine_name`, else by
    that of the house. `second_review_share` of the submitted reviews get a second, blind one; `seeded_share` of the
    tasks that are given out are preceded by one whose values are known.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="projects", verbose_name=_("tenant"))
    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=200)
    engine_name = models.CharField(_("engine"), max_length=60, blank=True)
    engine_version = models.ForeignKey(
        "EngineVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("engine version"),
    )
    second_review_share = models.FloatField(_("share of second reviews"), default=0)
    seeded_share = models.FloatField(_("share of tasks with known values"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(
                    second_review_share__gte=0, second_review_share__lte=1, seeded_share__gte=0, seeded_share__lte=1
                ),
                name="shares_of_second_looks_in_0_1",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's role in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_project_and_user"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} in {self.project_id}"


class ApiToken(models.Model):
    """A program's key to one project with one role. Only the SHA-256 of the secret is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_tokens")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    name = models.CharField(_("name"), max_length=100, blank=True)
    prefix = models.CharField(_("prefix"), max_length=12)
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return f"{self.prefix}…"
