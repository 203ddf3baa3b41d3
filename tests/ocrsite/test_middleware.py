"""Every answer has a request id: the caller's own when it is well formed, a new one otherwise."""

import re

import pytest
import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import ResolverMatch

from ocrsite.middleware import request_id_middleware


def request_with(request_id: str | None) -> HttpRequest:
    headers = {} if request_id is None else {"X-Request-ID": request_id}
    return RequestFactory().get("/", headers=headers)


def bound(_: HttpRequest) -> HttpResponse:
    return HttpResponse(structlog.contextvars.get_contextvars().get("request_id", ""))


def test_a_well_formed_id_is_kept_bound_and_answered() -> None:
    response = request_id_middleware(bound)(request_with("caller-0001"))
    assert isinstance(response, HttpResponse)
    assert response["X-Request-ID"] == "caller-0001"
    assert response.content == b"caller-0001"


@pytest.mark.parametrize("given", [None, "", "short", "with space in it", "x" * 65, "ünïcödé-id", "new\tline-here"])
def test_any_other_id_is_replaced(given: str | None) -> None:
    response = request_id_middleware(bound)(request_with(given))
    assert isinstance(response, HttpResponse)
    assert re.fullmatch(r"[0-9a-f]{32}", response["X-Request-ID"])
    assert response.content.decode() == response["X-Request-ID"]


def test_the_id_is_gone_after_the_request() -> None:
    request_id_middleware(bound)(request_with("caller-0001"))
    assert "request_id" not in structlog.contextvars.get_contextvars()


async def test_an_asynchronous_view_has_it_too() -> None:
    async def view(request: HttpRequest) -> HttpResponse:
        return bound(request)

    answer = request_id_middleware(view)
    assert iscoroutinefunction(answer)
    response = await answer(request_with("caller-0002"))
    assert isinstance(response, HttpResponse)
    assert response["X-Request-ID"] == "caller-0002"
    assert response.content == b"caller-0002"


def test_every_answer_is_one_line_with_its_id_and_no_query() -> None:
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        request_id_middleware(bound)(request_with("caller-0003"))
    assert [(line["event"], line["method"], line["path"], line["status"]) for line in lines] == [
        ("request", "GET", "/", 200)
    ]
    assert lines[0]["request_id"] == "caller-0003"
    assert isinstance(lines[0]["ms"], int)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_a_probe_leaves_no_line(path: str) -> None:
    with structlog.testing.capture_logs() as lines:
        request_id_middleware(bound)(RequestFactory().get(path))
    assert lines == []


def test_the_token_of_a_signed_link_is_not_written_down() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        request.resolver_match = ResolverMatch(bound, (), {"token": "7:secret"})
        return HttpResponse(status=405)

    with structlog.testing.capture_logs() as lines:
        request_id_middleware(view)(RequestFactory().get("/api/v1/exports/download/7:secret/"))
    assert lines[0]["path"] == "/api/v1/exports/download/…/"
