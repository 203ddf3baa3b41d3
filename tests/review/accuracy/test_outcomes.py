from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.comparison import PairedField
from review.accuracy.outcomes import packed, paired, unpacked

KEYS = st.integers(1, 99).map(str)
PATHS = st.sampled_from(["/company", "/date", "/items/0/amount", "/total"])


def test_a_document_takes_one_character_a_field() -> None:
    kept = packed({"7": {"/total": True, "/date": False}, "8": {"/date": True}})
    assert kept == {"paths": ["/date", "/total"], "items": {"7": "01", "8": "1-"}}


@given(st.dictionaries(KEYS, st.dictionaries(PATHS, st.booleans())))
def test_what_was_packed_is_found_again(outcomes: dict[str, dict[str, bool]]) -> None:
    expected = {(key, path): right for key, fields in outcomes.items() for path, right in fields.items()}
    assert unpacked(packed(outcomes)) == expected


def test_only_what_both_were_judged_on_is_paired() -> None:
    a = packed({"1": {"/date": True, "/total": False}, "2": {"/total": True}, "3": {"/total": True}})
    b = packed({"1": {"/total": True}, "2": {"/date": True, "/total": False}, "4": {"/total": True}})
    assert list(paired(a, b)) == [
        PairedField("1", "/total", is_correct_a=False, is_correct_b=True),
        PairedField("2", "/total", is_correct_a=True, is_correct_b=False),
    ]


def test_a_run_from_before_outcomes_were_kept_pairs_with_nothing() -> None:
    assert list(paired({}, packed({"1": {"/total": True}}))) == []
