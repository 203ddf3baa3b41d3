"""Policies are drafted, activated one at a time, and brought back."""

from typing import Any

import pytest

from review.actions.policies import activate_policy, draft_policy
from review.exceptions import InvalidInputError, NotFoundError
from review.models import AuditEntry, Event, PolicyState
from review.selectors.access import Actor
from review.selectors.document_types import access_policy, active_policy, policies_of
from tests.conftest import Cast
from tests.factories import RULES


def test_a_draft_has_the_next_number_and_routes_nothing_yet(cast: Cast) -> None:
    draft = draft_policy(actor=Actor(cast.manager), document_type=cast.document_type, rules=RULES)
    assert (draft.number, draft.state, draft.created_by) == (2, PolicyState.DRAFT, cast.manager)
    found = active_policy(cast.document_type)
    assert found is not None
    assert found[0].number == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"audit_auto_share": 0}, "/audit_auto_share"),
        ({"default": {"auto": 0.5, "review": 0.9}}, "/default"),
        ({"treshold": 1}, "/treshold"),
    ],
)
def test_rules_that_cannot_be_used_are_refused_with_the_place(cast: Cast, change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        draft_policy(actor=Actor(cast.manager), document_type=cast.document_type, rules=RULES | change)
    assert caught.value.details["problems"][0]["pointer"].startswith(pointer)
    assert policies_of(cast.document_type).count() == 1


def test_open_pages_hear_of_a_draft_and_of_what_is_in_force(cast: Cast) -> None:
    draft = draft_policy(actor=Actor(cast.manager), document_type=cast.document_type, rules=RULES)
    activate_policy(actor=Actor(cast.manager), policy=draft)
    told = Event.objects.filter(name__startswith="policy.").order_by("id").values_list("name", "payload")
    payload = {"document_type": cast.document_type.slug, "number": 2}
    assert list(told) == [("policy.drafted", payload), ("policy.activated", payload)]
    acts = AuditEntry.objects.filter(action__startswith="policy.").order_by("id").values_list("action", "detail")
    assert list(acts) == [("policy.drafted", {"number": 2}), ("policy.activated", {"number": 2})]


def test_activating_one_policy_retires_the_other_and_back(cast: Cast) -> None:
    first = access_policy(cast.document_type, 1)
    second = draft_policy(actor=Actor(cast.manager), document_type=cast.document_type, rules=RULES)
    activate_policy(actor=Actor(cast.manager), policy=second)
    assert [policy.state for policy in policies_of(cast.document_type)] == [PolicyState.ACTIVE, PolicyState.RETIRED]
    activate_policy(actor=Actor(cast.manager), policy=first)
    assert [policy.state for policy in policies_of(cast.document_type)] == [PolicyState.RETIRED, PolicyState.ACTIVE]
    assert AuditEntry.objects.filter(action="policy.activated").count() == 2


def test_a_policy_that_is_not_there_is_not_found(cast: Cast) -> None:
    with pytest.raises(NotFoundError):
        access_policy(cast.document_type, 99)
