"""What is learned from reviewers: the runs that train, and the models that came of them, frozen."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.schemas import DocumentType
from review.models.tenancy import Project, User
from review.models.work import Work


class ModelKind(models.TextChoices):
    """A locator finds fields of one document type, a calibrator says how sure; a classifier tells types apart."""

    LOCATOR = "locator", _("locator")
    CALIBRATOR = "calibrator", _("calibrator")
    CLASSIFIER = "classifier", _("document-type classifier")


class TrainingRun(Work):
    """One training, by a worker.

    `snapshot` says exactly what it learned from (ids of reviews up to which, documents left out, a digest of all), so
    that snapshot and `seed` give the same model again. `base` is the engine version whose evidence it saw, null for a
    classifier that saw none. `requested_by` null: it began by itself, since enough new truth had come.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="training_runs")
    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, null=True, related_name="training_runs")
    kind = models.CharField(_("kind"), max_length=10, choices=ModelKind.choices)
    base = models.ForeignKey("review.EngineVersion", on_delete=models.PROTECT, null=True, related_name="+")
    seed = models.PositiveIntegerField(_("seed"), default=0)
    snapshot = models.JSONField(_("snapshot"), default=dict)
    n_steps = models.PositiveIntegerField(_("steps"), default=0)
    n_done = models.PositiveIntegerField(_("steps done"), default=0)
    metrics = models.JSONField(_("metrics"), default=dict)
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("training run")
        verbose_name_plural = _("training runs")
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="training_run_newest")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document_type", "kind"],
                condition=models.Q(state__in=["queued", "running"]),
                name="one_training_at_a_time_per_type_and_kind",
            ),
            # A null is like no other null: without a type the project takes its place.
            models.UniqueConstraint(
                fields=["project", "kind"],
                condition=models.Q(state__in=["queued", "running"], document_type=None),
                name="one_training_at_a_time_per_project_and_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"training {self.pk}"


class TrainedModel(models.Model):
    """What a training run made, frozen under the SHA-256 of its bytes. Never updated.

    `payload` is an ONNX graph or JSON, as `format` says, and never anything that runs code when it is loaded.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trained_models")
    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, null=True, related_name="trained_models")
    kind = models.CharField(_("kind"), max_length=10, choices=ModelKind.choices)
    format = models.CharField(_("format"), max_length=10)
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    payload = models.BinaryField(_("payload"))
    metrics = models.JSONField(_("metrics"), default=dict)
    training_run = models.OneToOneField(TrainingRun, on_delete=models.PROTECT, null=True, related_name="trained_model")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("trained model")
        verbose_name_plural = _("trained models")
        indexes: ClassVar = [
            models.Index(fields=["document_type", "kind", "-id"], name="trained_model_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.sha256[:8]}"
