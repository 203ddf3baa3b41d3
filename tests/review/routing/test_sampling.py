import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from review.routing.sampling import Purpose, draw

KEYS = [str(number) for number in range(20_000)]


def draws(*, policy: str = "p1", salt: str = "s", purpose: str = Purpose.AUDIT) -> np.ndarray:
    return np.array([draw(key, policy, salt, purpose) for key in KEYS])


@settings(deadline=None)
@given(st.text(), st.text(), st.text(), st.text())
def test_a_draw_is_in_0_1_and_repeats(document: str, policy: str, salt: str, purpose: str) -> None:
    value = draw(document, policy, salt, purpose)
    assert 0 <= value < 1
    assert value == draw(document, policy, salt, purpose)


def test_a_draw_is_the_same_for_ever() -> None:
    # Stored decisions must stay reproducible: these numbers must not change with the code.
    assert draw("1", "2", "stet", "audit") == 0.6582750438856355
    assert draw("1", "2", "stet", "full_examination") == 0.8491533646381361


def test_moving_a_letter_between_arguments_changes_the_draw() -> None:
    splits = [("ab", "c", "d", "e"), ("a", "bc", "d", "e"), ("a", "b", "cd", "e"), ('a","b', "c", "d", "e")]
    values = {draw(*split) for split in splits}
    assert len(values) == len(splits)


def test_draws_are_uniform_even_for_consecutive_keys() -> None:
    assert stats.kstest(draws(), "uniform").pvalue > 0.001


@pytest.mark.parametrize(
    "other",
    [{"purpose": Purpose.FULL_EXAMINATION}, {"policy": "p2"}, {"salt": "t"}],
    ids=["purpose", "policy", "salt"],
)
def test_draws_that_differ_in_one_argument_are_independent(other: dict[str, str]) -> None:
    first, second = draws(), draws(**other)
    table = np.histogram2d(first, second, bins=10, range=[[0, 1], [0, 1]])[0]
    assert stats.chi2_contingency(table).pvalue > 0.001
    assert not np.any(first == second)


def test_consecutive_documents_are_drawn_independently() -> None:
    values = draws()
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 4 / np.sqrt(len(values))


def test_purposes_have_their_own_names() -> None:
    assert all(one != other for one, other in itertools.combinations(Purpose, 2))
