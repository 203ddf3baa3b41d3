"""Which engine version reads the documents of a type, and which one wants to."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from review.models.engines import EngineVersion
from review.models.schemas import DocumentType
from review.models.tenancy import User


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
    """

    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="rollouts")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="rollouts")
    champion = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, null=True, related_name="+")
    stage = models.CharField(_("stage"), max_length=7, choices=RolloutStage.choices, default=RolloutStage.SHADOW)
    shadow_share = models.FloatField(_("share read twice"), default=0.2)
    disagreement_share = models.FloatField(_("share of disagreements that people look at"), default=0.02)
    canary_share = models.FloatField(_("share read for real"), default=0.05)
    salt = models.CharField(_("salt"), max_length=32)
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
