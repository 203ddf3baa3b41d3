import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from review.routing.policy import Directed, PolicyError, PolicyRules, Thresholds, rules_for_costs, thresholds_for_cost

SHARES = ["audit_auto_share", "audit_sampled_share", "full_examination_share"]

shares = st.floats(0, 1, exclude_min=True)
paths = st.text(st.characters(codec="utf-8"), max_size=10).map("/".__add__)


@st.composite
def thresholds(draw: st.DrawFn) -> Thresholds:
    review, auto = sorted([draw(st.floats(0, 1)), draw(st.floats(0, 1))])
    return Thresholds(auto=draw(st.sampled_from([auto, None])), review=review)


rules = st.builds(
    PolicyRules,
    default=thresholds(),
    fields=st.dictionaries(paths, thresholds(), max_size=4),
    audit_auto_share=shares,
    audit_sampled_share=shares,
    full_examination_share=shares,
    salt=st.text(st.characters(codec="utf-8"), min_size=1),
)


def problems_of(data: object) -> list[tuple[str, str]]:
    with pytest.raises(PolicyError) as caught:
        PolicyRules.from_json(data)
    return caught.value.problems


def test_defaults_are_those_of_the_house() -> None:
    default = PolicyRules()
    assert (default.audit_auto_share, default.audit_sampled_share, default.full_examination_share) == (0.02, 0.2, 0.1)
    assert PolicyRules.from_json({}) == default


@settings(deadline=None)
@given(rules)
def test_rules_survive_json(given_rules: PolicyRules) -> None:
    assert PolicyRules.from_json(json.loads(json.dumps(given_rules.as_json()))) == given_rules


def test_json_form_is_the_documented_one() -> None:
    one = PolicyRules(fields={"/total": Thresholds(auto=None, review=0.5)}, salt="x")
    assert one.as_json() == {
        "default": {"auto": 0.95, "review": 0.6},
        "fields": {"/total": {"auto": None, "review": 0.5}},
        "audit_auto_share": 0.02,
        "audit_sampled_share": 0.2,
        "full_examination_share": 0.1,
        "salt": "x",
    }


@pytest.mark.parametrize("key", SHARES)
@pytest.mark.parametrize("value", [0, 0.0, -0.1, 1.0001, float("nan"), float("inf"), True, "0.1", None, [0.1]])
def test_a_share_that_is_no_positive_probability_is_refused(key: str, value: Any) -> None:
    assert problems_of({key: value}) == [(f"/{key}", "must be a number above 0 and at most 1")]


@pytest.mark.parametrize("key", SHARES)
@pytest.mark.parametrize("value", [1, 1.0, 1e-9])
def test_a_share_up_to_certainty_is_accepted(key: str, value: float) -> None:
    assert getattr(PolicyRules.from_json({key: value}), key) == value


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), True, "0.9", {}])
def test_a_threshold_outside_0_1_is_refused(value: Any) -> None:
    assert problems_of({"default": {"auto": value, "review": 0}}) == [
        ("/default/auto", "must be a number from 0 to 1, or null for never")
    ]
    assert problems_of({"default": {"auto": 1, "review": value}}) == [
        ("/default/review", "must be a number from 0 to 1")
    ]


def test_a_review_threshold_above_auto_is_refused_and_equal_is_not() -> None:
    assert problems_of({"fields": {"/total": {"auto": 0.5, "review": 0.6}}}) == [
        ("/fields/~1total/review", "must not be above auto")
    ]
    equal = PolicyRules.from_json({"default": {"auto": 0.5, "review": 0.5}})
    assert equal.default == Thresholds(0.5, 0.5)


def test_null_is_allowed_for_auto_only() -> None:
    assert PolicyRules.from_json({"default": {"auto": None, "review": 1}}).default.auto is None
    assert problems_of({"default": {"auto": None, "review": None}}) == [
        ("/default/review", "must be a number from 0 to 1")
    ]


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (None, [("", "must be an object")]),
        ([], [("", "must be an object")]),
        ({"audit_share": 0.1}, [("/audit_share", "is not a known key")]),
        ({"a/b~c": 1}, [("/a~1b~0c", "is not a known key")]),
        ({"default": 0.9}, [("/default", "must be an object with the keys auto and review")]),
        ({"default": {}}, [("/default/auto", "is required"), ("/default/review", "is required")]),
        ({"default": {"auto": 1, "review": 0, "low": 0}}, [("/default/low", "is not a known key")]),
        ({"fields": []}, [("/fields", "must be an object")]),
        (
            {"fields": {"total": {"auto": 1, "review": 0}}},
            [("/fields/total", "must be a field path that starts with /")],
        ),
        ({"salt": ""}, [("/salt", "must be a text that is not empty")]),
        ({"salt": 7}, [("/salt", "must be a text that is not empty")]),
    ],
)
def test_each_mistake_is_named_with_its_place(data: object, problems: list[tuple[str, str]]) -> None:
    assert problems_of(data) == problems


