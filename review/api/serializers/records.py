"""Records: accepted values, each with where it came from."""

from typing import Any

from rest_framework import serializers

from review.api.fields import BandField, ObjectField, ReadSerializer
from review.models import Record


class RecordSerializer(ReadSerializer):
    """One revision of the accepted values of a document."""

    id = serializers.IntegerField()
    document = serializers.IntegerField(source="document_id")
    revision = serializers.IntegerField()
    is_current = serializers.BooleanField()
    values = ObjectField(help_text="Field path to value.")
    provenance = ObjectField(
        help_text=(
            "Field path to {source: “model”, engine_version, policy, confidence} "
            "or {source: “person”, reviewer, verdict, task}."
        )
    )
    reviewer = serializers.CharField(source="reviewer.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    is_withheld = serializers.BooleanField(
        default=False,
        help_text="You may be asked about this document: values, and who said so, are empty as long as that is so.",
    )

    def to_representation(self, record: Record) -> dict[str, Any]:
        """Return the record; without what people said as long as that is kept from who asks."""
        shown: dict[str, Any] = super().to_representation(record)
        return shown | {"values": {}, "provenance": {}, "reviewer": None} if shown["is_withheld"] else shown


class ListedRecordSerializer(RecordSerializer):
    """A record with what is asked most of its document."""

    document_type = serializers.SlugField(source="document.document_type.slug")
    filename = serializers.CharField(source="document.filename")
    status = serializers.CharField(source="document.status")
    band = BandField(source="document.band")
