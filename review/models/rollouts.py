"""Which engine version reads the documents of a type, and which one wants to."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from review.models.documents import Document
from review.models.engines import EngineVersion
from review.models.extraction import ExtractionRun
from review.models.schemas import DocumentType
from review.models.tenancy import User
from review.models.work import UNFINISHED_WORK, Work


class RolloutStage(models.TextChoices):
    """SHADOW reads beside, CANARY reads a small share for real, LIVE reads all, RETIRED none."""

    SHADOW = "shadow", _("shadow")
    CANARY = "canary", _("canary")
    LIVE = "live", pgettext_lazy("stage of a roll-out", "live")
    RETIRED = "retired", _("retired")


class Rollout(models.Model):
    """An engine version on its way to reading the documents of a type, one stage at a time.

    The row in stage LIVE says who reads the type; without one the project's engine does. `champion` is who read when
    this one began (null: an engine of which nothing had been read yet). The shares are probabilities of a document, by
    a hash of it and the `salt`: the share read twice in SHADOW, the share read for real in CANARY.

    `monitors` is the state of a monitor for each field with a target, by field path, that sees the audits of what this
    version read as a canary and of nothing else (`review.routing.monitor`).
    """

    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="rollouts")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="rollouts")
    champion = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, null=True, related_name="+")
    stage = models.CharField(_("stage"), max_length=7, choices=RolloutStage.choices, default=RolloutStage.SHADOW)
    shadow_share = models.FloatField(_("share read twice"), default=0.2)
    disagreement_share = models.FloatField(_("share of disagreements that people look at"), default=0.02)
    canary_share = models.FloatField(_("share read for real"), default=0.05)
    salt = models.CharField(_("salt"), max_length=32)
    replaced = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    ended_because = models.CharField(_("why it ended"), max_length=500, blank=True)
    monitors = models.JSONField(_("monitors of the canary"), default=dict, blank=True)
    started_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    stage_since = models.DateTimeField(_("in this stage since"), auto_now_add=True)

    class Meta:
        verbose_name = _("roll-out")
        verbose_name_plural = _("roll-outs")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document_type"], condition=models.Q(stage="live"), name="one_live_version_per_document_type"
            ),
            models.UniqueConstraint(
                fields=["document_type"],
                condition=models.Q(stage__in=["shadow", "canary"]),
                name="one_challenger_per_document_type",
            ),
        ]

    def __str__(self) -> str:
        return f"roll-out {self.pk}"


class ShadowRead(Work):
    """A document that two versions read: the champion's `champion_run`, which routed it, and the challenger's `run`.

    It is cancelled where the roll-out has moved on before anybody came to it.
    """

    rollout = models.ForeignKey(Rollout, on_delete=models.CASCADE, related_name="shadow_reads")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    champion_run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, related_name="+")
    run = models.OneToOneField(ExtractionRun, on_delete=models.CASCADE, null=True, related_name="shadow_read")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("shadow read")
        verbose_name_plural = _("shadow reads")
        indexes: ClassVar = [
            models.Index(
                fields=["touched_at"],
                name="shadow_read_unfinished",
                condition=models.Q(state__in=[state.value for state in UNFINISHED_WORK]),
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rollout", "document"], name="one_shadow_read_per_rollout_and_document"),
        ]

    def __str__(self) -> str:
        return f"shadow read {self.pk}"


class ShadowField(models.Model):
    """Whether the two versions of a shadow read gave the same value for one field.

    `is_drawn`: of the fields on which they differ, one of those that a person is asked about.
    """

    shadow_read = models.ForeignKey(ShadowRead, on_delete=models.CASCADE, related_name="fields")
    field_path = models.CharField(_("field"), max_length=200)
    is_agreed = models.BooleanField(_("is agreed"))
    is_drawn = models.BooleanField(_("is drawn"), default=False)

    class Meta:
        verbose_name = _("field of a shadow read")
        verbose_name_plural = _("fields of shadow reads")
        indexes: ClassVar = [
            models.Index(fields=["shadow_read"], name="shadow_field_differs", condition=models.Q(is_agreed=False)),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["shadow_read", "field_path"], name="one_row_per_shadow_read_and_field"),
        ]

    def __str__(self) -> str:
        return f"{self.field_path} of shadow read {self.shadow_read_id}"
