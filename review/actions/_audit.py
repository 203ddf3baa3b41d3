"""The audit row that every action writes in its transaction."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import models

from review.models import AuditEntry, Project
from review.selectors.access import Actor


def record_audit(
    actor: Actor, action: str, subject: models.Model, *, project: Project | int | None, detail: Mapping[str, Any] = {}
) -> None:
    """Write who did what to which object; `detail` is plain data without document text."""
    AuditEntry.objects.create(
        project_id=project.pk if isinstance(project, Project) else project,
        actor=actor.user,
        actor_label=actor.label[:200],
        action=action,
        object_type=subject._meta.model_name or "",
        object_id=str(subject.pk),
        detail=dict(detail),
        request_id=str(structlog.contextvars.get_contextvars().get("request_id", ""))[:64],
    )
