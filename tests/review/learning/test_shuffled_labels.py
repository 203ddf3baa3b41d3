"""A locator that learned wrong labels on real receipts is refused, as the gate refuses a version."""

import pytest

from tests.bench.planting import Truth
from tests.bench.wrong_labels import TOTAL, compared, least, shuffled, true, with_totals

N_TAUGHT = 50


@pytest.fixture(scope="module")
def receipts() -> list[Truth]:
    return with_totals()


def test_a_locator_of_labels_that_are_wrong_by_a_rule_is_refused(receipts: list[Truth]) -> None:
    found = compared(receipts[:N_TAUGHT], receipts[N_TAUGHT:], least(receipts))
    assert found.is_blocked
    assert found.fields[TOTAL].n_lost > 5
    assert found.fields[TOTAL].p < 0.01
    # Fewer documents than 200: a single one that is lost is enough.
    assert found.n_documents < 100


def test_of_shuffled_labels_nothing_is_learned_that_could_be_let_through(receipts: list[Truth]) -> None:
    found = compared(receipts[:N_TAUGHT], receipts[N_TAUGHT:], shuffled(receipts))
    assert found.is_blocked or (found.fields[TOTAL].n_lost, found.fields[TOTAL].n_won) == (0, 0)


def test_a_locator_of_the_true_labels_is_let_through(receipts: list[Truth]) -> None:
    found = compared(receipts[:N_TAUGHT], receipts[N_TAUGHT:], true(receipts))
    assert not found.is_blocked
