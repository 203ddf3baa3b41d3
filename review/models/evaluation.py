"""Frozen test sets with truth, and engine versions measured on them."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.engines import EngineVersion
from review.models.schemas import DocumentType
from review.models.tenancy import Project, User


class RegressionSet(models.Model):
    """A frozen set of documents with truth. `digest` is over the contents of its items; never changed."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="regression_sets")
    document_type = models.ForeignKey(DocumentType, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(_("name"), max_length=100)
    n_items = models.PositiveIntegerField(_("documents"), default=0)
    digest = models.CharField(_("digest"), max_length=64)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("regression set")
        verbose_name_plural = _("regression sets")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="one_regression_set_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class RegressionItem(models.Model):
    """One document of a regression set: its file and its truth (field_path to value as printed).

    `perceptual_hashes` are those of its pages: what looks like them is shown to no language model.
    """

    regression_set = models.ForeignKey(RegressionSet, on_delete=models.CASCADE, related_name="items")
    name = models.CharField(_("name"), max_length=255)
    original = models.FileField(_("original"), max_length=255)
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    perceptual_hashes = models.JSONField(_("perceptual hashes"), default=list)
    truth = models.JSONField(_("truth"))

    class Meta:
        verbose_name = _("regression item")
        verbose_name_plural = _("regression items")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["regression_set", "name"], name="one_item_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class EvaluationRun(models.Model):
    """One engine version over one regression set. `results` is what `manage.py evaluate --json` prints."""

    regression_set = models.ForeignKey(RegressionSet, on_delete=models.CASCADE, related_name="evaluations")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    results = models.JSONField(_("results"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("evaluation run")
        verbose_name_plural = _("evaluation runs")

    def __str__(self) -> str:
        return f"evaluation {self.pk}"
