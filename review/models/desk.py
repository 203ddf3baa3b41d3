"""What the desk asks of the reader, and how long people work."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.documents import Page
from review.models.reviewing import ReviewTask
from review.models.tenancy import User


class RegionState(models.TextChoices):
    """QUEUED until a worker claims it, then READING, then DONE or FAILED for good."""

    QUEUED = "queued", _("queued")
    READING = "reading", _("being read")
    DONE = "done", _("read")
    FAILED = "failed", _("could not be read")


class RegionReading(models.Model):
    """A part of a page that a person wants read again for one field. `bbox` is [x0, y0, x1, y1] in 0-1 of the page.

    `text` is what stands there as read, `value` what that is as a value of the field: null where it is none. A claim
    is a compare-and-set on `state` and `claim_token`.
    """

    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="regions")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    reviewer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    field_path = models.CharField(_("field"), max_length=200)
    bbox = models.JSONField(_("box"))
    state = models.CharField(_("state"), max_length=7, choices=RegionState.choices, default=RegionState.QUEUED)
    claim_token = models.CharField(_("claim token"), max_length=32, blank=True)
    text = models.TextField(_("text"), null=True)  # noqa: DJ001 - null is "not read", "" is "nothing stands there"
    value = models.JSONField(_("value"), null=True)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)

    class Meta:
        verbose_name = _("region to read")
        verbose_name_plural = _("regions to read")
        indexes: ClassVar = [
            models.Index(
                fields=["created_at"],
                name="region_unfinished",
                condition=models.Q(state__in=[RegionState.QUEUED.value, RegionState.READING.value]),
            ),
        ]

    def __str__(self) -> str:
        return f"region {self.pk}"


class TimeSpent(models.Model):
    """Active seconds of one person on one field of one task, idle time left out; "" is the task as a whole.

    The browser measures and reports in parts; `client_key` names a part, so that a repeated report counts once.
    """

    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="times")
    reviewer = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    field_path = models.CharField(_("field"), max_length=200, blank=True)
    client_key = models.CharField(_("key of the report"), max_length=40)
    seconds = models.FloatField(_("seconds"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("time spent")
        verbose_name_plural = _("times spent")
        indexes: ClassVar = [models.Index(fields=["created_at"], name="time_spent_by_time")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["task", "reviewer", "client_key", "field_path"], name="one_time_per_report_and_field"
            ),
            models.CheckConstraint(condition=models.Q(seconds__gte=0), name="no_time_is_negative"),
        ]

    def __str__(self) -> str:
        return f"time {self.pk}"
