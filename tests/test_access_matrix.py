"""Every route × everybody: who gets which status. A route without a row fails, and so does a row without a route."""

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from review.models import User
from tests.access_matrix import api, web
from tests.access_matrix.rows import CAST, Exemption, Row
from tests.access_matrix.world import World
from tests.conftest import Cast

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROWS = [*api.ROWS, *web.ROWS]
EXEMPTIONS = [
    Exemption("admin:", "the admin's own pages: staff only, tested in tests/review/test_admin.py"),
    Exemption("set_language", "Django's own: it sets a cookie for anybody"),
]


def routes(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, method) of every route; a function view counts with GET alone unless it says otherwise."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from routes(entry, inner)
        elif isinstance(entry, URLPattern):
            for method in methods_of(entry):
                yield f"{namespace}{entry.name}", method


def methods_of(pattern: URLPattern) -> list[str]:
    view = getattr(pattern.callback, "view_class", None) or getattr(pattern.callback, "cls", None)
    if view is None:
        return ["GET"]
    return [method for method in METHODS if hasattr(view, method.lower()) and method.lower() in view.http_method_names]


ROUTES = sorted(set(routes(get_resolver())))


def is_exempt(name: str) -> bool:
    return any(name.startswith(exemption.prefix) for exemption in EXEMPTIONS)


def test_every_route_has_a_row() -> None:
    known = {(row.name, row.method) for row in ROWS}
    # A function view answers methods of its own choice: any row for it will do.
    known_names = {row.name for row in ROWS}
    missing = [
        f"{method} {name}"
        for name, method in ROUTES
        if not is_exempt(name) and (name, method) not in known and not (is_function(name) and name in known_names)
    ]
    assert missing == []


def is_function(name: str) -> bool:
    return [method for other, method in ROUTES if other == name] == ["GET"]


def test_every_row_has_a_route() -> None:
    names = {name for name, _ in ROUTES}
    assert [str(row) for row in ROWS if row.name not in names] == []


def test_every_route_has_a_name() -> None:
    assert [name for name, _ in ROUTES if name.endswith("None") and not is_exempt(name)] == []


@pytest.mark.parametrize("who", CAST)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_everybody_gets_what_the_matrix_says(row: Row, who: str, cast: Cast) -> None:
    user: User | None = None if who == "anonymous" else getattr(cast, who)
    world = World(cast, user)
    client = APIClient()
    if user is not None:
        client.force_login(user)
    path = "/api/v1/nowhere/" if row.name == "unknown_api_path" else reverse(row.name, kwargs=dict(row.kwargs(world)))
    send = getattr(client, row.method.lower())
    data = dict(row.data(world)) or None
    answer = send(path + row.query, data) if row.method == "GET" else send(path, data, format=row.content_format)
    if answer.streaming:
        assert b"".join(answer.streaming_content)
    assert answer.status_code == row.statuses[CAST.index(who)]


def test_the_matrix_would_see_a_route_without_a_row() -> None:
    names = {name for name, _ in ROUTES}
    assert {"api:documents", "api:submit", "healthz"} <= names
    assert ("api:exports", "POST") in ROUTES
    assert ("api:export", "DELETE") in ROUTES
