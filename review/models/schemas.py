"""Kinds of document and their frozen schemas."""

import json
from typing import Any, ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from review.models.tenancy import Project, User


class DocumentType(models.Model):
    """A kind of document in a project, such as a receipt."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="document_types")
    slug = models.SlugField(_("slug"))
    labels = models.JSONField(_("labels"), default=dict)
    active_version = models.ForeignKey(
        "SchemaVersion", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("document type")
        verbose_name_plural = _("document types")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "slug"], name="one_document_type_per_project_and_slug"),
        ]

    def __str__(self) -> str:
        return self.slug


class OrderedJSONField(models.TextField):  # type: ignore[type-arg]  # not subscriptable at run time
    """JSON whose keys keep their order, here that of the fields: PostgreSQL's `jsonb` would sort them."""

    # What django-stubs reads to tell the types of the attribute.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:  # noqa: ANN401, ARG002
        """Return the parsed value of a row."""
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> Any:  # noqa: ANN401
        """Return the text that is kept."""
        return None if value is None else json.dumps(value, ensure_ascii=False)

    def to_python(self, value: Any) -> Any:  # noqa: ANN401
        """Return the value of a form or a fixture, where it may be text."""
        return json.loads(value) if isinstance(value, str) else value

    def value_to_string(self, obj: models.Model) -> str:
        """Return the text for a fixture."""
        return str(self.get_prep_value(self.value_from_object(obj)))


class SchemaVersion(models.Model):
    """A frozen JSON Schema (2020-12) with `x-` hints. Never updated: a change is a new number."""

    document_type = models.ForeignKey(DocumentType, on_delete=models.CASCADE, related_name="schema_versions")
    number = models.PositiveIntegerField(_("number"))
    schema = OrderedJSONField(_("schema"))
    digest = models.CharField(_("digest"), max_length=64)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("schema version")
        verbose_name_plural = _("schema versions")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["document_type", "number"], name="one_schema_version_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.document_type_id} v{self.number}"
