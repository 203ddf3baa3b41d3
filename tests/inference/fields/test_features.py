import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.features import FeatureMaker, region_closeness
from inference.fields.layout import PageLayout
from inference.fields.prior import BY_TYPE, NEAR_KEYWORDS
from inference.fields.spans import spans_for
from inference.types import BBox, FieldSpec, ValueType, Word
from tests.inference.fields.pages import Line, field, index_of, page, word

TOTAL = field(
    ValueType.AMOUNT,
    keywords=("total", "grand total"),
    keywords_against=("subtotal", "cash"),
    region=BBox(0.5, 0.5, 1, 1),
)
DATE = field(ValueType.DATE, keywords=("date",))
NAME = field(ValueType.NAME, keywords_inside=("ltd",), keywords_against=("tel",), max_lines=2)


def features_on(layout: PageLayout, spec: FieldSpec) -> dict[str, dict[str, float]]:
    index = index_of(spec)
    spans = spans_for(layout, spec, index)
    maker = FeatureMaker(spec, index, spans)
    return {span.text: maker.features(span) for span in spans}


def features(spec: FieldSpec, *items: Line | Word) -> dict[str, dict[str, float]]:
    return features_on(page(*items), spec)


def test_a_keyword_left_in_the_same_run_counts() -> None:
    found = features(TOTAL, ("Total: 12.00", 100, 100))["12.00"]
    assert found["keyword_left"] > 0.7
    assert found["against_left"] == 0.0


def test_a_keyword_left_in_the_same_row_counts() -> None:
    found = features(TOTAL, ("Total", 100, 100), ("12.00", 800, 100))["12.00"]
    assert found["keyword_left"] > 0.7


def test_a_currency_mark_between_keyword_and_value_does_not_part_them() -> None:
    found = features(TOTAL, ("Total", 100, 100), ("RM", 700, 100), ("12.00", 800, 100))["12.00"]
    assert found["keyword_left"] > 0.0 or found["keyword_row"] > 0.0


def test_a_keyword_against_counts_against() -> None:
    found = features(TOTAL, ("Sub Total", 100, 100), ("12.00", 800, 100))["12.00"]
    assert found["keyword_left"] == 0.0
    assert found["against_left"] == 1.0


def test_a_value_between_keyword_and_value_makes_it_far() -> None:
    found = features(TOTAL, ("Total", 100, 100), ("106.10", 500, 100), ("6.37", 800, 100))
    assert found["106.10"]["keyword_left"] > 0.7
    assert found["6.37"]["keyword_left"] == 0.0
    assert found["6.37"]["keyword_row"] > 0.7
    assert found["106.10"]["shares_row"] == found["6.37"]["shares_row"] == 0.5


def test_each_value_in_a_run_has_its_own_label() -> None:
    found = features(TOTAL, ("Total 5.00 Cash 10.00", 100, 100))
    assert found["5.00"]["keyword_left"] > 0.7
    assert found["10.00"]["keyword_left"] == 0.0
    assert found["10.00"]["against_left"] == 1.0


def test_a_keyword_above_counts_only_when_near() -> None:
    near = features(DATE, ("Date", 100, 100), ("12/03/2018", 100, 130))["12/03/2018"]
    far = features(DATE, ("Date", 100, 100), ("12/03/2018", 100, 400))["12/03/2018"]
    aside = features(DATE, ("Date", 600, 100), ("12/03/2018", 100, 130))["12/03/2018"]
    assert near["keyword_above"] > 0.6
    assert far["keyword_above"] == aside["keyword_above"] == 0.0


def test_a_longer_keyword_says_more() -> None:
    found = features(TOTAL, ("Grand Total 12.00", 100, 100), ("Total 13.00", 100, 200))
    assert found["12.00"]["keyword_left"] > found["13.00"]["keyword_left"]


def test_amounts_are_ranked_and_compared_with_the_largest_that_has_a_label() -> None:
    found = features(
        TOTAL, ("Total 60.31", 100, 100), ("Total 60.30", 100, 200), ("Total 20.00", 100, 300), ("100.00", 100, 400)
    )
    assert [found[text]["rank"] for text in ("20.00", "60.30", "60.31", "100.00")] == pytest.approx(
        [0, 1 / 3, 2 / 3, 1]
    )
    assert found["60.31"]["near_largest"] == 1.0
    assert found["60.30"]["near_largest"] > 0.95
    assert found["20.00"]["near_largest"] == found["100.00"]["near_largest"] == 0.0


