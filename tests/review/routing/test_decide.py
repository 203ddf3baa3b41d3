import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from review.routing.bands import Band
from review.routing.decide import DocumentDecision, FieldEvidence, base_share, decide
from review.routing.policy import PolicyRules, Thresholds
from review.routing.reasons import Reason
from review.routing.sampling import draw
from review.routing.targets import NOT_STORED

RULES = PolicyRules(default=Thresholds(auto=0.9, review=0.5))
AUTO, SAMPLED, REVIEW = 0.95, 0.7, 0.2

confidences = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 1))
evidence = st.builds(
    FieldEvidence,
    field_path=st.text("abc", min_size=1, max_size=4).map("/".__add__),
    confidence=confidences,
    has_value=st.booleans(),
    is_required=st.booleans(),
    findings=st.lists(st.sampled_from(["date_ambiguous", "pattern_mismatch"]), max_size=2).map(tuple),
)
documents = st.lists(evidence, max_size=6, unique_by=lambda field: field.field_path)
shares = st.floats(1e-6, 1)
policies = st.builds(
    PolicyRules,
    default=st.sampled_from([Thresholds(0.9, 0.5), Thresholds(None, 0.5), Thresholds(0.0, 0.0), Thresholds(1.0, 1.0)]),
    audit_auto_share=shares,
    audit_sampled_share=shares,
    full_examination_share=shares,
)


def field(
    path: str = "/total",
    confidence: float | None = AUTO,
    *,
    has_value: bool = True,
    is_required: bool = True,
    findings: tuple[str, ...] = (),
) -> FieldEvidence:
    return FieldEvidence(path, confidence, has_value, is_required, findings)


def one(evidence: FieldEvidence, rules: PolicyRules = RULES) -> DocumentDecision:
    return decide([evidence], rules, "1", "1")


@pytest.mark.parametrize(
    ("evidence", "band", "reasons"),
    [
        (field(confidence=1.0), Band.AUTO, ()),
        (field(confidence=0.9), Band.AUTO, ()),
        (field(confidence=math.nextafter(0.9, 0)), Band.SAMPLED, (Reason.LOW_CONFIDENCE,)),
        (field(confidence=0.5), Band.SAMPLED, (Reason.LOW_CONFIDENCE,)),
        (field(confidence=math.nextafter(0.5, 0)), Band.REVIEW, (Reason.LOW_CONFIDENCE,)),
        (field(confidence=0.0), Band.REVIEW, (Reason.LOW_CONFIDENCE,)),
        (field(confidence=None), Band.REVIEW, (Reason.MISSING_CONFIDENCE,)),
        (field(confidence=math.nan), Band.REVIEW, (Reason.MISSING_CONFIDENCE,)),
        (field(confidence=math.inf), Band.REVIEW, (Reason.MISSING_CONFIDENCE,)),
        (field(confidence=1.5), Band.REVIEW, (Reason.MISSING_CONFIDENCE,)),
        (field(confidence=-0.5), Band.REVIEW, (Reason.MISSING_CONFIDENCE,)),
        (field(has_value=False), Band.REVIEW, (Reason.MISSING_VALUE,)),
        (field(confidence=None, has_value=False), Band.REVIEW, (Reason.MISSING_VALUE,)),
        (field(findings=("date_ambiguous",)), Band.REVIEW, (Reason.AMBIGUOUS_VALUE,)),
        (field(findings=("pattern_mismatch", "x")), Band.REVIEW, (Reason.RULE_FAILED,)),
        (
            field(confidence=0.1, findings=("date_ambiguous", "pattern_mismatch")),
            Band.REVIEW,
            (Reason.RULE_FAILED, Reason.AMBIGUOUS_VALUE, Reason.LOW_CONFIDENCE),
        ),
    ],
)
def test_a_required_field_gets_its_band_and_the_document_follows(
    evidence: FieldEvidence, band: Band, reasons: tuple[Reason, ...]
) -> None:
    decision = one(evidence)
    assert decision.fields[0].band is band
    assert decision.fields[0].reasons == reasons
    assert decision.band is band


