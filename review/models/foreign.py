"""Readings that came with a document, made by a program that is not ours."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.documents import Document
from review.models.engines import EngineVersion


class ForeignReading(models.Model):
    """What another engine claims of a document, as it was sent with it.

    `fields` are {"field_path", "value", "confidence", "page_number", "bbox"}, the value as the engine gave it. While
    `is_current` they are the document's predictions; reading it again with an engine of ours ends that.
    """

    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="foreign_reading")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    fields = models.JSONField(_("fields"))
    is_current = models.BooleanField(_("is current"), default=True)
    received_at = models.DateTimeField(_("received at"), auto_now_add=True)

    class Meta:
        verbose_name = _("foreign reading")
        verbose_name_plural = _("foreign readings")

    def __str__(self) -> str:
        return f"foreign reading {self.pk}"
