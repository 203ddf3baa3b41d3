"""Thinned values are independent trials that are wrong as often as what is stored unseen."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.routing.thinning import ExaminedValue, Trials, thin

VALUE = ExaminedValue("d", "/a", 0.5, is_wrong=False)


def values(
    n: int, *, wrong: float, chance: float, floor: float, seed: int = 0, confidence: float = 0.9
) -> list[ExaminedValue]:
    """Documents of one value of which those drawn with `chance` were examined."""
    random = np.random.default_rng([seed, n])
    return [
        ExaminedValue(f"{seed}-{chance}-{k}", "/a", confidence, bool(random.random() < wrong), chance, floor)
        for k in range(n)
        if random.random() < chance
    ]


def test_with_one_probability_for_all_nothing_is_thrown_away() -> None:
    examined = [replace(VALUE, document=str(n), confidence=n / 100, is_wrong=n == 3) for n in range(100)]
    trials = thin(examined)
    assert trials.confidence.tolist() == sorted((one.confidence for one in examined), reverse=True)
    assert trials.is_wrong.sum() == 1
    assert trials.confidence[trials.is_wrong] == [0.03]


def test_what_is_drawn_ten_times_as_often_is_kept_a_tenth_of_the_time() -> None:
    kept = len(thin(values(200_000, wrong=0, chance=0.2, floor=0.02)).confidence)
    assert kept == pytest.approx(200_000 * 0.02, abs=4 * np.sqrt(4_000))


def test_the_trials_are_wrong_as_often_as_the_stored_values_and_the_labels_are_not() -> None:
    automatic = values(100_000, wrong=0.01, chance=0.02, floor=0.02)
    doubtful = values(10_000, wrong=0.3, chance=1.0, floor=0.02)
    stored = (100_000 * 0.01 + 10_000 * 0.3) / 110_000
    trials = thin(automatic + doubtful)
    n = len(trials.is_wrong)
    assert trials.is_wrong.mean() == pytest.approx(stored, abs=4 * np.sqrt(stored / n))
    assert np.mean([one.is_wrong for one in automatic + doubtful]) > 0.2


def test_values_that_audits_leave_unseen_less_often_count_less() -> None:
    examined = [replace(VALUE, document=str(n), unseen_share=0.8 if n % 2 else 0.4, is_wrong=n % 2 == 0)
                for n in range(20_000)]  # fmt: skip
    trials = thin(examined)
    assert len(trials.is_wrong) == pytest.approx(20_000 * 0.6, abs=400)
    assert trials.is_wrong.mean() == pytest.approx(1 / 3, abs=0.02)


def test_of_a_document_at_most_one_value_is_kept_in_proportion_to_what_it_holds() -> None:
    # One in four documents has eight rows, all wrong; the others one, which is right: 8 in 11 values are wrong.
    examined = [
        replace(VALUE, document=str(n), field_path=f"/rows/{row}", is_wrong=n % 4 == 0)
        for n in range(8_000)
        for row in range(8 if n % 4 == 0 else 1)
    ]
    trials = thin(examined, most_per_document=8)
    assert len(trials.is_wrong) == pytest.approx(8_000 * 11 / 32, abs=200)
    assert trials.is_wrong.mean() == pytest.approx(8 / 11, abs=0.04)


def test_a_document_with_more_values_than_count_in_full_counts_as_that_many() -> None:
    examined = [
        replace(VALUE, document=str(n), field_path=f"/rows/{row}", is_wrong=n % 2 == 0)
        for n in range(4_000)
        for row in range(40 if n % 2 == 0 else 1)
    ]
    # Half of the documents count as two values, the others as one.
    assert thin(examined, most_per_document=2).is_wrong.mean() == pytest.approx(2 / 3, abs=0.03)


def test_each_row_of_a_document_is_as_likely_as_the_next() -> None:
    rows = [replace(VALUE, document=str(n), field_path=f"/rows/{row}", confidence=row / 10)
            for n in range(5_000) for row in range(5)]  # fmt: skip
    trials = thin(rows)
    assert len(trials.confidence) == 5_000
    counts = [int(np.count_nonzero(trials.confidence == row / 10)) for row in range(5)]
    assert all(abs(count - 1_000) < 130 for count in counts)


@given(st.permutations(range(30)), st.integers(1, 4))
def test_the_order_of_the_values_changes_nothing(order: list[int], most: int) -> None:
    examined = [
        ExaminedValue(f"d{n // 3}", f"/rows/{n % 3}", 0.5 + n / 100, n % 7 == 0, 1.0, 0.25 + 0.02 * (n % 5))
        for n in range(30)
    ]
    one = thin(examined, most_per_document=most)
    other = thin([examined[n] for n in order], most_per_document=most)
    assert one.confidence.tolist() == other.confidence.tolist()
    assert one.is_wrong.tolist() == other.is_wrong.tolist()


def test_the_same_values_give_the_same_trials_and_another_salt_gives_others() -> None:
    examined = values(2_000, wrong=0.1, chance=1.0, floor=0.5)
    examined = [replace(one, confidence=n / 2_000) for n, one in enumerate(examined)]
    kept = [thin(examined, salt=salt).confidence.tolist() for salt in ("x", "x", "y")]
    assert kept[0] == kept[1] != kept[2]


def test_whether_a_value_is_wrong_has_no_say_in_whether_it_is_kept() -> None:
    examined = values(2_000, wrong=0.5, chance=1.0, floor=0.5)
    examined = [replace(one, confidence=n / 2_000) for n, one in enumerate(examined)]
    turned = [replace(one, is_wrong=not one.is_wrong) for one in examined]
    assert thin(examined).confidence.tolist() == thin(turned).confidence.tolist()


def test_no_value_is_no_trial() -> None:
    trials = thin([])
    assert isinstance(trials, Trials)
    assert trials.confidence.shape == trials.is_wrong.shape == (0,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"floor": 0.0}, "floor"),
        ({"floor": 0.5, "inclusion_probability": 0.4}, "floor"),
        ({"inclusion_probability": 1.5}, "floor"),
        ({"unseen_share": 0.0}, "unseen"),
    ],
)
def test_a_value_that_cannot_be_is_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(VALUE, **change)  # type: ignore[arg-type]


def test_a_value_that_occurs_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="document d occurs twice"):
        thin([VALUE, VALUE])


def test_a_document_of_which_nothing_counts_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        thin([VALUE], most_per_document=0)
