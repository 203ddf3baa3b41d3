"""Values at the border: what is shown, and what is refused."""

from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from review.api.fields import BandField, ObjectField, WriteSerializer


class Colour(WriteSerializer):
    shade = ObjectField(required=False)


@pytest.mark.parametrize(("stored", "shown"), [("auto", "auto"), ("review", "review"), ("", None), (None, None)])
def test_a_band_is_null_before_there_is_one(stored: Any, shown: str | None) -> None:
    assert BandField().to_representation(stored) == shown


@pytest.mark.parametrize("value", [[], "x", 1, None, True])
def test_an_object_is_nothing_else(value: object) -> None:
    with pytest.raises(ValidationError):
        ObjectField().run_validation(value)


def test_an_object_is_taken_as_it_is() -> None:
    assert ObjectField().run_validation({"a": {"b": [1, None]}}) == {"a": {"b": [1, None]}}


def test_unknown_members_are_named_one_by_one() -> None:
    serializer = Colour(data={"shade": {}, "hue": 1, "tint": 2})
    assert not serializer.is_valid()
    assert list(serializer.errors) == ["hue", "tint"]


def test_known_members_pass() -> None:
    serializer = Colour(data={"shade": {"a": 1}})
    assert serializer.is_valid()
    assert serializer.validated_data == {"shade": {"a": 1}}
