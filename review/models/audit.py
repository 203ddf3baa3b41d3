"""Who did what, and requests that must not be done twice."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.tenancy import ApiToken, Project, User


class AuditEntry(models.Model):
    """One act, written in its transaction. `action` is the name of the event; `detail` holds no document text."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="+")
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    actor_label = models.CharField(_("actor"), max_length=200)
    action = models.CharField(_("action"), max_length=60)
    object_type = models.CharField(_("object type"), max_length=60)
    object_id = models.CharField(_("object id"), max_length=40)
    detail = models.JSONField(_("detail"), default=dict)
    request_id = models.CharField(_("request id"), max_length=64, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="audit_newest"),
            models.Index(fields=["object_type", "object_id"], name="audit_by_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_type} {self.object_id}"


class IdempotencyKey(models.Model):
    """A POST that was answered; the same key gets the same answer, another body is refused.

    `response_status` is null while the first request is still at work.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    api_token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, null=True, related_name="+")
    key = models.CharField(_("key"), max_length=100)
    path = models.CharField(_("path"), max_length=300)
    request_digest = models.CharField(_("request digest"), max_length=64)
    response_status = models.PositiveSmallIntegerField(_("response status"), null=True)
    response_body = models.JSONField(_("response body"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("idempotency key")
        verbose_name_plural = _("idempotency keys")
        indexes: ClassVar = [models.Index(fields=["created_at"], name="idempotency_key_oldest")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "path", "key"], name="one_answer_per_user_path_and_key"),
        ]

    def __str__(self) -> str:
        return f"idempotency key {self.pk}"
