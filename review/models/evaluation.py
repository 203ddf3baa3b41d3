"""Frozen test sets with truth, and engine versions measured on them."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.engines import EngineVersion
from review.models.schemas import DocumentType
from review.models.tenancy import Project, User


class RegressionSet(models.Model):
    """One version of a test set: documents with truth, frozen under `digest`, which is over all of them. Never changed.

    A set grows by a new version only: `number` counts up from 1 under the same `name`, and `replaces` names the version
    before. What a version adds, or whose truth it corrects, are its own `items`; it consists of those and of all items
    of the versions before it but the corrected ones (`review.selectors.evaluation.items_of`); `n_items` counts them.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="regression_sets")
    document_type = models.ForeignKey(DocumentType, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(_("name"), max_length=100)
    number = models.PositiveIntegerField(_("version"), default=1)
    replaces = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="replaced_by")
    n_items = models.PositiveIntegerField(_("documents"), default=0)
    digest = models.CharField(_("digest"), max_length=64)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("regression set")
        verbose_name_plural = _("regression sets")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name", "number"], name="one_regression_set_per_name_and_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"


class RegressionItem(models.Model):
    """One document of a regression set, from this version on: its file and its truth (field_path to value as printed).

    `perceptual_hashes` are those of its pages: nothing learns from what looks like them.
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
    """One engine version over one regression set. `results` is what `manage.py evaluate --json` prints.

    `outcomes` says how each field of each document came out, so that two runs can be compared later without reading
    again: {"paths": [field paths], "items": {item id: one character a path}}, "1" right, "0" wrong, "-" no truth.
    """

    regression_set = models.ForeignKey(RegressionSet, on_delete=models.CASCADE, related_name="evaluations")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    results = models.JSONField(_("results"))
    outcomes = models.JSONField(_("outcomes"), default=dict)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("evaluation run")
        verbose_name_plural = _("evaluation runs")

    def __str__(self) -> str:
        return f"evaluation {self.pk}"


class EvaluationComparison(models.Model):
    """Two engine versions on the same documents: may B take A's place? `results` is `Comparison.as_json()`.

    `is_whole`: on every document of the set. `is_blocked`: a field that costs anything when wrong falls too far.
    """

    regression_set = models.ForeignKey(RegressionSet, on_delete=models.CASCADE, related_name="comparisons")
    run_a = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="+")
    run_b = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="+")
    results = models.JSONField(_("results"))
    is_whole = models.BooleanField(_("is on the whole set"))
    is_blocked = models.BooleanField(_("is blocked"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("comparison")
        verbose_name_plural = _("comparisons")

    def __str__(self) -> str:
        return f"comparison {self.pk}"
