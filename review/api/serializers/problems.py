"""The shape of an error."""

from rest_framework import serializers

from review.api.fields import ReadSerializer


class PlaceSerializer(ReadSerializer):
    """One thing that is wrong with a request, and where."""

    pointer = serializers.CharField(help_text="JSON Pointer into the body, or the name of a parameter; empty: all.")
    code = serializers.CharField(required=False)
    message = serializers.CharField()


class ProblemSerializer(ReadSerializer):
    """Problem details (RFC 9457). Conflicts carry further members, such as `current` and `yours`."""

    type = serializers.CharField(help_text="urn:stet:problem:<code>")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What happened and what to do, in the language of Accept-Language.")
    code = serializers.CharField(help_text="Stable, for programs.")
    instance = serializers.CharField()
    request_id = serializers.CharField(help_text="Also in the header X-Request-ID and in the logs.")
    problems = PlaceSerializer(many=True, required=False)
