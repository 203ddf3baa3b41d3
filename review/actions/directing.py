"""Audits of fairly sure documents, sent where there is something to learn: as a draft, like every policy."""

from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from review.actions._policies import create_draft, record_policy
from review.exceptions import ConflictError, InvalidInputError
from review.models import DocumentType, RoutingPolicy
from review.routing.directed import rule_for
from review.routing.policy import Directed, PolicyRules
from review.selectors.access import Actor
from review.selectors.document_types import active_policy
from review.selectors.interest import recent_interests

ENOUGH = 30
"""So many documents of late tell how interesting documents are on average."""


def draft_directed_audits(*, actor: Actor, document_type: DocumentType, floor_share: float | None) -> RoutingPolicy:
    """Draft the policy in force with the audits of its sampled band directed; None: everywhere alike again.

    As many documents are audited as before, on average, and none with less than `floor_share` (above 0, at most 1) of
    that rate: the scale is set by the documents of late. Raise InvalidInputError at /floor_share, ConflictError where
    too few documents were sampled to set it.
    """
    if floor_share is not None and not 0 < floor_share <= 1:
        raise InvalidInputError.at("/floor_share", _("Give a share above 0 and at most 1, such as 0.5."))
    found = active_policy(document_type)
    stands = found[1] if found is not None else PolicyRules()
    directed = None
    if floor_share is not None:
        interests = recent_interests(document_type)
        if len(interests) < ENOUGH:
            message = _("Too few documents were fairly sure so far: at least %(n)s show where there is more to learn.")
            raise ConflictError(message % {"n": ENOUGH})
        rule = rule_for(interests, rate=stands.audit_sampled_share, floor_share=floor_share)
        directed = Directed(floor_share, rule.scale)
    with transaction.atomic(durable=True):
        policy = create_draft(actor, document_type, replace(stands, directed=directed))
        record_policy(actor, "policy.drafted", policy, {"floor_share": floor_share})
    return policy
