"""Projects and their members."""

from rest_framework import serializers

from review.api.fields import ReadSerializer
from review.models import Role


class ProjectSerializer(ReadSerializer):
    """A project that the caller may see."""

    slug = serializers.SlugField()
    name = serializers.CharField()
    tenant = serializers.CharField(source="tenant.name")


class MemberSerializer(ReadSerializer):
    """A user and the role in the project."""

    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(choices=Role.choices)
    created_at = serializers.DateTimeField()
