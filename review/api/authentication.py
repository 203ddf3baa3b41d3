"""Who asks: a session with its CSRF token, or `Authorization: Bearer` with an API token."""

from rest_framework.authentication import BaseAuthentication, SessionAuthentication

__all__ = ["BearerTokenAuthentication", "SessionAuthentication"]


class BearerTokenAuthentication(BaseAuthentication):
    """Accepts API tokens."""
