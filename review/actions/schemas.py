"""Document types and their frozen schema versions."""

import hashlib
import json
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from inference.errors import DocumentTypeError
from inference.types.document_types import parse_document_type, validate_document_type
from review.actions._audit import record_audit
from review.exceptions import ConflictError, InvalidInputError
from review.models import DocumentType, PolicyState, Project, RoutingPolicy, SchemaVersion
from review.routing.policy import rules_for_costs
from review.selectors.access import Actor


def create_document_type(*, actor: Actor, project: Project, slug: str, schema: dict[str, Any]) -> DocumentType:
    """Create a document type with version 1 of its schema and an active policy that follows its fields' error costs.

    Raise InvalidInputError with every problem of the schema, ConflictError when the slug is taken.
    """
    _refuse_unusable(schema)
    with transaction.atomic(durable=True):
        if DocumentType.objects.filter(project=project, slug=slug).exists():
            raise ConflictError(
                _("This project already has a document type of this name. Publish a new version of it.")
            )
        document_type = DocumentType.objects.create(project=project, slug=slug)
        _add_version(actor, document_type, schema)
        RoutingPolicy.objects.create(
            document_type=document_type,
            number=1,
            state=PolicyState.ACTIVE,
            rules=rules_for_costs(_error_costs(schema)).as_json(),
            created_by=actor.user,
            activated_at=timezone.now(),
        )
        record_audit(actor, "document_type.created", document_type, project=project, detail={"slug": slug})
    return document_type


def publish_schema_version(*, actor: Actor, document_type: DocumentType, schema: dict[str, Any]) -> SchemaVersion:
    """Add a schema version and make it the active one; documents keep the version that read them.

    The same schema as the active one adds nothing and is returned as it stands. Raises InvalidInputError.
    """
    _refuse_unusable(schema)
    with transaction.atomic(durable=True):
        active = document_type.active_version
        if active is not None and active.digest == _digest(schema):
            return active
        version = _add_version(actor, document_type, schema)
        record_audit(
            actor, "schema_version.published", version, project=document_type.project_id, detail={"n": version.number}
        )
    return version


def _refuse_unusable(schema: object) -> None:
    try:
        validate_document_type(schema)
    except DocumentTypeError as error:
        problems = [{"pointer": pointer, "message": message} for pointer, message in error.problems]
        message = _("The document type's schema is not usable. See the problems listed and correct them.")
        raise InvalidInputError(message, code=error.code, details={"problems": problems}) from None


def _add_version(actor: Actor, document_type: DocumentType, schema: dict[str, Any]) -> SchemaVersion:
    last = document_type.schema_versions.order_by("-number").values_list("number", flat=True).first() or 0
    version = SchemaVersion.objects.create(
        document_type=document_type, number=last + 1, schema=schema, digest=_digest(schema), created_by=actor.user
    )
    document_type.active_version = version
    document_type.labels = dict(parse_document_type(schema).labels)
    document_type.save(update_fields=["active_version", "labels"])
    return version


def _error_costs(schema: dict[str, Any]) -> dict[str, float]:
    spec = parse_document_type(schema)
    columns = {f"{group.path}/*{column.path}": column.error_cost for group in spec.groups for column in group.columns}
    return {field.path: field.error_cost for field in spec.fields} | columns


def _digest(schema: object) -> str:
    return hashlib.sha256(json.dumps(schema, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
