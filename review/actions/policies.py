"""Versioned thresholds: drafted, activated, retired, brought back."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from review.actions._policies import create_draft, record_policy
from review.exceptions import InvalidInputError
from review.models import DocumentType, PolicyState, RoutingPolicy
from review.routing.policy import PolicyError, PolicyRules
from review.selectors.access import Actor


def draft_policy(*, actor: Actor, document_type: DocumentType, rules: dict[str, Any]) -> RoutingPolicy:
    """Save rules as a draft with the next number; raise InvalidInputError with every problem of the rules."""
    try:
        parsed = PolicyRules.from_json(rules)
    except PolicyError as error:
        problems = [{"pointer": pointer, "message": message} for pointer, message in error.problems]
        raise InvalidInputError(code=error.code, details={"problems": problems}) from None
    with transaction.atomic(durable=True):
        policy = create_draft(actor, document_type, parsed)
        record_policy(actor, "policy.drafted", policy)
    return policy


def activate_policy(*, actor: Actor, policy: RoutingPolicy) -> RoutingPolicy:
    """Make a draft, or a retired policy again, the active one; the one active until now is retired."""
    with transaction.atomic(durable=True):
        document_type = policy.document_type
        document_type.policies.filter(state=PolicyState.ACTIVE).exclude(pk=policy.pk).update(state=PolicyState.RETIRED)
        policy.state, policy.activated_at = PolicyState.ACTIVE, timezone.now()
        policy.save(update_fields=["state", "activated_at"])
        record_policy(actor, "policy.activated", policy)
    return policy
