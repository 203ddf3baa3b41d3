"""No inclusion probability of a routed value lies below the floor, and the floor is reached."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.routing.audit_floor import least_share
from review.routing.decide import FieldEvidence, decide
from review.routing.policy import Directed, PolicyRules, Thresholds

AUTO, NEVER = Thresholds(0.9, 0.5), Thresholds(None, 0.5)


@pytest.mark.parametrize(
    ("default", "fields", "required", "floor"),
    [
        (AUTO, {}, {"/total"}, 0.02),
        (AUTO, {"/total": NEVER}, {"/total"}, 0.1),
        (AUTO, {"/total": NEVER}, {"/total", "/date"}, 0.1),
        (AUTO, {"/company": NEVER}, {"/total"}, 0.02),
        (NEVER, {}, set(), 0.1),
        (NEVER, {"/total": AUTO}, set(), 0.02),
        # A table may be empty, and then its columns keep no document out of the band.
        (AUTO, {"/items/*/price": NEVER}, {"/items/*/price"}, 0.02),
    ],
)
def test_the_rate_of_sure_documents_counts_only_where_there_are_any(
    default: Thresholds, fields: dict[str, Thresholds], required: set[str], floor: float
) -> None:
    rules = PolicyRules(default=default, fields=fields)
    assert least_share(rules, required) == floor


shares = st.floats(0.01, 1)
limits = st.sampled_from([AUTO, NEVER])


@given(
    default=limits,
    total=limits,
    rates=st.tuples(shares, shares, shares),
    confidences=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    is_required=st.booleans(),
    directed=st.none() | st.builds(Directed, shares, shares),
    interest=st.none() | st.floats(0, 1),
)
def test_no_routed_value_had_less_of_a_chance(
    default: Thresholds,
    total: Thresholds,
    rates: tuple[float, float, float],
    confidences: tuple[float, float],
    is_required: bool,
    directed: Directed | None,
    interest: float | None,
) -> None:
    auto, sampled, full = rates
    rules = PolicyRules(default, {"/total": total}, auto, sampled, full, directed=directed)
    fields = [
        FieldEvidence("/total", confidences[0], has_value=True, is_required=is_required),
        FieldEvidence("/date", confidences[1], has_value=True, is_required=False),
    ]
    floor = least_share(rules, {"/total"} if is_required else set())
    assert all(
        field.inclusion_probability >= floor for field in decide(fields, rules, "1", "1", interest=interest).fields
    )
