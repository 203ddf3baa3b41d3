"""Snapshots."""

from rest_framework import serializers

from review.api.fields import ReadSerializer, WriteSerializer
from review.models import Holding, Personal, WorkState


class SnapshotSerializer(ReadSerializer):
    """A snapshot and how far it is. Ask again until `state` is done, failed or cancelled."""

    id = serializers.IntegerField()
    holding = serializers.ChoiceField(choices=Holding.choices)
    personal = serializers.ChoiceField(choices=Personal.choices)
    seed = serializers.CharField()
    validation_share = serializers.FloatField()
    test_share = serializers.FloatField()
    state = serializers.ChoiceField(choices=WorkState.choices)
    n_records = serializers.IntegerField()
    n_done = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the manifest, once it is taken.")
    error_code = serializers.CharField(help_text="Why it failed.")
    requested_by = serializers.CharField(source="requested_by.username", allow_null=True, default=None)
    taken_at = serializers.DateTimeField(help_text="The records as they stood then.")
    finished_at = serializers.DateTimeField(allow_null=True)


class SnapshotDetailSerializer(SnapshotSerializer):
    """A snapshot with its manifest."""

    manifest = serializers.JSONField(help_text="What it holds and what was left out and why: see docs/exports.md.")


class SnapshotOrderSerializer(WriteSerializer):
    """What to freeze, and how to split it."""

    holding = serializers.CharField(max_length=10, required=False, help_text="reviewed, settled or everything.")
    personal = serializers.CharField(max_length=8, required=False, help_text="kept, masked or left_out.")
    seed = serializers.CharField(max_length=64, required=False, help_text="The same seed gives the same sides.")
    validation_share = serializers.FloatField(required=False, help_text="Of the documents, 0-1; 0.1 if not given.")
    test_share = serializers.FloatField(required=False, help_text="Of the documents, 0-1; 0.1 if not given.")


class SnapshotExportOrderSerializer(WriteSerializer):
    """Which archive to write of a snapshot."""

    format = serializers.CharField(max_length=20, help_text="A format of docs/exports.md.")
    archive = serializers.CharField(max_length=3, required=False, default="zip", help_text="zip or tar.")
