"""Other thresholds on what was routed already: only what confidence decided moves, and by the rules of `decide`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.routing.bands import Band
from review.routing.decide import FieldEvidence, decide
from review.routing.policy import Directed, PolicyRules, Thresholds
from review.routing.reasons import Reason
from review.routing.what_if import (
    BandCounts,
    RoutedField,
    is_decided_by_confidence,
    reband,
    unseen_weight_under,
    what_if,
)

LIMITS = Thresholds(auto=0.9, review=0.6)
RULES = PolicyRules(default=LIMITS, audit_auto_share=0.02, audit_sampled_share=0.2)


def routed(confidence: float | None, band: Band = Band.REVIEW, *reasons: str, path: str = "/total") -> RoutedField:
    return RoutedField(path, confidence, band, reasons)


@pytest.mark.parametrize(
    ("confidence", "band"),
    [
        (0.0, Band.REVIEW),
        (0.59, Band.REVIEW),
        (0.6, Band.SAMPLED),
        (0.89, Band.SAMPLED),
        (0.9, Band.AUTO),
        (1.0, Band.AUTO),
    ],
)
@pytest.mark.parametrize("before", list(Band))
def test_confidence_alone_moves_a_field_whatever_its_band_was(confidence: float, band: Band, before: Band) -> None:
    reasons = () if before is Band.AUTO else ("low_confidence",)
    assert reband(routed(confidence, before, *reasons), LIMITS) is band


@pytest.mark.parametrize("reason", ["rule_failed", "missing_value", "engine_failed", "low_quality", "unheard_of"])
def test_what_a_person_had_to_see_for_another_reason_stays_with_a_person(reason: str) -> None:
    assert reband(routed(0.99, Band.REVIEW, reason), LIMITS) is Band.REVIEW
    assert reband(routed(0.99, Band.REVIEW, reason, "low_confidence"), LIMITS) is Band.REVIEW


@pytest.mark.parametrize("band", list(Band))
@pytest.mark.parametrize("confidence", [None, float("nan"), -0.1, 1.1])
def test_a_field_without_a_confidence_keeps_its_band(band: Band, confidence: float | None) -> None:
    assert reband(routed(confidence, band), Thresholds(auto=0.0, review=0.0)) is band


def test_never_automatic_is_sampled_even_at_confidence_1() -> None:
    assert reband(routed(1.0), Thresholds(auto=None, review=0.5)) is Band.SAMPLED


def test_what_no_labels_vouch_for_stays_with_a_person_even_at_confidence_1() -> None:
    assert reband(routed(1.0), Thresholds(auto=None, review=1.0)) is Band.REVIEW


@pytest.mark.parametrize(("confidence", "band"), [(0.59, Band.REVIEW), (0.6, Band.SAMPLED), (1.0, Band.SAMPLED)])
@pytest.mark.parametrize(
    ("before", "reasons"),
    [
        (Band.SAMPLED, ["engine_not_proven"]),
        (Band.SAMPLED, ["low_confidence", "engine_not_proven"]),
        (Band.REVIEW, ["low_confidence", "engine_not_proven"]),
    ],
)
def test_no_threshold_makes_an_unproven_engine_sure(
    confidence: float, band: Band, before: Band, reasons: list[str]
) -> None:
    assert reband(routed(confidence, before, *reasons), LIMITS) is band


@given(
    confidences=st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=5),
    interest=st.one_of(st.none(), st.floats(0, 1)),
    findings=st.lists(st.booleans(), min_size=5, max_size=5),
    before=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    after=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_the_outcome_is_what_routing_anew_would_give(
    confidences: list[float | None],
    interest: float | None,
    findings: list[bool],
    before: tuple[float, float],
    after: tuple[float, float],
) -> None:
    """Route under one policy, then ask for another: the same as routing under the other from the start."""
    evidence = [
        FieldEvidence(
            f"/f{i}", one, has_value=True, is_required=i % 2 == 0, findings=("broken",) if findings[i] else ()
        )
        for i, one in enumerate(confidences)
    ]
    old, new = (
        PolicyRules(default=Thresholds(auto=max(pair), review=min(pair)), directed=directed)
        for pair, directed in ((before, None), (after, Directed(floor_share=0.5, scale=0.4)))
    )
    first, second = (decide(evidence, one, "d", "p", interest=interest) for one in (old, new))
    fields = [
        RoutedField(one.field_path, known.confidence, one.band, one.reasons, interest)
        for one, known in zip(first.fields, evidence, strict=True)
    ]
    outcome = what_if([fields], new, {one.field_path for one in evidence if one.is_required})
    assert outcome.documents == BandCounts.of([second.band])
    certain = second.band is Band.REVIEW
    assert outcome.n_looked_at == (1.0 if certain else second.fields[0].inclusion_probability)
    for one in second.fields:
        assert outcome.fields[one.field_path] == BandCounts.of([one.band])


def test_a_document_is_as_doubtful_as_its_worst_required_field() -> None:
    fields = [routed(0.95, path="/total"), routed(0.1, path="/company")]
    assert what_if([fields], RULES, {"/total"}).documents == BandCounts(n_auto=1)
    assert what_if([fields], RULES, {"/company"}).documents == BandCounts(n_review=1)
    assert what_if([fields], RULES).documents == BandCounts(n_review=1)


def test_a_document_without_fields_goes_to_a_person() -> None:
    outcome = what_if([[]], RULES)
    assert (outcome.documents, outcome.n_looked_at) == (BandCounts(n_review=1), 1.0)


def test_the_rows_of_a_column_count_together_and_are_required_together() -> None:
    fields = [routed(0.95, path="/items/0/price"), routed(0.3, path="/items/1/price"), routed(0.1, path="/note")]
    outcome = what_if([fields], RULES, {"/items/*/price"})
    assert outcome.fields["/items/*/price"] == BandCounts(n_auto=1, n_review=1)
    assert outcome.documents == BandCounts(n_review=1)
    assert outcome.fields["/items/*/price"].n_stored == 1


def test_fields_have_thresholds_of_their_own() -> None:
    rules = PolicyRules(default=LIMITS, fields={"/total": Thresholds(auto=0.99, review=0.97)})
    fields = [routed(0.95, path="/total"), routed(0.95, path="/date")]
    outcome = what_if([fields], rules)
    assert outcome.fields["/total"] == BandCounts(n_review=1)
    assert outcome.fields["/date"] == BandCounts(n_auto=1)


def test_nothing_routed_counts_nothing() -> None:
    outcome = what_if([], RULES)
    assert (outcome.documents.n, outcome.fields, outcome.n_looked_at) == (0, {}, 0)


@pytest.mark.parametrize(
    ("confidence", "probability", "weight"),
    [(0.95, 0.02, 49.0), (0.95, 1.0, 0.98), (0.7, 0.2, 4.0), (0.7, 1.0, 0.8), (0.5, 0.1, 0.0)],
)
def test_an_examined_field_stands_for_those_that_the_new_audits_leave_out(
    confidence: float, probability: float, weight: float
) -> None:
    assert unseen_weight_under(RULES, routed(confidence, Band.SAMPLED), probability) == pytest.approx(weight)


def test_a_field_that_a_person_must_see_leaks_nothing() -> None:
    assert unseen_weight_under(RULES, routed(0.99, Band.REVIEW, "rule_failed"), 1.0) == 0.0


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.1, float("nan")])
def test_an_impossible_inclusion_probability_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="inclusion probability"):
        unseen_weight_under(RULES, routed(0.9), probability)


@pytest.mark.parametrize(
    ("confidence", "reasons", "is_decided"),
    [
        (0.9, (), True),
        (0.4, ("low_confidence",), True),
        (0.9, ("engine_not_proven", "stopped_by_monitor"), True),
        (0.9, ("rule_failed", "low_confidence"), False),
        (None, ("missing_value",), False),
        (None, (), False),
        (1.5, (), False),
    ],
)
def test_what_broke_no_rule_is_decided_by_its_confidence(
    confidence: float | None, reasons: tuple[str, ...], is_decided: bool
) -> None:
    assert is_decided_by_confidence(RoutedField("/total", confidence, Band.REVIEW, reasons)) is is_decided


def test_a_field_that_waits_for_a_certificate_goes_by_the_limits_that_are_tried() -> None:
    behind = RoutedField("/total", 0.99, Band.REVIEW, (Reason.NOT_CERTIFIED,))
    assert reband(behind, Thresholds(auto=None, review=0.9)) is Band.SAMPLED
    assert is_decided_by_confidence(behind)


def test_no_threshold_turns_a_stopped_field_on() -> None:
    stopped = RoutedField("/total", 0.99, Band.REVIEW, (Reason.STOPPED_BY_MONITOR,))
    assert reband(stopped, Thresholds(0.5, 0.1)) is Band.REVIEW
