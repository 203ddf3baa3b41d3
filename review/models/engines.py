"""The programs that read, frozen, what they have read, and what language models said word for word."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class EngineVersion(models.Model):
    """Everything that may change an answer of an engine, frozen under its digest. Never updated.

    A composed version is a `base`, which reads the pages, with what was learned on top: its own `locator`, its own
    `calibrator`, or both. Its readings are those of the base; a base has none of the three.
    """

    name = models.CharField(_("engine"), max_length=60)
    spec = models.JSONField(_("specification"))
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    base = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="compositions")
    locator = models.ForeignKey("review.TrainedModel", on_delete=models.PROTECT, null=True, related_name="+")
    calibrator = models.ForeignKey("review.TrainedModel", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("engine version")
        verbose_name_plural = _("engine versions")

    def __str__(self) -> str:
        return f"{self.name} {self.digest[:8]}"


class SelfTest(models.Model):
    """What came of trying out a language model's engine version; `report` is `SelfTestReport.as_json()`. Append-only.

    The newest counts: a version whose last self-test was not passed stores nothing for sure.
    """

    engine_version = models.ForeignKey(EngineVersion, on_delete=models.CASCADE, related_name="self_tests")
    is_passed = models.BooleanField(_("is passed"))
    report = models.JSONField(_("report"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("self-test")
        verbose_name_plural = _("self-tests")
        indexes: ClassVar = [models.Index(fields=["engine_version", "-id"], name="self_test_newest")]

    def __str__(self) -> str:
        return f"self-test {self.pk}"


class Reading(models.Model):
    """What an engine version read on pixels with this hash: the exact cache. `payload` is `PageReading.as_json()`.

    Scoped to a project, so that one tenant never learns from timing what another has had read. `request_digest` is
    what a language model was asked (`PageRequest.digest`); an OCR reader is asked nothing, "". `perceptual_hash` is
    the page's (see `Page`): by it near duplicates are looked up.
    """

    project = models.ForeignKey("Project", on_delete=models.CASCADE, related_name="+")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="readings")
    content_hash = models.CharField(_("content hash"), max_length=64)
    request_digest = models.CharField(_("digest of the request"), max_length=64, blank=True)
    perceptual_hash = models.CharField(_("perceptual hash"), max_length=16, blank=True)
    payload = models.JSONField(_("payload"))
    cpu_seconds = models.FloatField(_("CPU seconds"))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("reading")
        verbose_name_plural = _("readings")
        indexes: ClassVar = [
            models.Index(fields=["project", "engine_version", "request_digest", "-id"], name="reading_newest"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "engine_version", "content_hash", "request_digest"],
                name="one_reading_per_project_engine_version_content_and_request",
            ),
        ]

    def __str__(self) -> str:
        return f"reading {self.pk}"


class RawAnswer(models.Model):
    """One attempt of a language model at one page, as it came: kept for STET_RAW_ANSWER_DAYS whatever became of it.

    `text_gzip` is the text in UTF-8, compressed. `attempt` counts from 1 within one read of the page; `error_code`
    says why that read failed, "" where the answer was understood. `page_read` is the page of a run that asked; it is
    null where none did (an evaluation), for answers older than this column, and once the document is gone.
    """

    project = models.ForeignKey("Project", on_delete=models.CASCADE, related_name="+")
    engine_version = models.ForeignKey(EngineVersion, on_delete=models.PROTECT, related_name="+")
    content_hash = models.CharField(_("content hash"), max_length=64)
    request_digest = models.CharField(_("digest of the request"), max_length=64)
    page_read = models.ForeignKey(
        "PageRead", on_delete=models.SET_NULL, null=True, related_name="raw_answers", verbose_name=_("page read")
    )
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    text_gzip = models.BinaryField(_("text, compressed"))
    finish_reason = models.CharField(_("why it ended"), max_length=20)
    n_prompt_tokens = models.PositiveIntegerField(_("tokens of the prompt"))
    n_tokens = models.PositiveIntegerField(_("tokens of the answer"))
    seconds = models.FloatField(_("seconds"))
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("raw answer")
        verbose_name_plural = _("raw answers")
        indexes: ClassVar = [
            models.Index(
                fields=["project", "engine_version", "content_hash", "request_digest"], name="raw_answer_by_request"
            ),
        ]

    def __str__(self) -> str:
        return f"raw answer {self.pk}"
