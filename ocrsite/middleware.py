"""Every request has an id: taken from X-Request-ID when it is well formed, made otherwise; answered and logged."""

import re
import uuid
from collections.abc import Awaitable, Callable
from typing import cast

import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")

SyncAnswer = Callable[[HttpRequest], HttpResponseBase]
AsyncAnswer = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_id_middleware(get_response: SyncAnswer | AsyncAnswer) -> SyncAnswer | AsyncAnswer:
    """Bind `request_id` to the log context for the length of a request."""
    if iscoroutinefunction(get_response):
        answer_later = cast("AsyncAnswer", get_response)

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            request_id = _request_id(request)
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                response = await answer_later(request)
            response["X-Request-ID"] = request_id
            return response

        return answer_async

    answer_now = cast("SyncAnswer", get_response)

    def answer(request: HttpRequest) -> HttpResponseBase:
        request_id = _request_id(request)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = answer_now(request)
        response["X-Request-ID"] = request_id
        return response

    return answer


def _request_id(request: HttpRequest) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if _WELL_FORMED.fullmatch(given) else uuid.uuid4().hex
