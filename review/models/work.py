"""What all work outside of requests has in common, whatever it makes."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class WorkState(models.TextChoices):
    """QUEUED and RUNNING end in DONE, FAILED (with an error code) or CANCELLED."""

    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


UNFINISHED_WORK = (WorkState.QUEUED, WorkState.RUNNING)


class Work(models.Model):
    """Work that one process at a time claims, by compare-and-set on `claim_token`, and that ends once.

    The attempt is counted when it begins, so that what kills its process is not begun for ever. `touched_at` is the
    last sign of life.
    """

    state = models.CharField(_("state"), max_length=9, choices=WorkState.choices, default=WorkState.QUEUED)
    claim_token = models.CharField(_("claim token"), max_length=32, blank=True)
    n_attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    touched_at = models.DateTimeField(_("last step at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)

    class Meta:
        abstract: ClassVar = True
