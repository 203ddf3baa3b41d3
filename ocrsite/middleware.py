"""Every request has an id: taken from X-Request-ID when it is well formed, made otherwise; answered and logged."""

import re
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import cast

import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")
# Probes ask every few seconds; a line for each would bury the rest.
_QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})

SyncAnswer = Callable[[HttpRequest], HttpResponseBase]
AsyncAnswer = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

log = structlog.get_logger("stet.requests")


@sync_and_async_middleware
def request_id_middleware(get_response: SyncAnswer | AsyncAnswer) -> SyncAnswer | AsyncAnswer:
    """Bind `request_id` to the log context for the length of a request, and write one line when it is answered."""
    if iscoroutinefunction(get_response):
        answer_later = cast("AsyncAnswer", get_response)

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            request_id, started = _request_id(request), time.monotonic()
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                response = await answer_later(request)
                _tell(request, response, started)
            response["X-Request-ID"] = request_id
            return response

        return answer_async

    answer_now = cast("SyncAnswer", get_response)

    def answer(request: HttpRequest) -> HttpResponseBase:
        request_id, started = _request_id(request), time.monotonic()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = answer_now(request)
            _tell(request, response, started)
        response["X-Request-ID"] = request_id
        return response

    return answer


def _request_id(request: HttpRequest) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if _WELL_FORMED.fullmatch(given) else uuid.uuid4().hex


def _tell(request: HttpRequest, response: HttpResponseBase, started: float) -> None:
    if request.path in _QUIET_PATHS:
        return
    milliseconds = round((time.monotonic() - started) * 1000)
    log.info("request", method=request.method, path=_shown_path(request), status=response.status_code, ms=milliseconds)


def _shown_path(request: HttpRequest) -> str:
    """Return the path without what opens a door by itself: the token of a signed link."""
    match = request.resolver_match
    token = str(match.kwargs.get("token", "")) if match is not None else ""
    return request.path.replace(token, "…") if token else request.path