def test_what_was_paid_and_what_adds_up_speak_for_an_amount() -> None:
    found = features(
        TOTAL,
        ("Net 8.49", 100, 100),
        ("Tax 0.51", 100, 200),
        ("Total 9.00", 100, 300),
        ("Cash 10.00", 100, 400),
        ("Change 1.00", 100, 500),
    )
    assert {text: (one["paid"], one["adds_up"]) for text, one in found.items()} == {
        "8.49": (0.0, 0.0),
        "0.51": (0.0, 0.0),
        "9.00": (1.0, 1.0),
        "10.00": (0.0, 0.0),
        "1.00": (0.0, 0.0),
    }
    # A number without decimals is a count as likely as an amount, and a date is no amount.
    assert features(TOTAL, ("9", 100, 100), ("10", 100, 200), ("1", 100, 300))["9"]["paid"] == 0.0
    assert features(DATE, ("12/03/2018", 100, 100))["12/03/2018"]["paid"] == 0.0


def test_later_labels_are_later() -> None:
    found = features(TOTAL, ("Total 1.00", 100, 100), ("9.00", 100, 200), ("Total 2.00", 100, 300))
    assert (found["1.00"]["later"], found["9.00"]["later"], found["2.00"]["later"]) == (0.0, 0.0, 1.0)


def test_equal_values_count_as_repeated() -> None:
    spec, layout = TOTAL, page(("12.00", 100, 100), ("RM 12.00", 100, 200), ("5.00", 100, 300))
    found = features_on(layout, spec)
    assert found["12.00"]["repeated"] == pytest.approx(1 / 3)
    assert found["5.00"]["repeated"] == 0.0


def test_decimals_signs_and_the_share_of_the_run_are_seen() -> None:
    found = features(TOTAL, ("3", 100, 100), ("item 4.50", 100, 200), ("-5.00", 100, 300), ("0.00", 100, 400))
    assert [found[text]["decimals"] for text in ("3", "4.50", "-5.00")] == [0.0, 1.0, 1.0]
    assert [found[text]["above_zero"] for text in ("3", "-5.00", "0.00")] == [1.0, 0.0, 0.0]
    assert found["3"]["fills_run"] == 1.0
    assert found["4.50"]["fills_run"] < 0.6


def test_places_are_relative_to_the_printed_area() -> None:
    found = features(TOTAL, ("1.00", 300, 300), ("2.00", 500, 500), ("3.00", 700, 700))
    assert found["1.00"]["top"] > found["2.00"]["top"] > found["3.00"]["top"]
    assert found["2.00"]["centred"] == pytest.approx(1.0)
    assert found["3.00"]["region"] == 1.0
    assert found["1.00"]["region"] < found["2.00"]["region"] <= 1.0


def test_findings_and_missing_values_are_seen() -> None:
    spec = field(ValueType.DATE, locale="en")
    found = features(spec, ("03/04/2018", 100, 100), ("31/02/2018", 100, 200), ("13/04/2018", 100, 300))
    assert [found[text]["findings"] for text in ("03/04/2018", "31/02/2018", "13/04/2018")] == [0.5, 0.5, 0.0]
    assert [found[text]["has_value"] for text in ("03/04/2018", "31/02/2018")] == [1.0, 0.0]


def test_ocr_score_and_size_are_passed_on() -> None:
    found = features(
        NAME, word("Small Ltd", 100, 100, score=0.6), word("small too", 100, 300), word("HUGE", 100, 500, height=60)
    )
    assert found["Small Ltd"]["ocr_score"] == 0.6
    assert found["HUGE"]["text_size"] == 1.0
    assert found["Small Ltd"]["text_size"] == pytest.approx(1 / 3)


def test_a_pattern_is_half_known_without_a_hint() -> None:
    assert features(NAME, ("Acme Ltd", 100, 100))["Acme Ltd"]["pattern"] == 0.5
    spec = field(ValueType.NAME, pattern="acme")
    found = features(spec, ("Acme Ltd", 100, 100), ("Other Ltd", 100, 300))
    assert (found["Acme Ltd"]["pattern"], found["Other Ltd"]["pattern"]) == (1.0, 0.0)


def test_lines_are_inside_against_or_plain() -> None:
    found = features(NAME, ("Acme Ltd", 100, 100), ("Somewhere", 100, 125), ("Tel 123456", 100, 150))
    both = found["Acme Ltd Somewhere"]
    assert (both["inside_lines"], both["plain_lines"], both["against_lines"]) == pytest.approx((1 / 6, 1 / 6, 0.0))
    assert (both["inside_any"], both["inside_first"], both["inside_last"]) == (1.0, 1.0, 0.0)
    assert found["Somewhere Tel 123456"]["against_lines"] == pytest.approx(1 / 6)


