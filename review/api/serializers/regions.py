"""Parts of pages that a reviewer wants read again, and how long reviewers work."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from review.api.fields import AnyValueField, BoxField, ReadSerializer, WriteSerializer
from review.api.serializers.review_tasks import FIELD_PATH_LENGTH
from review.models import RegionState

KEY_LENGTH = 40
MAX_ENTRIES = 200


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "number", "minimum": 0, "maximum": 1},
        "minItems": 4,
        "maxItems": 4,
        "description": "x0, y0, x1, y1 as shares of the page, from its top left; above 0 wide and high.",
    }
)
class GivenBoxField(serializers.ListField):
    """A box with some extent, on the page."""

    child = serializers.FloatField(min_value=0, max_value=1)

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - the library's arguments
        super().__init__(**{"min_length": 4, "max_length": 4, **kwargs})

    def to_internal_value(self, data: Any) -> list[float]:  # noqa: ANN401 - the library's signature
        """Return the box; raise ValidationError for one without extent."""
        box = super().to_internal_value(data)
        # Another length is what the validators after this say.
        if len(box) == 4 and (box[0] >= box[2] or box[1] >= box[3]):
            raise serializers.ValidationError(
                _("The right edge lies left of the left one, or the lower above the upper.")
            )
        return box


class AskRegionSerializer(WriteSerializer):
    """Which part of which page is to be read again, for which field."""

    page_number = serializers.IntegerField(min_value=1, max_value=10**9 - 1)
    bbox = GivenBoxField()
    field_path = serializers.CharField(max_length=FIELD_PATH_LENGTH)


class RegionSerializer(ReadSerializer):
    """A part of a page, and what stands there once `state` is “done”."""

    id = serializers.IntegerField()
    page_number = serializers.IntegerField(source="page.page_number")
    bbox = BoxField()
    field_path = serializers.CharField()
    state = serializers.ChoiceField(choices=RegionState.choices)
    text = serializers.CharField(allow_null=True, help_text="As printed; empty where nothing was found.")
    value = AnyValueField(allow_null=True, help_text="The text as a value of the field; null where it is none.")
    error_code = serializers.CharField(help_text="Why it failed; empty otherwise.")


class SpentSerializer(WriteSerializer):
    """Seconds on one field, or on the task as a whole."""

    field_path = serializers.CharField(
        max_length=FIELD_PATH_LENGTH, allow_blank=True, help_text="Empty for the task as a whole."
    )
    seconds = serializers.FloatField(min_value=0, max_value=3600)


class ReportTimeSerializer(WriteSerializer):
    """Active time since the last report, idle time left out. `client_key` names the report: it counts once."""

    client_key = serializers.RegexField(r"^[!-~]+$", max_length=KEY_LENGTH)
    entries = serializers.ListField(child=SpentSerializer(), max_length=MAX_ENTRIES)
