"""Trainings: what is learned from reviewers."""

from rest_framework import serializers

from review.api.fields import ObjectField, ReadSerializer, WriteSerializer
from review.models import ModelKind, WorkState


class TrainingRunSerializer(ReadSerializer):
    """One training and what came of it."""

    id = serializers.IntegerField(source="pk")
    kind = serializers.ChoiceField(choices=ModelKind.choices)
    document_type = serializers.CharField(source="document_type.slug", allow_null=True, default=None)
    engine_version = serializers.CharField(
        source="base.digest", allow_null=True, default=None, help_text="Whose words or evidence it learned on."
    )
    state = serializers.ChoiceField(choices=WorkState.choices)
    n_steps = serializers.IntegerField()
    n_done = serializers.IntegerField()
    error_code = serializers.CharField(help_text="Why it came to nothing; empty otherwise.")
    metrics = ObjectField(help_text="By its own account, on what it had not seen; by field where it is about fields.")
    sha256 = serializers.CharField(source="trained_model.sha256", allow_null=True, default=None)
    requested_by = serializers.CharField(source="requested_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class TrainingRequestSerializer(WriteSerializer):
    """What to learn."""

    kind = serializers.ChoiceField(choices=ModelKind.choices)
    document_type = serializers.CharField(
        required=False, help_text="Of a locator or a calibrator; a classifier is about all types."
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)
