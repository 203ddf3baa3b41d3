"""Every error of the API as problem details (RFC 9457), from one handler. Nobody ever sees `str(exception)`."""

import errno
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions as drf
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from review.exceptions import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RefusedFileError,
    StetError,
    StorageFullError,
)

logger = structlog.get_logger(__name__)

CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:stet:problem:"

Text = str | Promise

TITLES: Mapping[int, Text] = {
    400: _("The request is not valid"),
    401: _("Not signed in"),
    403: _("Not allowed"),
    404: _("Not found"),
    405: _("This method is not offered here"),
    406: _("This format is not offered"),
    409: _("In conflict with what stands"),
    411: _("The length is missing"),
    413: _("Too large"),
    415: _("This kind of content is not accepted"),
    422: _("Cannot be processed"),
    429: _("Too many requests"),
    500: _("Something went wrong"),
    503: _("Not available right now"),
    507: _("The storage is full"),
}

_STATUS_BY_CODE: Mapping[str, int] = {
    "too_many_bytes": 413,
    "body_too_large": 413,
    "length_required": 411,
    "unknown_type": 415,
    "idempotency_key_reused": 422,
}
_STATUS_BY_ERROR: tuple[tuple[type[StetError], int], ...] = (
    (NotFoundError, 404),
    (ForbiddenError, 403),
    (InvalidInputError, 400),
    (ConflictError, 409),
    (RefusedFileError, 422),
    (StorageFullError, 507),
)
_DETAIL_BY_CODE: Mapping[str, Text] = {
    "not_authenticated": _("Sign in, or send an API token as “Authorization: Bearer …”."),
    "method_not_allowed": _("See the API's schema for the methods of this path."),
    "not_acceptable": _("Answers are JSON. Send “Accept: application/json”, or none."),
    "unsupported_media_type": _("See the API's schema for the content types that this operation takes."),
    "permission_denied": ForbiddenError.message,
    "not_found": NotFoundError.message,
    "invalid": InvalidInputError.message,
    "throttled": _("Wait for as many seconds as Retry-After says, then send it again."),
}
# Members that RFC 9457 and we define; an error's details never take their place.
_RESERVED = frozenset({"type", "title", "status", "detail", "code", "instance", "request_id"})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """Turn any exception of an API view into an `application/problem+json` answer; DRF calls it."""
    request = context.get("request")
    path = request.path if request is not None else ""
    status, code, detail, extras, headers = _describe(error)
    response = Response(
        problem_body(status, code, detail, path=path, extras=extras),
        status=status,
        headers=headers,
        content_type=CONTENT_TYPE,
    )
    response.exception = True
    return response


def problem_body(
    status: int, code: str, detail: Text, *, path: str, extras: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the members of a problem; `extras` are an error's details ("problems", "current", "yours" …)."""
    return {
        "type": TYPE_PREFIX + code,
        "title": TITLES.get(status, TITLES[500]),
        "status": status,
        "detail": detail,
        "code": code,
        "instance": path,
        "request_id": str(structlog.contextvars.get_contextvars().get("request_id", "")),
        **{name: value for name, value in (extras or {}).items() if name not in _RESERVED},
    }


def plain_problem(request: HttpRequest, status: int, code: str, detail: Text) -> HttpResponse:
    """Return a problem where no DRF view is at work, such as at an unknown path."""
    body = JSONRenderer().render(problem_body(status, code, detail, path=request.path))
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE)


Description = tuple[int, str, Text, Mapping[str, Any], dict[str, str]]


def _describe(error: Exception) -> Description:  # noqa: PLR0911 - one line for each kind of error
    """Return status, code, detail, extras and headers of any exception."""
    match error:
        case StetError():
            return _status_of(error), error.code, error.message, error.details, {}
        case drf.ValidationError():
            problems = list(_problems(error.detail, ""))
            return 400, InvalidInputError.code, InvalidInputError.message, {"problems": problems}, {}
        case drf.APIException():
            return _describe_drf(error)
        case Http404():
            return 404, NotFoundError.code, NotFoundError.message, {}, {}
        case PermissionDenied():
            return 403, ForbiddenError.code, ForbiddenError.message, {}, {}
        case RequestDataTooBig():
            return 413, "body_too_large", _("The request's body is too large."), {}, {}
        case SuspiciousOperation() | BadRequest():
            return 400, "bad_request", InvalidInputError.message, {}, {}
        case OperationalError():
            _log(error, 503)
            return 503, "busy", _("The database did not answer in time. Send it again."), {}, {"Retry-After": "2"}
        case OSError(errno=number) if number in _FULL:
            _log(error, 507)
            return 507, StorageFullError.code, StorageFullError.message, {}, {}
        case _:
            _log(error, 500)
            return 500, StetError.code, StetError.message, {}, {}


def _describe_drf(error: drf.APIException) -> Description:
    headers: dict[str, str] = {}
    if auth_header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    codes = error.get_codes()
    code = codes if isinstance(codes, str) else error.default_code
    # Our own parsers and authenticators give a message of ours; for DRF's own errors there is one by code.
    detail = _DETAIL_BY_CODE.get(code) or (str(error.detail) if isinstance(error.detail, str) else StetError.message)
    return error.status_code, code, detail, {}, headers


def _status_of(error: StetError) -> int:
    by_error = next((status for kind, status in _STATUS_BY_ERROR if isinstance(error, kind)), 500)
    return _STATUS_BY_CODE.get(error.code, by_error)


def _problems(detail: object, pointer: str) -> Iterator[dict[str, Any]]:
    """Flatten DRF's nested errors to {"pointer", "code", "message"}, one for each."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            at_root = name == "non_field_errors"
            yield from _problems(inner, pointer if at_root else f"{pointer}/{_escape(name)}")
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            # A list of texts belongs to one place; a list of lists or objects is one per item.
            yield from _problems(inner, pointer if isinstance(inner, str) else f"{pointer}/{position}")
    else:
        yield {"pointer": pointer, "code": getattr(detail, "code", "invalid"), "message": str(detail)}


def _escape(name: object) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _log(error: Exception, status: int) -> None:
    """Log where it happened and what kind it was, never the message: it may hold what a document says."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    logger.error("api.unexpected_error", status=status, error_type=type(error).__qualname__, frames=frames[-12:])
