from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.answer_score import (
    CAPPED_WHERE_NOT_GROUNDED,
    CELL_WEIGHTS,
    FIELD_WEIGHTS,
    NOT_GROUNDED,
    UNMEASURED,
    answer_confidence,
    losses,
    place_evidence,
    standing_evidence,
)
from inference.fields.ground import Place
from inference.fields.layout import PageLayout
from inference.fields.prior import PriorScorer
from inference.fields.score import CAPPED_BY_FINDING
from inference.fields.scored import ScoredField, score_field
from inference.fields.spans import lines_span
from inference.types import FieldSpec, ValueType
from tests.inference.fields.pages import field, index_of, page, reading

EVERYTHING = dict.fromkeys(FIELD_WEIGHTS, 1.0)
MEASURED = {name: 1.0 for name in FIELD_WEIGHTS if not name.startswith(("token_", "vote_"))}
EVIDENCE = st.dictionaries(st.sampled_from(sorted(FIELD_WEIGHTS)), st.floats(0, 1))
NAME = field(ValueType.NAME, keywords_inside=("trading",))
TOTAL = field(ValueType.AMOUNT, keywords=("total",))


def scored(spec: FieldSpec, layout: PageLayout) -> ScoredField:
    return score_field([layout], spec, index_of(spec), PriorScorer())


@given(EVIDENCE, st.sampled_from(sorted(FIELD_WEIGHTS)), st.floats(0, 1))
def test_more_evidence_never_lowers_confidence(evidence: dict[str, float], name: str, value: float) -> None:
    known = evidence.get(name, UNMEASURED.get(name, 0.0))
    more = {**evidence, name: max(known, value)}
    assert answer_confidence(more, (), FIELD_WEIGHTS) >= answer_confidence(evidence, (), FIELD_WEIGHTS)


@given(EVIDENCE)
def test_confidence_is_a_share_and_what_is_wrong_caps_it(evidence: dict[str, float]) -> None:
    free = answer_confidence(evidence, (), FIELD_WEIGHTS)
    assert 0.0 < free < 1.0
    assert answer_confidence(evidence, ("answer_repaired",), FIELD_WEIGHTS) == min(free, CAPPED_BY_FINDING)
    lost = answer_confidence(evidence, ("date_ambiguous", NOT_GROUNDED), FIELD_WEIGHTS)
    assert lost == min(free, CAPPED_WHERE_NOT_GROUNDED)


@pytest.mark.parametrize("name", sorted(FIELD_WEIGHTS))
def test_every_piece_of_evidence_counts(name: str) -> None:
    without = answer_confidence({**EVERYTHING, name: 0.0}, (), FIELD_WEIGHTS)
    assert without < answer_confidence(EVERYTHING, (), FIELD_WEIGHTS)


def test_a_value_with_everything_on_its_side_is_sure_and_one_with_nothing_is_not() -> None:
    assert answer_confidence(MEASURED, (), FIELD_WEIGHTS) == pytest.approx(0.985, abs=0.001)
    assert answer_confidence(EVERYTHING, (), FIELD_WEIGHTS) > 0.99
    assert answer_confidence({}, (), FIELD_WEIGHTS) < 0.1
    assert answer_confidence({}, (), CELL_WEIGHTS) < 0.2


def test_unknown_tokens_are_neither_good_nor_bad() -> None:
    unsure, sure = ({**MEASURED, "token_min": p, "token_mean": p, "token_margin": p} for p in (0.2, 0.99))
    unknown = answer_confidence(MEASURED, (), FIELD_WEIGHTS)
    assert answer_confidence(unsure, (), FIELD_WEIGHTS) < unknown < answer_confidence(sure, (), FIELD_WEIGHTS)


@pytest.mark.parametrize("name", ["digits", "edges", "readers_agree", "vote_agreement"])
def test_sure_tokens_do_not_outweigh_what_the_page_says_otherwise(name: str) -> None:
    tokens = {"token_min": 1.0, "token_mean": 1.0, "token_margin": 1.0}
    half = answer_confidence({**MEASURED, **tokens, name: 0.5}, (), FIELD_WEIGHTS)
    assert half < answer_confidence(MEASURED, (), FIELD_WEIGHTS)


