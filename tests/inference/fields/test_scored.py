from inference.fields.keywords import KeywordIndex
from inference.fields.prior import PriorScorer
from inference.fields.scored import ScoredField, score_field, settle, span_key
from inference.fields.spans import text_spans
from inference.types import FieldSpec, ValueType
from tests.inference.fields.pages import field, index_of, page

TOTAL = field(ValueType.AMOUNT, keywords=("total",))
NAME = FieldSpec("/name", ValueType.NAME, keywords_inside=("trading",), locale="en-MY", is_required=True)
ADDRESS = FieldSpec("/address", ValueType.ADDRESS, keywords_inside=("jalan",), locale="en-MY", is_required=True)
LINES = page(("ACME TRADING", 100, 100), ("12 JALAN BESAR", 100, 125), ("TOTAL", 100, 300), ("12.50", 400, 300))


def scored(spec: FieldSpec, index: KeywordIndex | None = None) -> ScoredField:
    return score_field([LINES], spec, index or index_of(spec), PriorScorer())


def test_spans_come_best_first_with_their_own_features() -> None:
    found = scored(NAME)
    assert found.scores == sorted(found.scores, reverse=True)
    assert found.spans[0].text == "ACME TRADING"
    assert found.features[0]["inside_any"] == 1.0
    assert [row["inside_any"] for row in found.features].count(0.0) > 0


def test_a_span_from_elsewhere_is_scored_among_the_others() -> None:
    whole = next(text_spans(LINES, NAME, index_of(NAME)))
    own = scored(NAME)
    more = score_field([LINES], NAME, index_of(NAME), PriorScorer(), also=[whole])
    assert len(more.spans) == len(own.spans) + 1
    assert whole in more.spans
    assert whole not in own.spans


def test_text_that_one_field_has_claimed_is_lost_to_the_others() -> None:
    greedy = FieldSpec("/greedy", ValueType.NAME, keywords_inside=("trading",), locale="en-MY", is_required=True)
    chosen = settle({"/name": scored(NAME), "/greedy": scored(greedy)})
    first, second = (field.spans[choice.position].text for field, choice in chosen.values() if choice is not None)
    assert {first, second} >= {"ACME TRADING"}
    assert first != second


def test_what_is_left_is_kept_where_everything_was_claimed() -> None:
    found = scored(ADDRESS)
    assert found.without(found.spans) is found
    fewer = found.without(found.spans[:1])
    assert 0 < len(fewer.spans) < len(found.spans)
    assert len(fewer.spans) == len(fewer.features) == len(fewer.scores)


def test_equal_values_have_equal_keys_however_they_are_printed() -> None:
    lines = page(("TOTAL RM12.50", 100, 100), ("12.50", 400, 300), ("13.50", 400, 340))
    spans = score_field([lines], TOTAL, index_of(TOTAL), PriorScorer())
    assert sorted(spans.keys()) == ["12.50", "12.50", "13.50"]
    assert span_key(spans.spans[0], TOTAL) == "12.50"


def test_candidates_carry_the_value_the_place_and_a_share_of_belief() -> None:
    candidate, *others = scored(TOTAL).candidates()
    assert (candidate.text, candidate.value, candidate.page_number) == ("12.50", "12.50", 1)
    assert 0.5 < candidate.score < 1.0
    assert all(other.score < candidate.score for other in others)
