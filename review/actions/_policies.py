"""What every way to a policy shares: the next number, the audit row, the event."""

from collections.abc import Mapping
from typing import Any

from review.actions._audit import record_audit
from review.live.events import PolicyEvent, PolicyEventName, publish
from review.models import DocumentType, RoutingPolicy
from review.routing.policy import PolicyRules
from review.selectors.access import Actor


def create_draft(actor: Actor, document_type: DocumentType, rules: PolicyRules) -> RoutingPolicy:
    """Save rules as a draft with the next number, within the caller's transaction."""
    last = document_type.policies.order_by("-number").values_list("number", flat=True).first() or 0
    return RoutingPolicy.objects.create(
        document_type=document_type, number=last + 1, rules=rules.as_json(), created_by=actor.user
    )


def record_policy(actor: Actor, name: PolicyEventName, policy: RoutingPolicy, detail: Mapping[str, Any] = {}) -> None:
    """Write the act on a policy down and tell open pages."""
    document_type, number = policy.document_type, policy.number
    record_audit(actor, name, policy, project=document_type.project_id, detail={"number": number, **detail})
    publish(PolicyEvent(name, document_type.project_id, document_type.slug, number))
