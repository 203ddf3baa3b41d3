"""API tokens. The secret is shown once, in the answer that made it."""

from rest_framework import serializers

from review.api.fields import ReadSerializer, WriteSerializer
from review.models import Role


class TokenSerializer(ReadSerializer):
    """A token without its secret."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="How the secret begins, to recognise it by.")
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewTokenSerializer(ReadSerializer):
    """A token that was just made."""

    token = TokenSerializer()
    secret = serializers.CharField(
        allow_null=True, help_text="Shown this once and kept nowhere; null when the answer is a repeated one."
    )


class TokenDraftSerializer(WriteSerializer):
    """What a token is to be. It acts as a member of the project and never beyond that member's role."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=Role.choices)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
