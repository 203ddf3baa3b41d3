"""Kinds of values that several resources show or take."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from review.models.documents import BAND_CHOICES

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class ReadSerializer(serializers.Serializer[Any]):
    """Shows something; takes nothing."""


class WriteSerializer(serializers.Serializer[Any]):
    """Takes a body. A member that it does not know is refused: a typo must not silently change nothing."""

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401 - the library's signature
        """Return the cleaned members; raise ValidationError, also for unknown ones."""
        if isinstance(data, Mapping):
            unknown = sorted(set(map(str, data)) - set(self.fields))
            if unknown:
                raise serializers.ValidationError({name: [_("There is no such member.")] for name in unknown})
        return super().to_internal_value(data)


class BandField(serializers.ChoiceField):
    """A band, or null before there is one."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - the library's arguments
        super().__init__(**{"choices": BAND_CHOICES, "allow_null": True, **kwargs})

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]  # the stub forgets null
        """Show "" as null."""
        return str(value) if value else None


class MomentField(serializers.DateTimeField):
    """A moment; a plain date is its first one, in the installation's time zone."""

    def to_internal_value(self, value: Any) -> datetime:  # noqa: ANN401 - the library's signature
        """Return the moment; raise ValidationError."""
        if isinstance(value, str) and _DATE.fullmatch(value):
            value = f"{value}T00:00:00"
        return super().to_internal_value(value)


@extend_schema_field(OpenApiTypes.ANY)
class AnyValueField(serializers.JSONField):
    """Any JSON value: a field's value as its schema has it."""


@extend_schema_field({"type": "object", "additionalProperties": True})
class ObjectField(serializers.JSONField):
    """A JSON object of any shape."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401 - the library's signature
        """Return the object; raise ValidationError for any other value."""
        value = super().to_internal_value(data)
        if not isinstance(value, dict):
            raise serializers.ValidationError(_("This must be a JSON object."))
        return value


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "number", "minimum": 0, "maximum": 1},
        "minItems": 4,
        "maxItems": 4,
        "nullable": True,
        "description": "x0, y0, x1, y1 as shares of the page, from its top left.",
    }
)
class BoxField(serializers.JSONField):
    """A box on a page, or null."""


class ReasonsField(serializers.ListField):
    """Codes, gravest first."""

    child = serializers.CharField()
