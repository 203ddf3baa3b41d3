"""Targets of fields, what the examined values carry, and what is stopped."""

from typing import Any

from rest_framework import serializers

from review.api.fields import ReadSerializer, WriteSerializer
from review.models import FieldMonitor

_OF_DOCUMENT = "How many values of one document count in full; 1 for a field, 10 for a table's column."


class CertificateSerializer(ReadSerializer):
    """What the examined values carried for one field when a policy was drafted from targets."""

    field_path = serializers.CharField()
    threshold = serializers.FloatField(allow_null=True, help_text="null: not automated, all values go to a person.")
    wrong_share = serializers.FloatField(source="target")
    confidence = serializers.FloatField()
    upper_limit = serializers.FloatField(help_text="The bound on the wrong share that the values carry.")
    n_examined = serializers.IntegerField()
    n_trials = serializers.IntegerField(help_text="Independent trials at or above the threshold.")
    n_wrong = serializers.IntegerField()
    n_frame = serializers.IntegerField(help_text="Values routed in the last 30 days.")
    n_stored = serializers.IntegerField(help_text="How many of them would be stored without waiting for a person.")
    n_more_needed = serializers.IntegerField(
        allow_null=True, help_text="About so many more examined values; null: automated, or no number will do."
    )
    look = serializers.IntegerField(help_text="Which attempt this was; one that could not have passed does not count.")
    created_at = serializers.DateTimeField()


class MonitorSerializer(ReadSerializer):
    """What the audits of a field's stored values have shown since its monitor began."""

    began_at = serializers.DateTimeField()
    n_documents = serializers.SerializerMethodField()
    n_wrong = serializers.SerializerMethodField()
    tripped_at = serializers.DateTimeField(allow_null=True, help_text="Since then the field is stopped.")

    def get_n_documents(self, monitor: FieldMonitor) -> int:
        """Return the number of audited documents."""
        return int(monitor.state["n_documents"])

    def get_n_wrong(self, monitor: FieldMonitor) -> int:
        """Return the number of wrong values in them."""
        return int(monitor.state["n_wrong"])


class TargetSerializer(ReadSerializer):
    """At most `wrong_share` wrong among the values of a field that are stored unseen, at that confidence."""

    field_path = serializers.CharField()
    wrong_share = serializers.FloatField()
    confidence = serializers.FloatField()
    most_per_document = serializers.IntegerField(help_text=_OF_DOCUMENT)
    set_by = serializers.CharField(source="set_by.username", allow_null=True, default=None)
    set_at = serializers.DateTimeField()
    certificate = CertificateSerializer(allow_null=True)
    monitor = MonitorSerializer(allow_null=True)


class TargetListSerializer(ReadSerializer):
    """The targets of a document type."""

    results = TargetSerializer(many=True)


class TargetDraftSerializer(WriteSerializer):
    """A target to set."""

    field_path = serializers.CharField(max_length=200, help_text="Rows as `*`, such as /line_items/*/amount.")
    wrong_share = serializers.FloatField(help_text="Above 0 and below 0.5.")
    confidence = serializers.FloatField(default=0.95)
    most_per_document = serializers.IntegerField(required=False, min_value=1, max_value=32_000, help_text=_OF_DOCUMENT)


class FieldNameSerializer(WriteSerializer):
    """Which field is meant."""

    field_path = serializers.CharField(max_length=200)


def target_as_data(target: Any, certificate: Any, monitor: Any) -> dict[str, Any]:  # noqa: ANN401 - rows of three tables
    """Return what `TargetSerializer` shows."""
    names = ("field_path", "wrong_share", "confidence", "most_per_document", "set_by", "set_at")
    return {name: getattr(target, name) for name in names} | {"certificate": certificate, "monitor": monitor}
