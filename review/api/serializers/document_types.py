"""Document types, their schema versions and their routing policies."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from review.api.fields import ObjectField, ReadSerializer, WriteSerializer
from review.api.serializers.targets import CertificateSerializer
from review.models import PolicyState
from review.selectors.schemas import not_constrained


class NoteSerializer(ReadSerializer):
    """Something to know of one place in a schema."""

    pointer = serializers.CharField(help_text="JSON Pointer into the schema.")
    message = serializers.CharField()


@extend_schema_field(NoteSerializer(many=True))
class BeyondConstraintsField(serializers.Field[Any, Any, Any, Any]):
    """What a language model cannot be held to while it writes; its answers are checked against it all the same."""

    def to_representation(self, value: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the places in the schema."""
        return [{"pointer": pointer, "message": message} for pointer, message in not_constrained(value)]


class SchemaVersionSerializer(ReadSerializer):
    """One frozen version of a schema."""

    number = serializers.IntegerField()
    schema = ObjectField()
    digest = serializers.CharField()
    created_at = serializers.DateTimeField()
    not_constrained = BeyondConstraintsField(source="schema")


class DocumentTypeSerializer(ReadSerializer):
    """A kind of document."""

    slug = serializers.SlugField()
    labels = ObjectField()
    active_version = serializers.IntegerField(source="active_version.number", allow_null=True, default=None)
    created_at = serializers.DateTimeField()


class DocumentTypeDetailSerializer(DocumentTypeSerializer):
    """A kind of document with the schema in force."""

    schema = ObjectField(source="active_version.schema", allow_null=True, default=None)
    not_constrained = BeyondConstraintsField(source="active_version.schema", default=list)


class DocumentTypeDraftSerializer(WriteSerializer):
    """A new document type."""

    slug = serializers.SlugField(max_length=50)
    schema = ObjectField(help_text="JSON Schema (2020-12) with `x-` hints; see docs/api.md.")


class SchemaDraftSerializer(WriteSerializer):
    """A new version of a schema."""

    schema = ObjectField()


class PolicySerializer(ReadSerializer):
    """One version of the thresholds and rates of a document type."""

    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=PolicyState.choices)
    rules = ObjectField()
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    activated_at = serializers.DateTimeField(allow_null=True)
    certificates = CertificateSerializer(
        many=True, source="certificates.all", help_text="Of a policy that was drafted from targets: one for each."
    )


class PolicyDraftSerializer(WriteSerializer):
    """A draft of rules; a key that is left out keeps its default."""

    rules = ObjectField()
