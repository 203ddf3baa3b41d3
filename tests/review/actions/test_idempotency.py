"""A key belongs to one request of one user at one path, survives a crash, and is forgotten in time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.idempotency import (
    ABANDONED_AFTER,
    KeptAnswer,
    KeyClaim,
    claim_key,
    forget_old_keys,
    free_key,
    keep_answer,
)
from review.exceptions import ConflictError, InvalidInputError
from review.models import IdempotencyKey, User
from review.selectors.access import Actor
from review.tasks import sweep
from tests.conftest import Cast


def claim(user: User, key: str = "k", path: str = "/p/", digest: str = "d") -> KeyClaim | KeptAnswer:
    return claim_key(actor=Actor(user), key=key, path=path, request_digest=digest)


def claimed(user: User) -> KeyClaim:
    found = claim(user)
    assert isinstance(found, KeyClaim)
    return found


def age(by: timedelta) -> None:
    IdempotencyKey.objects.update(created_at=timezone.now() - by)


def test_the_first_request_may_act_and_the_second_gets_its_answer(cast: Cast) -> None:
    keep_answer(claim=claimed(cast.viewer), status=201, body={"id": 1})
    assert claim(cast.viewer) == KeptAnswer(201, {"id": 1})


def test_a_second_request_waits_while_the_first_is_at_work(cast: Cast) -> None:
    claimed(cast.viewer)
    with pytest.raises(ConflictError) as caught:
        claim(cast.viewer)
    assert caught.value.code == "idempotency_in_progress"


@pytest.mark.parametrize("is_answered", [True, False])
def test_another_request_under_the_same_key_is_refused(cast: Cast, is_answered: bool) -> None:
    first = claimed(cast.viewer)
    if is_answered:
        keep_answer(claim=first, status=201, body={})
    with pytest.raises(InvalidInputError) as caught:
        claim(cast.viewer, digest="other")
    assert caught.value.code == "idempotency_key_reused"


def test_keys_of_other_users_paths_and_names_do_not_meet(cast: Cast) -> None:
    keep_answer(claim=claimed(cast.viewer), status=201, body={})
    assert isinstance(claim(cast.reviewer), KeyClaim)
    assert isinstance(claim(cast.viewer, path="/q/"), KeyClaim)
    assert isinstance(claim(cast.viewer, key="l"), KeyClaim)


def test_after_a_failure_the_key_is_free_for_a_corrected_request(cast: Cast) -> None:
    free_key(claim=claimed(cast.viewer))
    assert isinstance(claim(cast.viewer, digest="corrected"), KeyClaim)


def test_the_key_of_a_process_that_died_may_be_claimed_again_once(cast: Cast) -> None:
    claimed(cast.viewer)
    age(ABANDONED_AFTER + timedelta(seconds=1))
    assert isinstance(claim(cast.viewer), KeyClaim)
    with pytest.raises(ConflictError):
        claim(cast.viewer)


def test_a_process_taken_for_dead_changes_nothing_when_it_comes_back(cast: Cast) -> None:
    late = claimed(cast.viewer)
    age(ABANDONED_AFTER + timedelta(seconds=1))
    successor = claim(cast.viewer)
    assert isinstance(successor, KeyClaim)
    keep_answer(claim=late, status=500, body={"late": True})
    free_key(claim=late)
    keep_answer(claim=successor, status=201, body={"id": 2})
    assert claim(cast.viewer) == KeptAnswer(201, {"id": 2})


def test_an_answer_is_kept_however_old_it_is_until_it_is_forgotten(cast: Cast) -> None:
    keep_answer(claim=claimed(cast.viewer), status=201, body={})
    age(timedelta(hours=23))
    assert isinstance(claim(cast.viewer), KeptAnswer)
    assert forget_old_keys() == 0
    age(timedelta(hours=25))
    assert forget_old_keys() == 1
    assert isinstance(claim(cast.viewer), KeyClaim)


def test_a_path_of_any_length_fits(cast: Cast) -> None:
    assert isinstance(claim(cast.viewer, path="/" + "x" * 1000), KeyClaim)


def test_the_sweep_forgets_old_keys(cast: Cast) -> None:
    claimed(cast.viewer)
    age(timedelta(hours=25))
    sweep(is_engine_checked=False)
    assert not IdempotencyKey.objects.exists()