@pytest.mark.parametrize(
    ("evidence", "band", "reasons"),
    [
        (field(has_value=False, confidence=None, is_required=False), Band.SAMPLED, (Reason.MISSING_VALUE,)),
        (field(has_value=False, confidence=AUTO, is_required=False), Band.AUTO, ()),
        (field(has_value=False, confidence=REVIEW, is_required=False), Band.REVIEW, (Reason.LOW_CONFIDENCE,)),
        (
            field(has_value=False, confidence=None, is_required=False, findings=("x",)),
            Band.REVIEW,
            (Reason.RULE_FAILED,),
        ),
        (field(has_value=True, confidence=None, is_required=False), Band.REVIEW, (Reason.MISSING_CONFIDENCE,)),
    ],
)
def test_an_absent_optional_field_is_never_auto_without_confidence_in_its_absence(
    evidence: FieldEvidence, band: Band, reasons: tuple[Reason, ...]
) -> None:
    assert one(evidence).fields[0].band is band
    assert one(evidence).fields[0].reasons == reasons


def test_thresholds_may_differ_by_field() -> None:
    rules = PolicyRules(default=Thresholds(0.9, 0.5), fields={"/total": Thresholds(0.99, 0.96)})
    decision = decide([field("/total"), field("/date")], rules, "1", "1")
    assert [own.band for own in decision.fields] == [Band.REVIEW, Band.AUTO]


def test_a_field_without_an_auto_threshold_is_never_auto() -> None:
    assert one(field(confidence=1.0), PolicyRules(default=Thresholds(None, 0.5))).band is Band.SAMPLED


@pytest.mark.parametrize("confidence", [0.0, 0.99, 1.0])
def test_a_field_that_no_labels_vouch_for_goes_to_a_person_even_at_confidence_1(confidence: float) -> None:
    assert one(field(confidence=confidence), PolicyRules(default=NOT_STORED)).band is Band.REVIEW


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("given_confidences", "band"),
    [((AUTO, SAMPLED), Band.SAMPLED), ((SAMPLED, REVIEW), Band.REVIEW), ((AUTO, REVIEW), Band.REVIEW)],
)
def test_the_document_takes_the_worst_band_of_its_required_fields(
    given_confidences: tuple[float, ...], band: Band, order: int
) -> None:
    fields = [field(f"/{number}", confidence) for number, confidence in enumerate(given_confidences)]
    assert decide(fields[::order], RULES, "1", "1").band is band


def test_a_doubtful_optional_field_keeps_its_band_but_does_not_hold_the_document_up() -> None:
    decision = decide([field("/total"), field("/phone", REVIEW, is_required=False)], RULES, "1", "1")
    assert decision.band is Band.AUTO
    assert decision.fields[1].band is Band.REVIEW
    assert decision.fields[1].inclusion_probability == RULES.audit_auto_share
    assert Reason.LOW_CONFIDENCE not in decision.reasons


def test_a_doubtful_optional_field_is_examined_for_certain_in_a_reviewed_document() -> None:
    decision = decide([field("/total", REVIEW), field("/phone", REVIEW, is_required=False)], RULES, "1", "1")
    assert decision.fields[1].inclusion_probability == 1
    assert decision.fields[1].is_to_examine


def test_without_required_fields_all_fields_decide() -> None:
    fields = [field("/a", is_required=False), field("/b", REVIEW, is_required=False)]
    assert decide(fields, RULES, "1", "1").band is Band.REVIEW


def test_a_document_without_any_field_goes_to_a_person() -> None:
    decision = decide([], RULES, "1", "1")
    assert (decision.band, decision.is_selected, decision.fields) == (Band.REVIEW, True, ())
    assert Reason.NOTHING_READ in decision.reasons


@pytest.mark.parametrize("fault", [Reason.ENGINE_FAILED, Reason.LOW_QUALITY, Reason.SCHEMA_INVALID])
def test_a_fault_of_the_document_makes_every_field_doubtful(fault: Reason) -> None:
    decision = decide([field("/a"), field("/b", is_required=False)], RULES, "1", "1", document_reasons=[fault])
    assert decision.band is Band.REVIEW
    assert decision.reasons[0] is fault
    assert [(own.band, own.reasons, own.inclusion_probability) for own in decision.fields] == [
        (Band.REVIEW, (fault,), 1.0)
    ] * 2


def test_a_note_on_the_document_is_kept_and_changes_nothing_else() -> None:
    plain, noted = one(field()), decide([field()], RULES, "1", "1", document_reasons=[Reason.DUPLICATE])
    assert set(noted.reasons) - set(plain.reasons) == {Reason.DUPLICATE}
    assert (noted.band, noted.fields, noted.draws) == (plain.band, plain.fields, plain.draws)


