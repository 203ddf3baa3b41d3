"""Who asks: a session with its CSRF token, or `Authorization: Bearer` with an API token."""

from datetime import timedelta
from typing import NoReturn

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from review.actions.tenancy import note_token_use
from review.models import ApiToken, User
from review.selectors.tokens import actor_for_token

__all__ = ["BearerTokenAuthentication", "SessionAuthentication"]

SCHEME = "Bearer"
NOTE_USE_EVERY = timedelta(minutes=1)


class BearerTokenAuthentication(authentication.BaseAuthentication):
    """Accepts API tokens. `request.auth` is the token; unknown, revoked and expired ones look alike."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return (user, token), None without a Bearer header; raise AuthenticationFailed for a bad one."""
        scheme, _space, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        actor = actor_for_token(secret.strip())
        if actor is None or actor.user is None or actor.api_token is None:
            raise AuthenticationFailed(_("This API token is not valid. It may have expired or been revoked."))
        token = actor.api_token
        # Looked at here first: most requests then need no transaction for it.
        if token.last_used_at is None or timezone.now() - token.last_used_at > NOTE_USE_EVERY:
            note_token_use(token=token)
        return actor.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - the library's signature
        """Name the scheme of the 401's WWW-Authenticate."""
        return f'{SCHEME} realm="stet"'


class SessionAuthentication(authentication.SessionAuthentication):
    """The browser's session; a write needs the CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        """Refuse a write without the CSRF token, in our words rather than the library's."""
        try:
            super().enforce_csrf(request)
        except PermissionDenied:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise PermissionDenied(_("The page is too old. Reload it and try again."), code="csrf_failed") from None
