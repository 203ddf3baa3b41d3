"""What moved, for the pages that are open; who is at work, for the pages that wait."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.tenancy import Project


class Event(models.Model):
    """Something that happened in a project, written in the transaction that did it. Clients resume after an id."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(_("name"), max_length=60)
    payload = models.JSONField(_("payload"), default=dict)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        indexes: ClassVar = [models.Index(fields=["project", "id"], name="event_by_project")]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"


class WorkerHeartbeat(models.Model):
    """A worker cluster that is alive; `seen_at` is renewed every few seconds.

    `engine_error` is what is in the way of the OCR engine of the house, `model_errors` of the language models that
    projects read with, by the id of their engine version: a code each.
    """

    name = models.CharField(_("name"), max_length=100, unique=True)
    n_workers = models.PositiveSmallIntegerField(_("workers"), default=0)
    engine_name = models.CharField(_("engine"), max_length=60, blank=True)
    engine_error = models.CharField(_("engine error"), max_length=40, blank=True)
    model_errors = models.JSONField(_("errors of language models"), default=dict, blank=True)
    started_at = models.DateTimeField(_("started at"))
    seen_at = models.DateTimeField(_("seen at"))

    class Meta:
        verbose_name = _("worker heartbeat")
        verbose_name_plural = _("worker heartbeats")

    def __str__(self) -> str:
        return self.name