@pytest.mark.parametrize(("confidence", "band"), [(AUTO, "sampled"), (SAMPLED, "sampled"), (REVIEW, "review")])
def test_an_engine_that_has_not_proven_itself_stores_nothing_for_sure(confidence: float, band: str) -> None:
    decision = decide([field(confidence=confidence)], RULES, "1", "1", is_proven=False)
    assert (decision.band, decision.fields[0].band) == (band, band)
    assert Reason.ENGINE_NOT_PROVEN in decision.reasons
    assert Reason.ENGINE_NOT_PROVEN in decision.fields[0].reasons
    assert decision.fields[0].inclusion_probability == (1.0 if band == "review" else RULES.audit_sampled_share)


def test_a_field_path_that_occurs_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        decide([field("/a"), field("/a")], RULES, "1", "1")


def test_reasons_of_milder_fields_do_not_explain_the_document() -> None:
    fields = [field("/a", SAMPLED), field("/b", has_value=False)]
    rules = PolicyRules(default=RULES.default, full_examination_share=1e-9)
    assert decide(fields, rules, "1", "1").reasons == (Reason.MISSING_VALUE,)


@pytest.mark.parametrize(
    ("confidence", "share", "reason"),
    [
        (AUTO, "audit_auto_share", Reason.AUDIT_AUTO),
        (SAMPLED, "audit_sampled_share", Reason.AUDIT_SAMPLED),
        (REVIEW, "full_examination_share", Reason.FULL_EXAMINATION),
    ],
)
def test_a_drawn_document_says_so_and_has_every_field_examined(confidence: float, share: str, reason: Reason) -> None:
    fields = [field("/a", confidence), field("/b", AUTO)]
    drawn = decide(fields, PolicyRules.from_json({**RULES.as_json(), share: 1.0}), "1", "1")
    assert reason in drawn.reasons
    assert drawn.is_selected
    assert drawn.is_full_examination is (reason is Reason.FULL_EXAMINATION)
    assert all(own.is_to_examine for own in drawn.fields)
    left = decide(fields, PolicyRules.from_json({**RULES.as_json(), share: 1e-12}), "1", "1")
    assert reason not in left.reasons
    assert left.is_selected is (left.band is Band.REVIEW)
    assert not left.fields[1].is_to_examine


def test_the_draws_are_kept_and_can_be_repeated() -> None:
    draws = one(field()).draws
    assert draws.audit == draw("1", "1", RULES.salt, "audit")
    assert draws.full_examination == draw("1", "1", RULES.salt, "full_examination")


@pytest.mark.parametrize("confidence", [AUTO, SAMPLED, REVIEW])
def test_audits_and_full_examinations_go_by_their_own_draws(confidence: float) -> None:
    rules = PolicyRules(RULES.default, audit_auto_share=0.5, audit_sampled_share=0.5, full_examination_share=0.5)
    parts = set()
    for number in range(50):
        decision = decide([field("/a", confidence), field("/b")], rules, str(number), "1")
        own = decision.draws.full_examination if decision.band is Band.REVIEW else decision.draws.audit
        assert decision.fields[1].is_to_examine is (own < 0.5)
        parts.add((decision.draws.audit < 0.5, decision.draws.full_examination < 0.5))
    assert len(parts) == 4, "every combination of the two draws occurred"


@settings(deadline=None)
@given(documents, policies, st.text(), st.text())
def test_every_field_has_a_positive_known_chance(
    fields: list[FieldEvidence], rules: PolicyRules, document: str, policy: str
) -> None:
    decision = decide(fields, rules, document, policy)
    assert [own.field_path for own in decision.fields] == [own.field_path for own in fields]
    for own in decision.fields:
        assert 0 < own.inclusion_probability <= 1
        if own.inclusion_probability == 1:
            assert own.is_to_examine
        if decision.band is not Band.REVIEW or own.band is not Band.REVIEW:
            assert own.inclusion_probability == base_share(decision.band, rules)


@settings(deadline=None)
@given(documents, policies, st.text(), st.text())
def test_a_decision_repeats(fields: list[FieldEvidence], rules: PolicyRules, document: str, policy: str) -> None:
    assert decide(fields, rules, document, policy) == decide(list(fields), rules, document, policy)


@settings(deadline=None)
@given(documents, policies, st.text())
def test_nobody_is_asked_to_examine_fields_of_a_document_not_selected(
    fields: list[FieldEvidence], rules: PolicyRules, document: str
) -> None:
    decision = decide(fields, rules, document, "1")
    if not decision.is_selected:
        assert not any(own.is_to_examine for own in decision.fields)
    elif fields and decision.band is not Band.REVIEW:
        assert all(own.is_to_examine for own in decision.fields)


