"""The programs that read, frozen, and what they have read."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class EngineVersion(models.Model):
    """Everything that may change an answer of an engine, frozen under its digest. Never updated."""

    name = models.CharField(_("engine"), max_length=60)
    spec = models.JSONField(_("specification"))
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("engine version")
        verbose_name_plural = _("engine versions")

    def __str__(self) -> str:
        return f"{self.name} {self.digest[:8]}"


class Reading(models.Model):
    """What an engine version read on pixels with this hash: the exact cache. `payload` is `PageReading.as_json()`.

    Scoped to a project, so that one tenant never learns from timing what another has had read.
    """

    project = models.ForeignKey("Project", on_delete=models.CASCADE, related_name="+")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="readings")
    content_hash = models.CharField(_("content hash"), max_length=64)
    payload = models.JSONField(_("payload"))
    cpu_seconds = models.FloatField(_("CPU seconds"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("reading")
        verbose_name_plural = _("readings")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "engine_version", "content_hash"],
                name="one_reading_per_project_engine_version_and_content",
            ),
        ]

    def __str__(self) -> str:
        return f"reading {self.pk}"
