"""How often a value stored unseen may be wrong: what a manager promises, what the labels carry, who watches over it."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.engines import EngineVersion
from review.models.routing import RoutingPolicy
from review.models.schemas import DocumentType
from review.models.tenancy import User


class FieldTarget(models.Model):
    """At most `wrong_share` wrong among the values of a field that are stored unseen, with the given confidence.

    `field_path` has `*` for each row. `most_per_document` values of one document count in full. A target that is no
    longer wanted is not deleted but inactive: see `review.routing.targets.Target` for what the numbers mean.
    """

    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="targets")
    field_path = models.CharField(_("field"), max_length=200)
    wrong_share = models.FloatField(_("share that may be wrong"))
    confidence = models.FloatField(_("confidence"), default=0.95)
    most_per_document = models.PositiveSmallIntegerField(_("values of a document that count"), default=1)
    is_active = models.BooleanField(_("is active"), default=True)
    set_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    set_at = models.DateTimeField(_("set at"), auto_now=True)

    class Meta:
        verbose_name = _("target of a field")
        verbose_name_plural = _("targets of fields")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document_type", "field_path"], name="one_target_per_field"),
            models.CheckConstraint(
                condition=models.Q(wrong_share__gt=0, wrong_share__lt=0.5, confidence__gt=0, confidence__lt=1)
                & models.Q(most_per_document__gte=1),
                name="a_target_can_be_kept",
            ),
        ]

    def __str__(self) -> str:
        return f"target of {self.field_path}"


class FieldCertificate(models.Model):
    """What the labels carried for one field when a policy was drafted from targets. Never updated.

    `look` counts the attempts on the labels of one engine version: each spends a part of the allowance of error.
    `examined_digest` says which labels these were, and how many of a document count; the same asked again are the same
    look, and after an attempt that could not have passed (`could_pass`) comes the same look again, for it has spent
    nothing. The other columns are those of `review.routing.targets.Certificate`; `threshold` null: not automated.
    """

    policy = models.ForeignKey(RoutingPolicy, on_delete=models.CASCADE, related_name="certificates")
    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="certificates")
    field_path = models.CharField(_("field"), max_length=200)
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    look = models.PositiveIntegerField(_("look"))
    examined_digest = models.CharField(_("digest of the examined values"), max_length=64)
    n_examined = models.PositiveIntegerField(_("examined values"))
    threshold = models.FloatField(_("threshold"), null=True)
    target = models.FloatField(_("share that may be wrong"))
    confidence = models.FloatField(_("confidence"))
    n_trials = models.PositiveIntegerField(_("trials"))
    n_wrong = models.PositiveIntegerField(_("wrong among them"))
    upper_limit = models.FloatField(_("certified bound"))
    n_frame = models.PositiveIntegerField(_("values routed"))
    n_stored = models.PositiveIntegerField(_("values that would be stored"))
    n_more_needed = models.PositiveIntegerField(_("examined values needed"), null=True)
    could_pass = models.BooleanField(_("were enough values examined for any certificate"), default=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("certificate")
        verbose_name_plural = _("certificates")
        indexes: ClassVar = [
            models.Index(fields=["document_type", "field_path", "-id"], name="certificate_newest"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["policy", "field_path"], name="one_certificate_per_policy_and_field"),
        ]

    def __str__(self) -> str:
        return f"certificate {self.pk}"

    @property
    def stored_share(self) -> float | None:
        """The share of the routed values that would be stored without waiting; None where nothing was routed."""
        return self.n_stored / self.n_frame if self.n_frame else None


class FieldMonitor(models.Model):
    """Watches the audits of one field's stored values; `state` is `review.routing.monitor.Monitor.as_json()`.

    Begins with a target and lasts until the target changes or, once it has tripped, until a manager turns the field on
    again: then `ended_at` is set and another begins. `tripped_at` null: all is well. `policy` and `engine_version` are
    those of the audit with which it tripped.
    """

    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="monitors")
    field_path = models.CharField(_("field"), max_length=200)
    state = models.JSONField(_("state"))
    policy = models.ForeignKey(RoutingPolicy, on_delete=models.PROTECT, null=True, related_name="+")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, null=True, related_name="+")
    began_at = models.DateTimeField(_("began at"), auto_now_add=True)
    tripped_at = models.DateTimeField(_("tripped at"), null=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)
    ended_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("monitor of a field")
        verbose_name_plural = _("monitors of fields")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document_type", "field_path"],
                condition=models.Q(ended_at__isnull=True),
                name="one_running_monitor_per_field",
            ),
        ]

    def __str__(self) -> str:
        return f"monitor {self.pk} of {self.field_path}"

    @property
    def is_tripped(self) -> bool:
        """Whether the field is stopped."""
        return self.tripped_at is not None
