"""Roll-outs: an engine version on its way to reading a document type."""

from rest_framework import serializers

from review.api.fields import ObjectField, ReadSerializer, WriteSerializer
from review.models import RolloutStage

REFERENCE_LENGTH = 64


class VersionSerializer(ReadSerializer):
    """An engine version."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    digest = serializers.CharField()


class RolloutSerializer(ReadSerializer):
    """One roll-out; shares are fractions."""

    id = serializers.IntegerField()
    engine_version = VersionSerializer()
    champion = VersionSerializer(allow_null=True, help_text="Who read the type when this one began.")
    stage = serializers.ChoiceField(choices=RolloutStage.choices)
    stage_since = serializers.DateTimeField()
    shadow_share = serializers.FloatField()
    disagreement_share = serializers.FloatField()
    canary_share = serializers.FloatField()
    started_by = serializers.CharField(source="started_by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    ended_because = serializers.CharField()


class AgreementSerializer(ReadSerializer):
    """How often both gave the same value for a field, and who was right where a person settled a difference."""

    field_path = serializers.CharField()
    n = serializers.IntegerField()
    agreement = serializers.FloatField(source="agreement.point", allow_null=True)
    lower = serializers.FloatField(source="agreement.lower")
    upper = serializers.FloatField(source="agreement.upper")
    n_champion_right = serializers.IntegerField(source="n_champion")
    n_challenger_right = serializers.IntegerField(source="n_challenger")
    n_neither_right = serializers.IntegerField(source="n_neither")


class GateSerializer(ReadSerializer):
    """Whether it may go on; `refusal` is a code of why not, `message` the same in words."""

    is_open = serializers.BooleanField()
    refusal = serializers.CharField()
    message = serializers.CharField()
    regression_set = serializers.CharField(allow_null=True, help_text="Name and version of the set that counts.")
    comparison = ObjectField(
        source="comparison.results",
        allow_null=True,
        default=None,
        help_text="Figures by field, as `manage.py evaluate --compare --json` prints them.",
    )


class CountsSerializer(ReadSerializer):
    """Documents: read twice, waiting to be, not readable by the challenger, read by it for real."""

    n_compared = serializers.IntegerField()
    n_waiting = serializers.IntegerField()
    n_failed = serializers.IntegerField()
    n_for_real = serializers.IntegerField()


class RolloutDetailSerializer(ReadSerializer):
    """A roll-out with what it has shown so far; `gate` is null for one that is live or has ended."""

    rollout = RolloutSerializer()
    counts = CountsSerializer()
    agreement = AgreementSerializer(many=True)
    gate = GateSerializer(allow_null=True)


class RolloutDraftSerializer(WriteSerializer):
    """Which version to roll out, and how."""

    engine_version = serializers.CharField(
        max_length=REFERENCE_LENGTH, help_text="Its id, or 8 letters of its digest or more."
    )
    shadow_share = serializers.FloatField(default=0.2, min_value=0, max_value=1)
    disagreement_share = serializers.FloatField(default=0.02, min_value=0, max_value=1)
    canary_share = serializers.FloatField(default=0.05, min_value=0, max_value=1)


class RollBackSerializer(WriteSerializer):
    """Why a roll-out ends."""

    reason = serializers.CharField(max_length=500)
