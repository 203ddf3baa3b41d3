"""Records: accepted values, each with where it came from."""

from rest_framework import serializers

from review.api.fields import BandField, ObjectField, ReadSerializer


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


class ListedRecordSerializer(RecordSerializer):
    """A record with what is asked most of its document."""

    document_type = serializers.SlugField(source="document.document_type.slug")
    filename = serializers.CharField(source="document.filename")
    status = serializers.CharField(source="document.status")
    band = BandField(source="document.band")
