import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.types.hints import LEAF_HINTS, TYPE_HINTS, check_regex, did_you_mean, hint_problems, pointer


@pytest.mark.parametrize(
    ("keys", "expected"),
    [((), ""), (("a",), "/a"), (("a", 0, "b"), "/a/0/b"), (("a/b",), "/a~1b"), (("~",), "/~0"), (("~1",), "/~01")],
)
def test_pointers_are_escaped_as_rfc_6901_says(keys: tuple[str | int, ...], expected: str) -> None:
    assert pointer("", *keys) == expected


@given(st.text())
def test_a_pointer_token_can_be_unescaped(name: str) -> None:
    token = pointer("", name)[1:]
    assert token.replace("~1", "/").replace("~0", "~") == name
    assert "/" not in token


def test_pointer_appends_to_its_base() -> None:
    assert pointer("/properties", "x") == "/properties/x"


@pytest.mark.parametrize(
    ("word", "expected"),
    [("x-keyword", " (did you mean 'x-keywords'?)"), ("zzz", ""), (7, ""), ("", "")],
)
def test_did_you_mean_speaks_only_when_something_is_near(word: object, expected: str) -> None:
    assert did_you_mean(word, LEAF_HINTS) == expected


def test_a_good_regular_expression_has_no_problem() -> None:
    assert check_regex(r"^\d{3}$") is None


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", 5, None])
def test_a_bad_regular_expression_has_one(pattern: object) -> None:
    assert check_regex(pattern)


def test_keys_without_the_prefix_are_none_of_its_business() -> None:
    assert hint_problems({"type": "string", "title": 3}, "", LEAF_HINTS) == []


def test_each_bad_hint_is_one_problem_at_its_pointer() -> None:
    node = {"x-max-lines": 0, "x-keywords": "a", "x-label": {"en": "A"}}
    found = hint_problems(node, "/properties/a", LEAF_HINTS)
    assert [at for at, _ in found] == ["/properties/a/x-max-lines", "/properties/a/x-keywords"]


def test_type_level_hints_are_checked_by_their_own_table() -> None:
    assert hint_problems({"x-locale": "en-MY", "x-output-limit": 10, "x-label": {"en": "A"}}, "", TYPE_HINTS) == []
    assert [at for at, _ in hint_problems({"x-region": [0, 0, 1, 1]}, "", TYPE_HINTS)] == ["/x-region"]


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_a_region_is_accepted_exactly_when_its_corners_are_in_order(region: list[float]) -> None:
    is_ordered = region[0] < region[2] and region[1] < region[3]
    assert (LEAF_HINTS["x-region"](region) is None) == is_ordered


@pytest.mark.parametrize(
    ("value", "is_accepted"), [(True, True), (False, True), (1, False), ("true", False), (None, False)]
)
def test_a_flag_is_true_or_false_and_nothing_like_it(value: object, is_accepted: bool) -> None:
    assert (LEAF_HINTS["x-high-value"](value) is None) == is_accepted