def test_losses_add_up_to_the_confidence_and_name_the_worst() -> None:
    lost = losses({**MEASURED, "digits": 0.5, "share": 0.8}, FIELD_WEIGHTS)
    assert lost["digits"] == 5.0
    assert lost["share"] == pytest.approx(0.5)
    assert sum(lost.values()) == pytest.approx(5.5)
    assert max(lost, key=lambda name: lost[name]) == "digits"


def test_a_value_without_a_place_has_no_grounding() -> None:
    assert place_evidence(None, NAME) == {"grounding": 0.0}


@pytest.mark.parametrize(
    ("line", "value_type", "edges"),
    [
        ("ACME TRADING", ValueType.NAME, 1.0),
        ("* ACME TRADING *", ValueType.NAME, 1.0),
        ("ACME TRADING (12345-X)", ValueType.NAME, 1.0),
        ("ACME TRADING (12345-X)", ValueType.TEXT, 0.5),
        ("ACME TRADING CO", ValueType.NAME, 0.5),
        ("THE ACME TRADING", ValueType.NAME, 0.5),
        ("THE ACME TRADING CO", ValueType.NAME, 0.0),
    ],
)
def test_text_that_goes_on_beyond_the_value_speaks_against_it(line: str, value_type: ValueType, edges: float) -> None:
    layout = page((line, 100, 100))
    spec = field(value_type)
    start = line.index("ACME")
    span = lines_span(layout, spec, layout.runs, start, start + len("ACME TRADING"))
    assert place_evidence(Place(span, 1.0), spec)["edges"] == edges


@pytest.mark.parametrize(("n_errors", "digits"), [(0, 1.0), (1, 0.5), (2, 0.0), (5, 0.0)])
def test_wrong_digits_speak_against_running_text(n_errors: int, digits: float) -> None:
    layout = page(("12 HIGH ST", 100, 100))
    span = lines_span(layout, NAME, layout.runs, 0, 10)
    assert place_evidence(Place(span, 1.0, n_errors), NAME)["digits"] == digits


def test_a_typed_value_has_neither_edges_nor_digits_but_the_quality_of_its_page() -> None:
    layout = PageLayout(reading(("TOTAL 8.20", 100, 100), quality={"contrast": 0.15}), 1)
    (span,) = scored(TOTAL, layout).spans
    assert place_evidence(Place(span, 1.0), TOTAL) == {"grounding": 1.0, "ocr_score": 0.99, "quality": 0.5}


def test_the_value_beside_its_keyword_has_the_larger_share() -> None:
    layout = page(("TOTAL", 100, 100), ("8.20", 400, 100), ("CASH", 100, 300), ("10.00", 400, 300))
    spans = scored(TOTAL, layout)
    shares = {span.text: standing_evidence(Place(span, 1.0), spans)["share"] for span in spans.spans}
    assert shares["8.20"] > 0.8 > 0.2 > shares["10.00"]
    assert sum(shares.values()) < 1.0


def test_the_same_value_printed_twice_is_believed_more() -> None:
    once = scored(TOTAL, page(("TOTAL", 100, 100), ("8.20", 400, 100), ("5.00", 400, 300)))
    twice = scored(TOTAL, page(("TOTAL", 100, 100), ("8.20", 400, 100), ("5.00", 400, 300), ("8.20", 400, 400)))
    single, double = (standing_evidence(Place(found.spans[0], 1.0), found)["share"] for found in (once, twice))
    assert double > single


def test_text_whose_neighbouring_lines_are_of_the_same_kind_may_be_cut() -> None:
    layout = page(("ACME TRADING", 100, 100), ("BEST TRADING", 100, 122), ("CASH", 100, 400), ("12.50", 100, 500))
    spans = scored(replace(NAME, max_lines=1), layout)
    found = {span.text: standing_evidence(Place(span, 1.0), spans) for span in spans.spans}
    assert found["ACME TRADING"]["boundary"] == 0.0
    assert found["12.50"]["boundary"] == 1.0
    assert found["ACME TRADING"]["share"] > found["12.50"]["share"]


def test_a_scorer_of_any_scale_gives_shares() -> None:
    layout = page(("ACME TRADING", 100, 100), ("12.50", 100, 500))
    for spec in (NAME, TOTAL):
        spans = scored(spec, layout)
        for size in (-1e5, 1e5):
            huge = spans._replace(scores=[size - row for row in range(len(spans.scores))])
            for span in huge.spans:
                assert 0.0 <= standing_evidence(Place(span, 1.0), huge)["share"] <= 1.0
