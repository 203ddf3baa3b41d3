"""What is frozen for other programs: snapshots of what people settled, and files."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.reviewing import Record
from review.models.schemas import OrderedJSONField
from review.models.tenancy import Project, User
from review.models.work import Work


class Holding(models.TextChoices):
    """Which records a snapshot holds, by whose word their values are."""

    SETTLED = "settled", _("every value settled by a person")
    REVIEWED = "reviewed", _("some value settled by a person")
    EVERYTHING = "everything", _("every record, also those nobody looked at")


class Personal(models.TextChoices):
    """What becomes of the fields that the schema marks as personal (`x-personal`)."""

    KEPT = "kept", _("kept")
    MASKED = "masked", _("masked")
    LEFT_OUT = "left_out", _("left out")


class Split(models.TextChoices):
    """On which side a document stands."""

    TRAIN = "train", _("training")
    VALIDATION = "validation", _("validation")
    TEST = "test", _("test")


class Snapshot(Work):
    """Which records a project held at `taken_at`, and on which side of the split each stands; frozen once it is DONE.

    `manifest` says what it holds and what was left out and why (docs/exports.md); `sha256` is over it. The shares are
    of documents, in 0-1; what remains of 1 is for training.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="snapshots")
    holding = models.CharField(_("holds"), max_length=10, choices=Holding.choices, default=Holding.REVIEWED)
    personal = models.CharField(_("personal fields"), max_length=8, choices=Personal.choices, default=Personal.KEPT)
    seed = models.CharField(_("seed"), max_length=64)
    validation_share = models.FloatField(_("share for validation"))
    test_share = models.FloatField(_("share for tests"))
    n_records = models.PositiveBigIntegerField(_("records"), default=0)
    n_done = models.PositiveBigIntegerField(_("looked at"), default=0)
    manifest = OrderedJSONField(_("manifest"), default=dict)
    sha256 = models.CharField(_("SHA-256"), max_length=64, blank=True)
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    taken_at = models.DateTimeField(_("taken at"), auto_now_add=True)

    class Meta:
        verbose_name = _("snapshot")
        verbose_name_plural = _("snapshots")
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="snapshot_newest")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(validation_share__gte=0, test_share__gte=0)
                & models.Q(validation_share__lte=1 - models.F("test_share")),
                name="shares_of_a_split_in_0_1",
            ),
        ]

    def __str__(self) -> str:
        return f"snapshot {self.pk}"


class SnapshotItem(models.Model):
    """One record of a snapshot, word for word, and the side it stands on. Never changed.

    `row` is its line of JSON (docs/exports.md). `group` names what must stay on one side: near duplicates, and one
    vendor's layout. `pages` are {"page_number", "width", "height", "content_hash", "image", "image_sha256",
    "reading"}: where the raster lies, the SHA-256 of that file, and the id of the reading with its words, or null.
    """

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="items")
    record = models.ForeignKey(Record, on_delete=models.RESTRICT, related_name="+")
    split = models.CharField(_("side"), max_length=10, choices=Split.choices)
    group = models.CharField(_("group"), max_length=16)
    row = models.TextField(_("row"))
    pages = models.JSONField(_("pages"), default=list)

    class Meta:
        verbose_name = _("snapshot item")
        verbose_name_plural = _("snapshot items")
        indexes: ClassVar = [models.Index(fields=["snapshot", "split", "id"], name="snapshot_item_by_side")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["snapshot", "record"], name="one_item_per_snapshot_and_record"),
        ]

    def __str__(self) -> str:
        return f"snapshot item {self.pk}"


class DatasetExport(Work):
    """A file of records with provenance and labels, as they stood at `snapshot_at`, or of what a snapshot holds.

    `error_detail` is {"document_id", "page_number"} where a page is why it failed.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="exports")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, null=True, blank=True, related_name="exports")
    format = models.CharField(_("format"), max_length=20)
    archive = models.CharField(_("archive"), max_length=3, blank=True)
    since = models.DateTimeField(_("since"), null=True)
    n_records = models.PositiveBigIntegerField(_("records"), default=0)
    n_written = models.PositiveBigIntegerField(_("written"), default=0)
    file = models.FileField(_("file"), max_length=255, blank=True)
    sha256 = models.CharField(_("SHA-256"), max_length=64, blank=True)
    error_detail = models.JSONField(_("what it failed on"), default=dict)
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    snapshot_at = models.DateTimeField(_("snapshot at"), auto_now_add=True)

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="export_newest")]

    def __str__(self) -> str:
        return f"export {self.pk}"

    @property
    def extension(self) -> str:
        """What the name of the file ends with."""
        return self.archive or self.format
