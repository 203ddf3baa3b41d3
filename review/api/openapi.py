"""What the OpenAPI document says that no view says for itself: problems, credentials, the idempotency header."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from review.api.problems import CONTENT_TYPE, TITLES
from review.api.serializers.problems import ProblemSerializer

IDEMPOTENCY_KEY = OpenApiParameter(
    name="Idempotency-Key",
    location=OpenApiParameter.HEADER,
    required=False,
    type={"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[!-~]{1,100}$"},
    description=(
        "A name of your choice for this request, such as a UUID. Sent again with the same key and body within "
        "24 hours, it is answered as it was the first time (with `Idempotent-Replayed: true`) and nothing is done "
        "twice; with another body it is refused (422). After an error the key is free again."
    ),
)
_ANYWHERE = "Any other problem, such as 401, 403, 404, 405, 413, 429 or 503."


def problems(*statuses: int) -> dict[tuple[int, str], OpenApiResponse]:
    """Return the responses of `extend_schema` for problems that are part of an operation's contract."""
    return {
        (status, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description=str(TITLES[status]))
        for status in statuses
    }


def describe_problems(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Say of every operation that any error is a problem; a post-processing hook of drf-spectacular."""
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"].setdefault("default", {"description": _ANYWHERE, "content": content})
    return result


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """API tokens."""

    target_class = "review.api.authentication.BearerTokenAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002 - the library's
        """Describe the header."""
        return {"type": "http", "scheme": "bearer", "description": "An API token of one project: `stet_…`."}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The browser's session."""

    target_class = "review.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:  # noqa: ARG002 - the library's
        """Describe the cookie."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The session of a signed-in browser; a write also needs the header `X-CSRFToken`.",
        }
