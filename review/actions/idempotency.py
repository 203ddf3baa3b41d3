"""Requests that must not be done twice.

Bookkeeping of the transport: it changes no data of a project, hence no audit row and no event; the action that a key
protects writes both.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.exceptions import ConflictError, InvalidInputError
from review.models import IdempotencyKey
from review.selectors.access import Actor

# After this long without an answer the process that held the key is taken for dead, and a retry may go ahead.
ABANDONED_AFTER = timedelta(seconds=60)
KEPT_FOR = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """This request is the one that may act; it must end in `keep_answer` or `free_key`."""

    key_id: int
    claimed_at: datetime


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What the first request with this key was answered."""

    status: int
    body: object


def claim_key(*, actor: Actor, key: str, path: str, request_digest: str) -> KeyClaim | KeptAnswer:
    """Claim a key for its user and path, or return the answer it already has.

    Raise InvalidInputError `idempotency_key_reused` for another request under the same key, ConflictError
    `idempotency_in_progress` while the first request is at work.
    """
    now = timezone.now()
    with transaction.atomic(durable=True):
        found, is_new = IdempotencyKey.objects.get_or_create(
            user=actor.user,
            path=path[:300],
            key=key,
            defaults={"api_token": actor.api_token, "request_digest": request_digest},
        )
        if is_new:
            return KeyClaim(found.pk, found.created_at)
        if found.request_digest != request_digest:
            message = _("This Idempotency-Key was used for another request. Use a new key for a new request.")
            raise InvalidInputError(message, code="idempotency_key_reused")
        if found.response_status is not None:
            return KeptAnswer(found.response_status, found.response_body)
        # Compare-and-set on the time of the claim: of several retries after a crash one goes ahead.
        abandoned = IdempotencyKey.objects.filter(
            pk=found.pk, response_status=None, created_at=found.created_at, created_at__lt=now - ABANDONED_AFTER
        )
        if abandoned.update(created_at=now):
            return KeyClaim(found.pk, now)
    message = _("The first request with this Idempotency-Key is still at work. Ask again in a moment.")
    raise ConflictError(message, code="idempotency_in_progress")


def keep_answer(*, claim: KeyClaim, status: int, body: object) -> None:
    """Store the answer under the key, unless somebody took the claim over in the meantime."""
    with transaction.atomic(durable=True):
        _claimed(claim).update(response_status=status, response_body=body)


def free_key(*, claim: KeyClaim) -> None:
    """Give the key back after a failure: nothing was created, so the request may be corrected and sent again."""
    with transaction.atomic(durable=True):
        _claimed(claim).delete()


def forget_old_keys(*, kept_for: timedelta = KEPT_FOR) -> int:
    """Delete the keys that are older than `kept_for`; return how many."""
    with transaction.atomic(durable=True):
        return IdempotencyKey.objects.filter(created_at__lt=timezone.now() - kept_for).delete()[0]


def _claimed(claim: KeyClaim) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(pk=claim.key_id, created_at=claim.claimed_at, response_status=None)