def test_all_mistakes_are_reported_at_once() -> None:
    data = {"x": 1, "default": {"auto": 2, "review": 0}, "audit_auto_share": 0, "salt": ""}
    assert [pointer for pointer, _ in problems_of(data)] == ["/x", "/default/auto", "/audit_auto_share", "/salt"]


def test_the_message_names_the_whole_when_the_whole_is_wrong() -> None:
    with pytest.raises(PolicyError, match=r"^/: must be an object$"):
        PolicyRules.from_json("rules")


def test_rules_built_in_code_are_as_strict() -> None:
    with pytest.raises(PolicyError, match="audit_auto_share"):
        PolicyRules(audit_auto_share=0)
    with pytest.raises(PolicyError, match="must not be above auto"):
        PolicyRules(default=Thresholds(auto=0.1, review=0.2))


def test_rules_cannot_be_changed_from_outside() -> None:
    source = {"/total": Thresholds(0.9, 0.5)}
    built = PolicyRules(fields=source)
    source["/date"] = Thresholds(0.1, 0.1)
    assert list(built.fields) == ["/total"]
    with pytest.raises(TypeError):
        built.fields["/x"] = Thresholds(0.1, 0.1)  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        built.salt = "y"  # type: ignore[misc]


def test_thresholds_are_found_by_path_then_by_column_then_default() -> None:
    exact, column, default = Thresholds(0.9, 0.1), Thresholds(0.8, 0.2), Thresholds(0.7, 0.3)
    built = PolicyRules(
        default=default, fields={"/line_items/0/amount": exact, "/line_items/*/amount": column, "/2024": exact}
    )
    assert built.thresholds_for("/line_items/0/amount") is exact
    assert built.thresholds_for("/line_items/17/amount") is column
    assert built.thresholds_for("/line_items/17/name") is default
    assert built.thresholds_for("/2024") is exact
    assert built.thresholds_for("/amount") is default


@pytest.mark.parametrize(
    ("cost", "review", "auto"),
    [
        (0.0, 0.5, 0.875),
        (1.0, 0.5, 0.875),
        (2.0, 0.5, 0.875),
        (5.0, 0.8, 0.95),
        (20.0, 0.95, 0.9875),
        (1e9, 0.99, 0.9975),
    ],
)
def test_the_dearer_an_error_the_surer_a_value_must_be(cost: float, review: float, auto: float) -> None:
    assert thresholds_for_cost(cost) == Thresholds(auto=auto, review=review)


@given(cost=st.floats(min_value=2.5, max_value=90), confidence=st.floats(min_value=0, max_value=1))
def test_a_value_is_looked_at_where_a_look_is_cheaper_than_the_risk(cost: float, confidence: float) -> None:
    review = thresholds_for_cost(cost).review
    assume(abs(confidence - review) > 1e-3)
    assert (confidence < review) is ((1 - confidence) * cost > 1)


def test_rules_for_costs_cover_every_field_named_and_the_rest_by_default() -> None:
    rules = rules_for_costs({"/total": 20.0, "/line_items/*/amount": 5.0})
    assert rules.thresholds_for("/total").review == 0.95
    assert rules.thresholds_for("/line_items/7/amount").review == 0.8
    assert rules.thresholds_for("/anything") == rules.default
    assert PolicyRules.from_json(rules.as_json()) == rules


def test_directed_audits_survive_as_json_and_are_not_mentioned_without() -> None:
    rules = PolicyRules(directed=Directed(0.5, 0.25))
    assert PolicyRules.from_json(rules.as_json()) == rules
    assert "directed" not in PolicyRules().as_json()
    assert PolicyRules.from_json({"directed": None}) == PolicyRules()


@pytest.mark.parametrize(
    ("directed", "pointer"),
    [
        ([], "/directed"),
        ({"floor_share": 0.5}, "/directed"),
        ({"floor_share": 0.5, "scale": 0.5, "more": 1}, "/directed"),
        ({"floor_share": 0, "scale": 0.5}, "/directed/floor_share"),
        ({"floor_share": 0.5, "scale": 1.5}, "/directed/scale"),
        ({"floor_share": True, "scale": 0.5}, "/directed/floor_share"),
    ],
)
def test_directed_audits_without_a_floor_or_a_scale_are_refused(directed: object, pointer: str) -> None:
    with pytest.raises(PolicyError) as refused:
        PolicyRules.from_json({"directed": directed})
    assert [place for place, _message in refused.value.problems] == [pointer]
