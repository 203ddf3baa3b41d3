"""Roll-ups, so that a page about accuracy reads no more rows as history grows."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.engines import EngineVersion
from review.models.schemas import DocumentType
from review.models.tenancy import Project


class Population(models.TextChoices):
    """READER: how often the reader is right, all documents. UNSEEN: how often a value stored without a look is."""

    READER = "reader", _("everything that was read")
    UNSEEN = "unseen", _("stored unseen")


class AccuracyRollup(models.Model):
    """Moments of the weighted sample of one cell; see `review.accuracy.estimators.Moments`.

    `day` null is the sum over all days. `bucket` is a confidence bucket of `review.accuracy.metrics`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="+")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    field_path = models.CharField(_("field"), max_length=200)
    population = models.CharField(_("population"), max_length=6, choices=Population.choices)
    bucket = models.CharField(_("confidence bucket"), max_length=12)
    day = models.DateField(_("day"), null=True)
    n = models.PositiveBigIntegerField(_("examined"), default=0)
    n_correct = models.PositiveBigIntegerField(_("right"), default=0)
    sum_w = models.FloatField(default=0)
    sum_wy = models.FloatField(default=0)
    sum_w2 = models.FloatField(default=0)
    sum_w2y = models.FloatField(default=0)

    class Meta:
        verbose_name = _("accuracy roll-up")
        verbose_name_plural = _("accuracy roll-ups")
        indexes: ClassVar = [models.Index(fields=["project", "day"], name="accuracy_rollup_by_day")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "document_type", "engine_version", "field_path", "population", "bucket", "day"],
                condition=models.Q(day__isnull=False),
                name="one_accuracy_rollup_per_cell_and_day",
            ),
            models.UniqueConstraint(
                fields=["project", "document_type", "engine_version", "field_path", "population", "bucket"],
                condition=models.Q(day__isnull=True),
                name="one_accuracy_rollup_per_cell",
            ),
        ]

    def __str__(self) -> str:
        return f"accuracy roll-up {self.pk}"


class ThroughputRollup(models.Model):
    """What was routed on one day: counts of documents by band and of pages."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="+")
    day = models.DateField(_("day"))
    n_documents = models.PositiveBigIntegerField(default=0)
    n_pages = models.PositiveBigIntegerField(default=0)
    n_auto = models.PositiveBigIntegerField(default=0)
    n_sampled = models.PositiveBigIntegerField(default=0)
    n_review = models.PositiveBigIntegerField(default=0)
    n_selected = models.PositiveBigIntegerField(default=0)
    cpu_seconds = models.FloatField(default=0)

    class Meta:
        verbose_name = _("throughput roll-up")
        verbose_name_plural = _("throughput roll-ups")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "day", "document_type"], name="one_throughput_rollup_per_day"),
        ]

    def __str__(self) -> str:
        return f"throughput roll-up {self.pk}"