@settings(deadline=None)
@given(documents, policies)
def test_missing_confidence_and_findings_are_never_auto(fields: list[FieldEvidence], rules: PolicyRules) -> None:
    for own, given_field in zip(decide(fields, rules, "1", "1").fields, fields, strict=True):
        confidence = given_field.confidence
        if confidence is None or not 0 <= confidence <= 1:
            assert own.band is not Band.AUTO
            assert own.band is Band.REVIEW or not given_field.has_value
        if given_field.findings or (given_field.is_required and not given_field.has_value):
            assert own.band is Band.REVIEW
        assert (own.band is Band.AUTO) == (own.reasons == ())


@settings(deadline=None)
@given(documents, policies)
def test_nothing_of_an_unproven_engine_is_auto_and_nothing_else_changes(
    fields: list[FieldEvidence], rules: PolicyRules
) -> None:
    proven = decide(fields, rules, "1", "1")
    unproven = decide(fields, rules, "1", "1", is_proven=False)
    assert unproven.band is max(proven.band, Band.SAMPLED)
    for before, after in zip(proven.fields, unproven.fields, strict=True):
        assert after.band is max(before.band, Band.SAMPLED)
        assert set(after.reasons) == {*before.reasons, Reason.ENGINE_NOT_PROVEN}


@settings(deadline=None)
@given(documents, policies)
def test_a_reviewed_document_has_something_to_examine_and_a_reason(
    fields: list[FieldEvidence], rules: PolicyRules
) -> None:
    decision = decide(fields, rules, "1", "1")
    if decision.band is Band.REVIEW:
        assert decision.reasons
        assert not fields or any(own.is_to_examine for own in decision.fields)


KINDS = {
    "auto": [field("/a"), field("/b", REVIEW, is_required=False)],
    "sampled": [field("/a", SAMPLED), field("/b")],
    "review": [field("/a", REVIEW), field("/b")],
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_frequency_of_inclusion_is_the_stated_probability(kind: str) -> None:
    n = 10_000
    examined: Counter[str] = Counter()
    for number in range(n):
        for own in decide(KINDS[kind], RULES, str(number), "1").fields:
            examined[own.field_path] += own.is_to_examine
    for own in decide(KINDS[kind], RULES, "1", "1").fields:
        test = stats.binomtest(examined[own.field_path], n, own.inclusion_probability)
        assert test.pvalue > 0.001, (own, examined[own.field_path] / n)


@pytest.mark.parametrize("is_required", [True, False])
@pytest.mark.parametrize(("confidence", "reasons"), [(AUTO, ()), (SAMPLED, ()), (REVIEW, (Reason.LOW_CONFIDENCE,))])
@pytest.mark.parametrize(
    "holds",
    [(Reason.STOPPED_BY_MONITOR,), (Reason.NOT_CERTIFIED,), (Reason.STOPPED_BY_MONITOR, Reason.NOT_CERTIFIED)],
)
def test_a_field_that_is_held_back_holds_its_document_up_however_sure_it_is(
    is_required: bool, confidence: float, reasons: tuple[Reason, ...], holds: tuple[Reason, ...]
) -> None:
    fields = [field("/total"), field("/items/3/price", confidence, is_required=is_required)]
    paths = {"/items/*/price"}
    stopped = paths if Reason.STOPPED_BY_MONITOR in holds else ()
    uncertified = paths if Reason.NOT_CERTIFIED in holds else ()
    decision = decide(fields, RULES, "1", "1", stopped=stopped, uncertified=uncertified)
    assert (decision.band, decision.is_selected) == (Band.REVIEW, True)
    assert set(holds) <= set(decision.reasons)
    own = decision.fields[1]
    assert own.reasons == (*reasons, *holds)
    assert (own.band, own.inclusion_probability, own.is_to_examine) == (Band.REVIEW, 1.0, True)
    # The field beside it is as it was.
    assert (decision.fields[0].band, decision.fields[0].reasons) == (Band.AUTO, ())


def test_a_stopped_field_without_a_value_holds_nothing_up() -> None:
    absent = field("/tax", None, has_value=False, is_required=False)
    decision = decide([field("/total"), absent], RULES, "1", "1", stopped={"/tax"})
    assert decision.band is Band.AUTO
    assert decision.fields[1].band is Band.SAMPLED
