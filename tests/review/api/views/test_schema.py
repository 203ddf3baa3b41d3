"""The OpenAPI document as it is served."""

import json

import pytest
from django.test import Client

from review.api.views.schema import JSON, YAML, document

SCHEMA = "/api/v1/schema/"


@pytest.mark.parametrize(
    ("query", "accept", "media_type"),
    [
        ("", "*/*", JSON),
        ("", "application/yaml", YAML),
        ("?format=yaml", "*/*", YAML),
        ("?format=json", "application/yaml", JSON),
        ("?format=nonsense", "*/*", JSON),
    ],
)
def test_the_format_is_the_readers_choice(query: str, accept: str, media_type: str) -> None:
    answer = Client().get(SCHEMA + query, HTTP_ACCEPT=accept)
    assert (answer.status_code, answer["Content-Type"]) == (200, media_type)
    assert answer.content == document(media_type)


def test_it_is_made_once_and_in_english() -> None:
    first = Client().get(SCHEMA, HTTP_ACCEPT_LANGUAGE="zh-hans").content
    assert document(JSON) is document(JSON)
    assert json.loads(first)["info"]["title"] == "Stet"
    assert "Problem" in json.loads(first)["components"]["schemas"]


def test_a_reader_that_has_it_is_not_sent_it_again() -> None:
    tag = Client().get(SCHEMA)["ETag"]
    again = Client().get(SCHEMA, HTTP_IF_NONE_MATCH=tag)
    assert (again.status_code, again.content) == (304, b"")


def test_it_loads_nothing_from_elsewhere() -> None:
    text = document(JSON).decode()
    assert "cdn." not in text
    assert "http://" not in text
