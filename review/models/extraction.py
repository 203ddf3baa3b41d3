"""One engine version over one document, and what it claims."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.documents import Document, Page
from review.models.engines import EngineVersion, Reading
from review.models.schemas import SchemaVersion


class RunState(models.TextChoices):
    """READING until the last page is read, then ROUTED or FAILED, once."""

    READING = "reading", _("reading")
    ROUTED = "routed", _("routed")
    FAILED = "failed", _("failed")


class RunRole(models.TextChoices):
    """MAIN runs route the document. A SHADOW run is only compared with one: it is never current and makes no record."""

    MAIN = "main", _("main")
    SHADOW = "shadow", _("shadow")


class ExtractionRun(models.Model):
    """One engine version over one document under one schema version.

    `request_digest` and `examples` are what its pages ask a language model for (`PageRequest`), settled by the first
    page that is read: each example is {"page": id of the page shown, "values": what a person confirmed of it}.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="runs")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    schema_version = models.ForeignKey(SchemaVersion, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(_("state"), max_length=8, choices=RunState.choices, default=RunState.READING)
    role = models.CharField(_("role"), max_length=6, choices=RunRole.choices, default=RunRole.MAIN)
    is_current = models.BooleanField(_("is current"), default=True)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    request_digest = models.CharField(_("digest of the request"), max_length=64, blank=True)
    examples = models.JSONField(_("examples"), default=list)
    cpu_seconds = models.FloatField(_("CPU seconds"), default=0)
    n_routing_attempts = models.PositiveSmallIntegerField(_("attempts to route it"), default=0)
    started_at = models.DateTimeField(_("started at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)

    class Meta:
        verbose_name = _("extraction run")
        verbose_name_plural = _("extraction runs")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document"], condition=models.Q(is_current=True), name="one_current_run_per_document"
            ),
            models.CheckConstraint(
                condition=~models.Q(role="shadow", is_current=True), name="a_shadow_run_is_never_current"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of document {self.document_id}"


class PageReadState(models.TextChoices):
    """PENDING until claimed; CLAIMED by one worker for a while; READ or FAILED for good."""

    PENDING = "pending", _("pending")
    CLAIMED = "claimed", _("claimed")
    READ = "read", _("read")
    FAILED = "failed", _("failed")


class PageRead(models.Model):
    """The work of reading one page within a run. A claim is a compare-and-set on `claim_token`.

    `is_cached`: no engine read these pixels for it; `is_near_duplicate`: what was taken over was read on a page that
    looks the same at reading resolution, not on the same pixels. `broke_off_at`: when an engine last broke off on
    it; it may be what the engine died of, and is asked alone from then on (`review.selectors.suspects`).
    """

    run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, related_name="page_reads")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(_("state"), max_length=8, choices=PageReadState.choices, default=PageReadState.PENDING)
    claim_token = models.CharField(_("claim token"), max_length=32, blank=True)
    claimed_at = models.DateTimeField(_("claimed at"), null=True)
    n_attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    reading = models.ForeignKey(Reading, on_delete=models.PROTECT, null=True, related_name="+")
    is_cached = models.BooleanField(_("was in the cache"), default=False)
    is_near_duplicate = models.BooleanField(_("reading of a near duplicate"), default=False)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    broke_off_at = models.DateTimeField(_("broke off at"), null=True)

    class Meta:
        verbose_name = _("page read")
        verbose_name_plural = _("page reads")
        indexes: ClassVar = [
            models.Index(fields=["claimed_at"], name="page_read_claimed", condition=models.Q(state="claimed")),
            models.Index(fields=["id"], name="page_read_near_duplicate", condition=models.Q(is_near_duplicate=True)),
            models.Index(
                fields=["broke_off_at"], name="page_read_suspect", condition=models.Q(broke_off_at__isnull=False)
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "page"], name="one_page_read_per_run_and_page"),
        ]

    def __str__(self) -> str:
        return f"page read {self.pk}"


class FieldPrediction(models.Model):
    """What a run claims for one field. `bbox` is [x0, y0, x1, y1] in 0-1 of the page, or null.

    `confidence` null means that there is nothing to be confident of, which sends the field to a person.
    """

    run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, related_name="predictions")
    field_path = models.CharField(_("field"), max_length=200)
    raw_text = models.TextField(_("raw text"), null=True)  # noqa: DJ001 - null is "nothing found", "" is "empty"
    value = models.JSONField(_("value"), null=True)
    confidence = models.FloatField(_("confidence"), null=True)
    evidence = models.JSONField(_("evidence"), default=dict)
    findings = models.JSONField(_("findings"), default=list)
    page_number = models.PositiveIntegerField(_("page number"), null=True)
    bbox = models.JSONField(_("box"), null=True)

    class Meta:
        verbose_name = _("field prediction")
        verbose_name_plural = _("field predictions")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "field_path"], name="one_prediction_per_run_and_field"),
            models.CheckConstraint(
                condition=models.Q(confidence__isnull=True) | models.Q(confidence__gte=0, confidence__lte=1),
                name="confidence_in_0_1_or_null",
            ),
        ]

    def __str__(self) -> str:
        return f"prediction {self.pk}"


class CandidateSet(models.Model):
    """The candidates of every field of a run with their features: what a learned scorer will train on."""

    run = models.OneToOneField(ExtractionRun, on_delete=models.CASCADE, related_name="candidate_set")
    payload = models.JSONField(_("payload"))

    class Meta:
        verbose_name = _("candidate set")
        verbose_name_plural = _("candidate sets")

    def __str__(self) -> str:
        return f"candidates of run {self.run_id}"