@pytest.mark.parametrize("aside", ["(123456-X)", "(formerly Acme Ltd)", "(ID (2) Ltd)."])
def test_a_line_in_brackets_is_an_aside(aside: str) -> None:
    found = features(NAME, ("Acme", 100, 100), (aside, 100, 125))
    assert found["Acme"]["inside_after"] == 0.0
    joined = next(value for text, value in found.items() if text.startswith("Acme ("))
    assert joined["against_lines"] == pytest.approx(1 / 6)


def test_a_line_that_only_starts_with_a_bracket_is_no_aside() -> None:
    found = features(NAME, ("(M) Acme Ltd", 100, 100))
    assert found["(M) Acme Ltd"]["inside_any"] == 1.0


def test_neighbouring_lines_of_the_same_kind_show_that_a_block_is_cut() -> None:
    found = features(NAME, ("Acme Ltd", 100, 100), ("Holdings Ltd", 100, 125))
    assert found["Acme Ltd"]["inside_after"] == 1.0
    assert found["Holdings Ltd"]["inside_before"] == 1.0
    assert found["Acme Ltd Holdings Ltd"]["inside_after"] == 0.0


def test_open_ends_show() -> None:
    found = features(NAME, ("Acme &", 100, 100), ("Sons (M", 100, 125), ("Rest", 100, 150))
    assert found["Acme &"]["ends_open"] == 1.0
    assert found["Sons (M"]["ends_open"] == 1.0
    assert found["Sons (M"]["starts_late"] == 1.0
    assert found["Rest"]["ends_open"] == 0.0


def test_a_bare_keyword_is_no_name() -> None:
    found = features(NAME, ("LTD.", 100, 100), ("Acme Ltd", 100, 300))
    assert (found["LTD."]["bare_keyword"], found["Acme Ltd"]["bare_keyword"]) == (1.0, 0.0)


def test_lines_of_different_size_are_noticed() -> None:
    found = features(NAME, word("A0312", 100, 80, height=40), word("Acme Ltd", 100, 125))
    assert found["A0312 Acme Ltd"]["size_spread"] == pytest.approx(0.75)
    assert found["Acme Ltd"]["size_spread"] == 0.0


def test_the_first_page_is_marked() -> None:
    spec = field(ValueType.DATE)
    first = features_on(page(("1/1/2018", 1, 1), number=1), spec)
    second = features_on(page(("1/1/2018", 1, 1), number=2), spec)
    assert [next(iter(found.values()))["first_page"] for found in (first, second)] == [1.0, 0.0]


@pytest.mark.parametrize("value_type", sorted(ValueType))
def test_every_weight_of_the_prior_names_a_feature(value_type: ValueType) -> None:
    spec = field(value_type)
    texts = {ValueType.DATE: "1/1/2018", ValueType.PHONE: "07-355 2616", ValueType.CURRENCY: "RM"}
    found = next(iter(features(spec, (texts.get(value_type, "12.00"), 100, 100)).values()))
    assert {*NEAR_KEYWORDS, *BY_TYPE[value_type]} - {"bias"} <= set(found)


@pytest.mark.parametrize(
    ("box", "expected"),
    [((0.6, 0.6, 0.8, 0.8), 1.0), ((0.4, 0.6, 0.5, 0.8), 0.9), ((0.0, 0.0, 0.1, 0.1), 0.0)],
)
def test_closeness_falls_with_the_distance_to_the_region(box: Any, expected: float) -> None:
    assert region_closeness(BBox(*box), BBox(0.5, 0.5, 1, 1)) == pytest.approx(expected)


def test_without_a_region_closeness_is_unknown() -> None:
    assert region_closeness(BBox(0, 0, 1, 1), None) == 0.5


ITEMS = st.lists(
    st.tuples(
        st.sampled_from(
            ["Total", "12.00", "Acme Ltd", "1/2/2018", "RM", "(x)", "Tel", "Total 5.00", "31/02/2018", "99"]
        ),
        st.integers(0, 900),
        st.integers(0, 950),
    ),
    max_size=12,
)


@given(ITEMS, st.sampled_from([TOTAL, DATE, NAME]))
def test_features_are_always_finite_and_about_a_unit(items: list[Line], spec: FieldSpec) -> None:
    for found in features(spec, *items).values():
        assert all(math.isfinite(value) and -0.01 <= value <= 1.01 for value in found.values())
