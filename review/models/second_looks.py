"""What second looks leave behind: whether a reviewer's answers were right, and values that are agreed."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.documents import Document
from review.models.reviewing import ReviewTask
from review.models.schemas import DocumentType
from review.models.tenancy import Project, User


class CheckSource(models.TextChoices):
    """What an answer was held against: a second person's answer, or a value that was agreed before."""

    SECOND_REVIEW = "second_review", _("second review")
    SEEDED = "seeded", _("document with known values")


class ReviewerCheck(models.Model):
    """One reviewer's answer on one field, held against another's or against a known value.

    `is_agreed` is whether the two answers of a second review were the same; null for a seeded task. `is_right` is
    null until the document's disagreements are adjudicated, and for ever where nobody can tell (illegible).
    `inclusion_probability` is the chance with which the document was drawn for the check.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    document_type = models.ForeignKey(DocumentType, on_delete=models.PROTECT, related_name="+")
    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="checks")
    field_path = models.CharField(_("field"), max_length=200)
    reviewer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    source = models.CharField(_("source"), max_length=13, choices=CheckSource.choices)
    is_agreed = models.BooleanField(_("is agreed"), null=True)
    is_right = models.BooleanField(_("is right"), null=True)
    inclusion_probability = models.FloatField(_("inclusion probability"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("check of a reviewer")
        verbose_name_plural = _("checks of reviewers")
        indexes: ClassVar = [models.Index(fields=["project", "created_at"], name="reviewer_check_by_time")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "field_path"], name="one_check_per_task_and_field"),
            models.CheckConstraint(
                condition=models.Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="check_inclusion_probability_above_0_up_to_1",
            ),
        ]

    def __str__(self) -> str:
        return f"check {self.pk}"


class TruthOrigin(models.TextChoices):
    """How a value came to be agreed: two people gave it independently, or a third decided between them."""

    AGREED = "agreed", _("agreed by two reviewers")
    ADJUDICATED = "adjudicated", _("adjudicated")


class GroundTruth(models.Model):
    """The agreed value of one field of a document; `value` null says that the page shows none.

    A field that nobody could read has no row. A later agreement on the same field takes the place of this one.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="ground_truth")
    field_path = models.CharField(_("field"), max_length=200)
    value = models.JSONField(_("value"), null=True)
    origin = models.CharField(_("origin"), max_length=11, choices=TruthOrigin.choices)
    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("ground truth")
        verbose_name_plural = _("ground truth")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document", "field_path"], name="one_truth_per_document_and_field"),
        ]

    def __str__(self) -> str:
        return f"ground truth {self.pk}"
