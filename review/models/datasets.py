"""Frozen files for other programs."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.tenancy import Project, User


class ExportState(models.TextChoices):
    """QUEUED and RUNNING end in DONE, FAILED (with an error code) or CANCELLED."""

    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class DatasetExport(models.Model):
    """A file of records with provenance and labels, as they stood at `snapshot_at`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="exports")
    format = models.CharField(_("format"), max_length=10)
    since = models.DateTimeField(_("since"), null=True)
    state = models.CharField(_("state"), max_length=9, choices=ExportState.choices, default=ExportState.QUEUED)
    n_records = models.PositiveBigIntegerField(_("records"), default=0)
    n_written = models.PositiveBigIntegerField(_("written"), default=0)
    file = models.FileField(_("file"), max_length=255, blank=True)
    sha256 = models.CharField(_("SHA-256"), max_length=64, blank=True)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    n_attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    snapshot_at = models.DateTimeField(_("snapshot at"), auto_now_add=True)
    touched_at = models.DateTimeField(_("last step at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="export_newest")]

    def __str__(self) -> str:
        return f"export {self.pk}"
