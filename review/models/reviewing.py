"""Work for people, and every keystroke of it."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.documents import BAND_CHOICES, Document
from review.models.engines import EngineVersion
from review.models.extraction import ExtractionRun
from review.models.schemas import DocumentType
from review.models.tenancy import Project, User


class TaskState(models.TextChoices):
    """OPEN (leased or not) until a person submits it or marks the document unusable; CANCELLED by a rerun."""

    OPEN = "open", _("open")
    DONE = "done", _("done")
    UNUSABLE = "unusable", _("unusable")
    CANCELLED = "cancelled", _("cancelled")


class TaskKind(models.TextChoices):
    """Why a person looks. Reviewers are told of an ADJUDICATION only; the others all look like a REVIEW to them.

    REVIEW: the router asked. SECOND_REVIEW: a second person answers the same questions without seeing the first
    answers. ADJUDICATION: a third one decides where the two differ. SEEDED: the values are known already, and the
    answers say how often the reviewer errs; nothing else follows from them. DISAGREEMENT: two engine versions read the
    document and differ; whose value stands there the reviewer is not told, nor that there is another.
    """

    REVIEW = "review", _("review")
    SECOND_REVIEW = "second_review", _("second review")
    ADJUDICATION = "adjudication", _("adjudication")
    SEEDED = "seeded", _("document with known values")
    DISAGREEMENT = "disagreement", _("two readers differ")


class ReviewTask(models.Model):
    """Work for one person for a while. A lease is a compare-and-set on `lease_token` ("" when never leased).

    `lease_behind` is the task that the holder works on first: the lease of this one, which is kept ready, is renewed
    with the first one's. `assignee` is whom a manager kept the task for: the queue gives it to nobody else.

    Of a second look, `first_task` is the review that it checks, or whose agreed values it is seeded with.
    `inclusion_probability` is the chance with which a second review was drawn. `disputed_paths` are the fields that an
    adjudication decides, or on which two readers differ. `before_task` is the task in whose place a seeded one was
    given.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="review_tasks")
    document_type = models.ForeignKey(DocumentType, on_delete=models.PROTECT, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="review_tasks")
    run = models.ForeignKey(ExtractionRun, on_delete=models.CASCADE, related_name="review_tasks")
    state = models.CharField(_("state"), max_length=9, choices=TaskState.choices, default=TaskState.OPEN)
    priority = models.SmallIntegerField(_("priority"), default=0)
    lease_holder = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    lease_expires_at = models.DateTimeField(_("lease expires at"), null=True)
    lease_token = models.CharField(_("lease token"), max_length=32, blank=True)
    lease_behind = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    assignee = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("kept for")
    )
    kind = models.CharField(_("kind"), max_length=13, choices=TaskKind.choices, default=TaskKind.REVIEW)
    first_task = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="second_looks")
    before_task = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    inclusion_probability = models.FloatField(_("inclusion probability"), null=True, blank=True)
    disputed_paths = models.JSONField(_("disputed fields"), default=list, blank=True)
    n_skips = models.PositiveSmallIntegerField(_("skips"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)
    finished_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("review task")
        verbose_name_plural = _("review tasks")
        indexes: ClassVar = [
            models.Index(fields=["project", "-priority", "id"], name="task_queue", condition=models.Q(state="open")),
            models.Index(
                fields=["project", "document_type", "-priority", "id"],
                name="task_queue_by_type",
                condition=models.Q(state="open"),
            ),
            models.Index(fields=["lease_holder", "project"], name="task_held", condition=models.Q(state="open")),
            # What only some may be given, and what seeded tasks are made from: few rows among many.
            models.Index(
                fields=["project", "kind"],
                name="task_open_second_look",
                condition=models.Q(state="open") & ~models.Q(kind="review"),
            ),
            models.Index(
                fields=["project", "document_type", "-id"],
                name="task_second_review_done",
                condition=models.Q(state="done", kind="second_review"),
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document"], condition=models.Q(state="open"), name="one_open_task_per_document"
            ),
            models.UniqueConstraint(
                fields=["first_task", "kind"],
                condition=models.Q(kind__in=["second_review", "adjudication"]),
                name="one_second_review_and_one_adjudication_per_review",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["review", "disagreement"], first_task=None)
                | (~models.Q(kind__in=["review", "disagreement"]) & ~models.Q(first_task=None)),
                name="all_but_reviews_and_disagreements_follow_a_review",
            ),
        ]

    def __str__(self) -> str:
        return f"review task {self.pk}"


class TaskSkip(models.Model):
    """A reviewer passed a task on, and why; the same person is not offered it again."""

    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="skips")
    reviewer = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(_("reason"), max_length=500)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("skip")
        verbose_name_plural = _("skips")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "reviewer"], name="one_skip_per_task_and_reviewer"),
        ]

    def __str__(self) -> str:
        return f"skip {self.pk}"


