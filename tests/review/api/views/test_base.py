"""What every view of a project must say, and what it gets for it."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from review.api.views.base import ApiView, ProjectView
from review.models import Role


def api_views(resolver: URLResolver) -> Iterator[type[ApiView]]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from api_views(entry)
        elif isinstance(entry, URLPattern):
            view = getattr(entry.callback, "cls", None)
            if isinstance(view, type) and issubclass(view, ApiView):
                yield view


VIEWS = sorted(set(api_views(get_resolver())), key=lambda view: view.__name__)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_view_that_writes_must_name_the_role_it_needs(method: str) -> None:
    def write(self: ProjectView, request: Any, **_: object) -> Response:
        return Response()

    with pytest.raises(TypeError, match=method):
        type("Forgetful", (ProjectView,), {method: write})
    type("Careful", (ProjectView,), {method: write, "roles": {method.upper(): Role.ADMIN}})


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_a_view_takes_its_objects_from_the_access_door(view: type[ApiView]) -> None:
    if issubclass(view, ProjectView):
        assert view.access is not ApiView.access
    else:
        assert view.__name__ in {"ProjectListApiView", "ExportDownloadView"}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_only_the_signed_download_asks_for_no_credentials(view: type[ApiView]) -> None:
    assert bool(view.authentication_classes) is (view.__name__ != "ExportDownloadView")


class Reading(ProjectView):
    roles: ClassVar = {"DELETE": Role.ADMIN}

    def delete(self, request: Any, **_: object) -> Response:
        return Response()


@pytest.mark.parametrize(
    ("method", "role"),
    [("GET", Role.VIEWER), ("HEAD", Role.VIEWER), ("OPTIONS", Role.VIEWER), ("DELETE", Role.ADMIN)],
)
def test_reading_needs_a_viewer_and_writing_what_is_declared(method: str, role: Role) -> None:
    view = Reading()
    view.request = view.initialize_request(APIRequestFactory().generic(method, "/"))
    assert view.required_role is role


def test_a_project_is_not_there_before_it_was_accessed() -> None:
    with pytest.raises(RuntimeError):
        _ = Reading().project
