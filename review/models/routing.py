"""What happens next with a document, and why."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.documents import BAND_CHOICES, Document
from review.models.extraction import ExtractionRun
from review.models.schemas import DocumentType
from review.models.tenancy import User


class PolicyState(models.TextChoices):
    """A policy is drafted, active (one per document type), then retired."""

    DRAFT = "draft", _("draft")
    ACTIVE = "active", _("active")
    RETIRED = "retired", _("retired")


class RoutingPolicy(models.Model):
    """Versioned thresholds and sampling rates; `rules` is `review.routing.policy.PolicyRules.as_json()`."""

    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="policies")
    number = models.PositiveIntegerField(_("number"))
    state = models.CharField(_("state"), max_length=8, choices=PolicyState.choices, default=PolicyState.DRAFT)
    rules = models.JSONField(_("rules"))
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    activated_at = models.DateTimeField(_("activated at"), null=True, blank=True)

    class Meta:
        verbose_name = _("routing policy")
        verbose_name_plural = _("routing policies")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document_type", "number"], name="one_policy_per_number"),
            models.UniqueConstraint(
                fields=["document_type"],
                condition=models.Q(state="active"),
                name="one_active_policy_per_document_type",
            ),
        ]

    def __str__(self) -> str:
        return f"policy {self.number} of {self.document_type_id}"


class RoutingDecision(models.Model):
    """How a run's document was routed. `is_selected` says that a person must look.

    `interest` (0-1) is how much an audit of it would have taught; see `review.routing.directed`.
    """

    run = models.OneToOneField(ExtractionRun, on_delete=models.CASCADE, related_name="decision")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="decisions")
    policy = models.ForeignKey(RoutingPolicy, on_delete=models.PROTECT, related_name="+")
    band = models.CharField(_("band"), max_length=8, choices=BAND_CHOICES)
    is_selected = models.BooleanField(_("is selected"))
    is_full_examination = models.BooleanField(_("is full examination"))
    reasons = models.JSONField(_("reasons"), default=list)
    draw = models.FloatField(_("draw"))
    full_examination_draw = models.FloatField(_("draw for full examination"))
    interest = models.FloatField(_("interest"), null=True)
    is_rolled_up = models.BooleanField(_("is rolled up"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("routing decision")
        verbose_name_plural = _("routing decisions")
        indexes: ClassVar = [
            models.Index(fields=["id"], name="decision_to_roll_up", condition=models.Q(is_rolled_up=False)),
        ]

    def __str__(self) -> str:
        return f"decision {self.pk}"


class FieldDecision(models.Model):
    """One field's band, its reasons and its probability of being looked at by a person."""

    decision = models.ForeignKey(RoutingDecision, on_delete=models.CASCADE, related_name="fields")
    field_path = models.CharField(_("field"), max_length=200)
    band = models.CharField(_("band"), max_length=8, choices=BAND_CHOICES)
    reasons = models.JSONField(_("reasons"), default=list)
    inclusion_probability = models.FloatField(_("inclusion probability"))
    is_to_examine = models.BooleanField(_("is to be examined"))

    class Meta:
        verbose_name = _("field decision")
        verbose_name_plural = _("field decisions")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["decision", "field_path"], name="one_decision_per_field"),
            models.CheckConstraint(
                condition=models.Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="inclusion_probability_above_0_up_to_1",
            ),
        ]

    def __str__(self) -> str:
        return f"field decision {self.pk}"