class Verdict(models.TextChoices):
    """What a person found. A correction is any but the first; ILLEGIBLE leaves no truth.

    CONFIRMED: the page shows the value that the reader gave, or neither has one. CORRECTED: the page shows another
    value than the one given. MISSING: the page shows a value and the reader gave none. SPURIOUS: the reader gave a
    value and the page shows none. ILLEGIBLE: a person cannot read it either; there is no value.
    """

    CONFIRMED = "confirmed", _("confirmed")
    CORRECTED = "corrected", _("corrected")
    MISSING = "missing", _("missed by the reader")
    SPURIOUS = "spurious", _("not on the page")
    ILLEGIBLE = "illegible", _("illegible")


class FieldEdit(models.Model):
    """One saved state of one field while a task is worked on. Append-only; the highest version counts.

    `verdict` WITHDRAWN takes back what was decided before: the field is as undecided as if nobody had saved it, but
    its versions go on. `value` is null then.
    """

    WITHDRAWN: ClassVar = ""

    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="edits")
    field_path = models.CharField(_("field"), max_length=200)
    version = models.PositiveIntegerField(_("version"))
    verdict = models.CharField(_("verdict"), max_length=9, choices=Verdict.choices)
    value = models.JSONField(_("value"), null=True)
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    saved_at = models.DateTimeField(_("saved at"), auto_now_add=True)

    class Meta:
        verbose_name = _("field edit")
        verbose_name_plural = _("field edits")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "field_path", "version"], name="one_edit_per_version"),
        ]

    def __str__(self) -> str:
        return f"edit {self.pk}"

    @property
    def is_decision(self) -> bool:
        """Whether somebody decided here, rather than took a decision back."""
        return self.verdict != self.WITHDRAWN


class FieldReview(models.Model):
    """A person's verdict on one field of one task: a label. Append-only.

    `is_in_sample` is false for a field that the reviewer looked at unasked, for second looks (the first answer
    counts) and for an answer that an adjudication has replaced: no part of an estimate. The columns from
    `document_type` to `band` repeat what stood when the field was read, so that the roll-ups read no other table.
    `is_correct` is null for an illegible field.
    """

    task = models.ForeignKey(ReviewTask, on_delete=models.CASCADE, related_name="field_reviews")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="field_reviews")
    field_path = models.CharField(_("field"), max_length=200)
    verdict = models.CharField(_("verdict"), max_length=9, choices=Verdict.choices)
    value = models.JSONField(_("value"), null=True)
    predicted_value = models.JSONField(_("predicted value"), null=True)
    reviewer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    is_correct = models.BooleanField(_("is correct"), null=True)
    is_in_sample = models.BooleanField(_("is in the sample"))
    inclusion_probability = models.FloatField(_("inclusion probability"))
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    document_type = models.ForeignKey(DocumentType, on_delete=models.PROTECT, related_name="+")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    confidence = models.FloatField(_("confidence"), null=True)
    band = models.CharField(_("band"), max_length=8, choices=BAND_CHOICES)
    is_rolled_up = models.BooleanField(_("is rolled up"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("field review")
        verbose_name_plural = _("field reviews")
        indexes: ClassVar = [
            models.Index(fields=["id"], name="field_review_to_roll_up", condition=models.Q(is_rolled_up=False)),
            models.Index(fields=["document", "field_path"], name="field_review_by_document"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "field_path"], name="one_verdict_per_task_and_field"),
            models.CheckConstraint(
                condition=models.Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="review_inclusion_probability_above_0_up_to_1",
            ),
        ]

    def __str__(self) -> str:
        return f"field review {self.pk}"


class Record(models.Model):
    """The accepted values of a document. Append-only: a change is a new revision, one is current.

    `values` maps field_path to value. `provenance` maps field_path to {"source": "model", "engine_version",
    "policy", "confidence", "band"} or {"source": "person", "reviewer", "verdict", "task"}, the latter with
    "adjudicated": true where two people had differed.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="records")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="records")
    revision = models.PositiveIntegerField(_("revision"))
    is_current = models.BooleanField(_("is current"), default=True)
    run = models.ForeignKey(ExtractionRun, on_delete=models.PROTECT, related_name="+")
    reviewer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    values = models.JSONField(_("values"))
    provenance = models.JSONField(_("provenance"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("record")
        verbose_name_plural = _("records")
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="record_newest", condition=models.Q(is_current=True)),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document", "revision"], name="one_record_per_revision"),
            models.UniqueConstraint(
                fields=["document"], condition=models.Q(is_current=True), name="one_current_record_per_document"
            ),
        ]

    def __str__(self) -> str:
        return f"record {self.pk}"
