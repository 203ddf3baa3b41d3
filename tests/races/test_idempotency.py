"""Sixteen copies of one request arrive at the same moment."""

import functools
from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.idempotency import ABANDONED_AFTER, KeyClaim, claim_key
from review.exceptions import ConflictError
from review.models import IdempotencyKey, User
from review.selectors.access import Actor
from tests.races.threads import all_at_once

N_COPIES = 16


def send_copies(user: User) -> list[object]:
    claim = functools.partial(claim_key, actor=Actor(user), key="k", path="/documents/", request_digest="d")
    return all_at_once([claim] * N_COPIES)


def assert_one_may_act(answers: list[object]) -> None:
    assert sum(isinstance(answer, KeyClaim) for answer in answers) == 1
    refused = [answer for answer in answers if isinstance(answer, ConflictError)]
    assert [answer.code for answer in refused] == ["idempotency_in_progress"] * (N_COPIES - 1)


def test_one_copy_acts_and_the_others_wait(reviewers: list[User]) -> None:
    assert_one_may_act(send_copies(reviewers[0]))
    assert IdempotencyKey.objects.count() == 1


@pytest.mark.parametrize("round_number", range(2))
def test_after_a_crash_one_copy_takes_over(reviewers: list[User], round_number: int) -> None:
    user = reviewers[0]
    claim_key(actor=Actor(user), key="k", path="/documents/", request_digest="d")
    IdempotencyKey.objects.update(created_at=timezone.now() - ABANDONED_AFTER - timedelta(seconds=1))
    assert_one_may_act(send_copies(user))
