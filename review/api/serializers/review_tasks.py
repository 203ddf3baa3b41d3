"""Review tasks: the queue, one task with all that is to be looked at, and what reviewers send."""

from typing import Any

from rest_framework import serializers

from review.api.fields import (
    AnyValueField,
    BandField,
    BoxField,
    ObjectField,
    ReadSerializer,
    ReasonsField,
    WriteSerializer,
)
from review.api.serializers.documents import PageSerializer
from review.models import TaskState, Verdict

LEASE_TOKEN_LENGTH = 32
FIELD_PATH_LENGTH = 200


class TaskSerializer(ReadSerializer):
    """A task as the queue shows it."""

    id = serializers.IntegerField()
    document = serializers.IntegerField(source="document_id")
    document_type = serializers.SlugField(source="document_type.slug")
    filename = serializers.CharField(source="document.filename")
    state = serializers.ChoiceField(choices=TaskState.choices)
    priority = serializers.IntegerField()
    lease_holder = serializers.CharField(source="lease_holder.username", allow_null=True, default=None)
    lease_expires_at = serializers.DateTimeField(allow_null=True)
    n_skips = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class EditSerializer(ReadSerializer):
    """What a person saved for a field; send `version` as `base_version` of the next save."""

    field_path = serializers.CharField()
    version = serializers.IntegerField()
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    value = AnyValueField(allow_null=True)
    author = serializers.CharField(source="author.username", allow_null=True, default=None)
    saved_at = serializers.DateTimeField()


class PredictionSerializer(ReadSerializer):
    """What the reader claims for a field, how sure it is and why."""

    value = AnyValueField(allow_null=True)
    raw_text = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True, min_value=0, max_value=1)
    evidence = ObjectField()
    findings = ReasonsField()
    page_number = serializers.IntegerField(allow_null=True)
    bbox = BoxField(allow_null=True)


class TaskFieldSerializer(ReadSerializer):
    """One field of a task; `edit` null until somebody saved it."""

    field_path = serializers.CharField(source="path")
    labels = ObjectField(source="spec.labels")
    value_type = serializers.CharField(source="spec.value_type")
    is_required = serializers.BooleanField(source="spec.is_required")
    is_to_examine = serializers.BooleanField(help_text="The task cannot be submitted without a verdict on it.")
    band = BandField(source="decision.band", default=None)
    reasons = ReasonsField(source="decision.reasons", default=list)
    prediction = PredictionSerializer(allow_null=True)
    edit = EditSerializer(allow_null=True)


class ColumnSerializer(ReadSerializer):
    """One column of a repeated group; its path is relative to the row."""

    path = serializers.CharField()
    labels = ObjectField()
    value_type = serializers.CharField()
    is_required = serializers.BooleanField()


class GroupSerializer(ReadSerializer):
    """A repeated group, to which a reviewer may add rows: /line_items/3/amount."""

    path = serializers.CharField()
    labels = ObjectField()
    columns = ColumnSerializer(many=True)


class TaskDetailSerializer(TaskSerializer):
    """A task with its fields and pages; shows a `TaskDetail`."""

    document_band = BandField(source="decision.band", default=None)
    document_reasons = ReasonsField(source="decision.reasons", default=list)
    fields = TaskFieldSerializer(many=True)  # type: ignore[assignment]  # declared fields leave the class
    groups = GroupSerializer(many=True)
    pages = PageSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, those of the queue taken from the detail's task."""
        fields = super().get_fields()
        for name, field in fields.items():
            if name in TaskSerializer._declared_fields:
                field.source = f"task.{field.source or name}"
        return fields


class QueueSerializer(ReadSerializer):
    """How much work waits, and why there may be none for you."""

    n_open = serializers.IntegerField()
    n_leased = serializers.IntegerField(help_text="Of these, held by somebody right now.")
    n_skipped = serializers.IntegerField(help_text="Of these, skipped by you.")
    oldest_age_seconds = serializers.FloatField(allow_null=True)
    next_free_in_seconds = serializers.FloatField(allow_null=True, help_text="When the first lease may end.")


class LeaseSerializer(ReadSerializer):
    """A lease: send `lease_token` with everything you do to the task until `lease_expires_at`."""

    lease_token = serializers.CharField(source="token")
    lease_expires_at = serializers.DateTimeField(source="expires_at")


class GivenTaskSerializer(ReadSerializer):
    """A task for you, or null and why."""

    task = TaskDetailSerializer(allow_null=True)
    lease_token = serializers.CharField(allow_null=True)
    lease_expires_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.ChoiceField(
        allow_null=True,
        choices=["nothing_waits", "held_by_others", "skipped_by_you"],
        help_text="Why there is no task; null when there is one.",
    )
    queue = QueueSerializer(allow_null=True, help_text="The queue as you find it, when there is no task.")


class LeaseNextSerializer(WriteSerializer):
    """Which kind of task; any kind when left out."""

    document_type = serializers.SlugField(max_length=50, required=False, allow_null=True, default=None)


class HeldSerializer(WriteSerializer):
    """What proves that you hold the task."""

    lease_token = serializers.CharField(max_length=LEASE_TOKEN_LENGTH)


class ReleaseSerializer(WriteSerializer):
    """Your lease; a manager leaves it out to take the task from whoever holds it."""

    lease_token = serializers.CharField(max_length=LEASE_TOKEN_LENGTH, required=False, allow_null=True, default=None)


class ReasonedSerializer(HeldSerializer):
    """Your lease and why."""

    reason = serializers.CharField(max_length=500)


class VerdictSerializer(WriteSerializer):
    """What you found for one field."""

    field_path = serializers.CharField(max_length=FIELD_PATH_LENGTH)
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    value = AnyValueField(
        required=False,
        allow_null=True,
        default=None,
        help_text="What the page shows: text, number or null. Needed with “corrected” and “missing”.",
    )


class SubmitSerializer(HeldSerializer):
    """Your lease; `verdicts` add to what was saved and win over it."""

    verdicts = VerdictSerializer(many=True, required=False)


class SaveSerializer(VerdictSerializer):
    """One field to save on top of a version."""

    lease_token = serializers.CharField(max_length=LEASE_TOKEN_LENGTH)
    base_version = serializers.IntegerField(
        min_value=0, max_value=2**31 - 2, help_text="The version you saw; 0 where nothing was saved."
    )
    value = AnyValueField(required=False, allow_null=True, default=None)
