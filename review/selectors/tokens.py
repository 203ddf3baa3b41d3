"""From a token's secret to whoever acts."""

import hashlib

from django.db.models import Q, QuerySet
from django.utils import timezone

from review.models import ApiToken, Project
from review.selectors.access import Actor


def token_digest(secret: str) -> str:
    """Return what is kept of a secret. Plain SHA-256 is enough: the secret has 256 random bits, nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def actor_for_token(secret: str) -> Actor | None:
    """Return who acts under this secret, or None when it is unknown, revoked, expired or its user inactive."""
    token = (
        ApiToken.objects.select_related("user")
        .filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), digest=token_digest(secret), revoked_at=None)
        .first()
    )
    return Actor(token.user, token) if token is not None and token.user.is_active else None


def tokens_for(project: Project) -> QuerySet[ApiToken]:
    """Return the tokens of a project, newest first."""
    return ApiToken.objects.select_related("user").filter(project=project).order_by("-id")
