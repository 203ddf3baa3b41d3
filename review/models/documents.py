"""The uploaded files and their pages."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.schemas import DocumentType, SchemaVersion
from review.models.tenancy import Project, User
from review.routing.bands import Band


class DocumentStatus(models.TextChoices):
    """Where a document stands. WAITING is never stored: it is shown while no worker is there to go on."""

    RECEIVED = "received", _("received")
    PROCESSING = "processing", _("being read")
    WAITING = "waiting", _("waiting")
    REVIEW = "review", _("in review")
    STORED = "stored", _("stored")
    UNREADABLE = "unreadable", _("unreadable")


UNFINISHED_STATUSES = (DocumentStatus.RECEIVED, DocumentStatus.PROCESSING)

BAND_CHOICES = [(band.value, band.value) for band in Band]


class Document(models.Model):
    """One uploaded file, kept byte for byte, on its way to an end state.

    `reasons` are codes: why a person must look (`review.routing.reasons`) or why the file is unreadable
    (`inference.errors`). `duplicate_of` names the first document of the project and type with the same bytes;
    such a document is never read and follows the first one's status. `suggested_type` is another type that its first
    page looks like, with its chance (0-1) and from how many documents that was learned; null where its own will do.
    `claim_token` names the attempt to open it and the process that makes it; empty while nobody does.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents")
    document_type = models.ForeignKey(DocumentType, on_delete=models.PROTECT, related_name="documents")
    schema_version = models.ForeignKey(SchemaVersion, on_delete=models.PROTECT, null=True, related_name="+")
    uploaded_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    filename = models.CharField(_("file name"), max_length=255)
    media_type = models.CharField(_("media type"), max_length=60)
    n_bytes = models.PositiveBigIntegerField(_("size in bytes"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    original = models.FileField(_("original"), max_length=255)
    status = models.CharField(
        _("status"), max_length=12, choices=DocumentStatus.choices, default=DocumentStatus.RECEIVED
    )
    band = models.CharField(_("band"), max_length=8, choices=BAND_CHOICES, blank=True)
    reasons = models.JSONField(_("reasons"), default=list)
    priority = models.SmallIntegerField(_("priority"), default=0)
    n_pages = models.PositiveIntegerField(_("pages"), default=0)
    n_pages_read = models.PositiveIntegerField(_("pages read"), default=0)
    n_attempts = models.PositiveSmallIntegerField(_("attempts to open"), default=0)
    claim_token = models.CharField(_("claim token"), max_length=32, blank=True)
    duplicate_of = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="duplicates")
    suggested_type = models.ForeignKey(
        DocumentType, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    suggested_chance = models.FloatField(_("chance of the suggested type"), null=True)
    suggested_from = models.PositiveIntegerField(_("documents that it was learned from"), null=True)
    received_at = models.DateTimeField(_("received at"), auto_now_add=True)
    touched_at = models.DateTimeField(_("last step at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True)

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="document_newest"),
            models.Index(fields=["project", "status", "-id"], name="document_by_status"),
            models.Index(fields=["project", "document_type", "-id"], name="document_by_type"),
            models.Index(fields=["project", "sha256"], name="document_by_content"),
            models.Index(
                fields=["project", "-id"],
                name="document_of_doubtful_type",
                condition=models.Q(suggested_type__isnull=False),
            ),
            models.Index(
                fields=["touched_at"],
                name="document_unfinished",
                condition=models.Q(status__in=[status.value for status in UNFINISHED_STATUSES]),
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~models.Q(status=DocumentStatus.WAITING.value), name="waiting_is_shown_never_stored"
            ),
        ]

    def __str__(self) -> str:
        return f"document {self.pk}"


class Page(models.Model):
    """One upright raster of a document; `page_number` starts at 1. `content_hash` is over the pixels.

    `perceptual_hash` is 16 hexadecimal digits that pages of the same look share but for a few bits. `image_sha256` is
    over the bytes of the file `image`; empty for what was opened before that was kept.
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pages")
    page_number = models.PositiveIntegerField(_("page number"))
    image = models.FileField(_("image"), max_length=255)
    image_sha256 = models.CharField(_("SHA-256 of the image"), max_length=64, blank=True)
    width = models.PositiveIntegerField(_("width in pixels"))
    height = models.PositiveIntegerField(_("height in pixels"))
    content_hash = models.CharField(_("content hash"), max_length=64)
    perceptual_hash = models.CharField(_("perceptual hash"), max_length=16, blank=True)
    quality = models.JSONField(_("quality measures"), default=dict)

    class Meta:
        verbose_name = _("page")
        verbose_name_plural = _("pages")
        ordering: ClassVar = ["page_number"]
        indexes: ClassVar = [models.Index(fields=["content_hash"], name="page_by_content")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document", "page_number"], name="one_page_per_number"),
            models.CheckConstraint(condition=models.Q(page_number__gte=1), name="page_numbers_start_at_1"),
        ]

    def __str__(self) -> str:
        return f"page {self.page_number} of document {self.document_id}"
