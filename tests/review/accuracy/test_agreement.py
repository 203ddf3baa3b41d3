import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.agreement import ILLEGIBLE, Answer, agree, disputed_fields, error_rate, is_right
from review.accuracy.estimators import Moments
from review.accuracy.intervals import clopper_pearson

keys = st.none() | st.sampled_from(["", "9.00", "9.10", "2018-12-25"])
answers = st.builds(Answer, keys, st.booleans())
legible = st.builds(Answer, keys)
sheets = st.dictionaries(st.sampled_from(["/company", "/date", "/total", "/items/0/amount"]), answers)


@given(answers)
def test_everybody_agrees_with_themselves(answer: Answer) -> None:
    assert agree(answer, answer)


@given(answers, answers)
def test_agreement_is_mutual(one: Answer, other: Answer) -> None:
    assert agree(one, other) == agree(other, one)


@given(answers, answers, answers)
def test_whoever_agrees_with_the_same_answer_agrees_with_each_other(one: Answer, other: Answer, third: Answer) -> None:
    if agree(one, other) and agree(other, third):
        assert agree(one, third)


@given(legible, legible)
def test_legible_answers_agree_exactly_when_their_keys_are_equal(one: Answer, other: Answer) -> None:
    assert agree(one, other) == (one.key == other.key)


@given(keys, keys)
def test_what_stands_behind_an_illegible_answer_does_not_matter(one: str | None, other: str | None) -> None:
    assert agree(Answer(one, is_legible=False), Answer(other, is_legible=False))


@given(legible)
def test_to_call_a_legible_field_illegible_is_to_differ(answer: Answer) -> None:
    assert not agree(answer, ILLEGIBLE)


def test_nothing_on_the_page_is_another_answer_than_an_empty_text() -> None:
    assert not agree(Answer(None), Answer(""))


@given(sheets, sheets)
def test_only_fields_that_both_answered_are_disputed(first: dict[str, Answer], second: dict[str, Answer]) -> None:
    disputed = disputed_fields(first, second)
    assert set(disputed) <= set(first) & set(second)
    assert len(set(disputed)) == len(disputed)
    assert sorted(disputed) == sorted(disputed_fields(second, first))


@given(sheets, sheets)
def test_each_common_field_is_either_agreed_or_disputed(first: dict[str, Answer], second: dict[str, Answer]) -> None:
    disputed = set(disputed_fields(first, second))
    assert all(agree(first[path], second[path]) != (path in disputed) for path in set(first) & set(second))


@given(sheets)
def test_the_same_answers_leave_nothing_to_dispute(sheet: dict[str, Answer]) -> None:
    assert disputed_fields(sheet, dict(sheet)) == ()


def test_disputed_fields_keep_the_order_of_the_first() -> None:
    first = {"/total": Answer("1"), "/date": Answer("2"), "/company": Answer("3")}
    assert disputed_fields(first, {path: Answer("x") for path in sorted(first)}) == ("/total", "/date", "/company")


@given(answers)
def test_an_illegible_truth_judges_nobody(answer: Answer) -> None:
    assert is_right(answer, ILLEGIBLE) is None


@given(answers, answers, legible)
def test_of_two_who_differ_at_most_one_is_right(one: Answer, other: Answer, truth: Answer) -> None:
    if not agree(one, other):
        assert [is_right(one, truth), is_right(other, truth)].count(True) <= 1


@given(answers, answers, legible)
def test_of_two_who_agree_both_are_right_or_both_are_wrong(one: Answer, other: Answer, truth: Answer) -> None:
    if agree(one, other):
        assert is_right(one, truth) == is_right(other, truth)


@given(legible)
def test_the_true_answer_is_right(truth: Answer) -> None:
    assert is_right(truth, truth) is True


def test_illegible_is_wrong_where_others_could_read() -> None:
    assert is_right(ILLEGIBLE, Answer("9.00")) is False


@pytest.mark.parametrize("share", [1.0, 0.05])
@pytest.mark.parametrize(("n", "n_wrong"), [(1, 0), (40, 3), (200, 0), (20, 20)])
def test_with_one_share_the_rate_is_the_plain_one_with_its_exact_interval(n: int, n_wrong: int, share: float) -> None:
    estimate = error_rate(Moments.of([1 / share] * n, [True] * n_wrong + [False] * (n - n_wrong)))
    exact = clopper_pearson(n_wrong, n)
    assert estimate.n == n
    assert (estimate.point, estimate.lower, estimate.upper) == pytest.approx((exact.point, exact.lower, exact.upper))


def test_fields_checked_at_another_rate_count_for_what_they_stand_for() -> None:
    # 10 fields of a week in which a tenth was checked, 10 of one in which all were: they stand for 100 and 10.
    weights, wrong = [10.0] * 10 + [1.0] * 10, [True] + [False] * 9 + [True] * 10
    assert error_rate(Moments.of(weights, wrong)).point == pytest.approx((10 + 10) / 110)


def test_nothing_checked_is_not_known() -> None:
    estimate = error_rate(Moments())
    assert (estimate.point, estimate.lower, estimate.upper, estimate.n) == (None, 0.0, 1.0, 0)
