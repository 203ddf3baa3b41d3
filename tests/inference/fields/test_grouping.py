from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given

from inference.fields.grouping import Grouping, Looked, folded, split_groups
from inference.types import MAX_DISTANCE, BBox, Word, hamming_distance

SHARES = (("train", 0.8), ("validation", 0.1), ("test", 0.1))


def page(*texts: str) -> tuple[Word, ...]:
    """Words down the left edge, between two that span the page."""
    rows = [Word(text, BBox(0.1, 0.1 + 0.05 * row, 0.4, 0.13 + 0.05 * row), 0.9) for row, text in enumerate(texts)]
    return (Word("edge", BBox(0.0, 0.0, 0.05, 0.02), 0.9), *rows, Word("corner", BBox(0.9, 0.95, 1.0, 1.0), 0.9))


def grouped(*documents: Looked) -> dict[str, str]:
    grouping = Grouping()
    for one in documents:
        grouping.add(one)
    words = {one.key: one.words for one in documents}
    grouping.join_looks(grouping.near_looks(), words)
    return grouping.groups()


def test_documents_of_one_vendor_stay_together_however_the_name_is_spelt() -> None:
    groups = grouped(Looked("a", "BOOK TA .K SDN BHD"), Looked("b", "Book Ta K Sdn. Bhd."), Looked("c", "Other"))
    assert groups["a"] == groups["b"] != groups["c"]


def test_documents_without_a_vendor_are_not_one_vendor() -> None:
    groups = grouped(Looked("a"), Looked("b", "..."), Looked("c"))
    assert len(set(groups.values())) == 3


def test_documents_of_one_layout_stay_together() -> None:
    till = page("Receipt", "Cashier", "Subtotal", "Change")
    other = page("Invoice", "Customer", "Payable", "Signature")
    groups = grouped(Looked("a", "One", words=till), Looked("b", "Two", words=till), Looked("c", "Three", words=other))
    assert groups["a"] == groups["b"] != groups["c"]


def test_a_layout_follows_its_leader_and_no_chain_of_small_likenesses() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrst"]
    chain = [Looked(f"d{n}", words=page(*words[n : n + 8])) for n in range(0, 12, 3)]
    groups = grouped(*chain)
    assert groups["d0"] == groups["d3"]
    assert groups["d0"] != groups["d9"]


def test_pages_of_the_same_look_and_the_same_words_stay_together() -> None:
    same = page("Receipt", "Cashier", "Subtotal")
    groups = grouped(Looked("a", "One", ("00" * 8,), same), Looked("b", "Two", ("00" * 7 + "ff",), same))
    assert groups["a"] == groups["b"]


def test_pages_of_the_same_look_with_other_words_do_not() -> None:
    first, second = page("Receipt", "Cashier", "Subtotal"), page("Rechnung", "Kunde", "Summe")
    groups = grouped(Looked("a", "One", ("00" * 8,), first), Looked("b", "Two", ("00" * 8,), second))
    assert groups["a"] != groups["b"]


@pytest.mark.parametrize(("last", "is_near"), [("ff", True), ("01ff", False)])
def test_a_look_is_near_up_to_the_distance_of_near_duplicates(last: str, *, is_near: bool) -> None:
    one, other = "0" * 16, last.rjust(16, "0")
    assert (hamming_distance(one, other) <= MAX_DISTANCE) is is_near
    groups = grouped(Looked("a", looks=(one,)), Looked("b", looks=(other,)))
    assert (groups["a"] == groups["b"]) is is_near


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30, unique=True), st.integers(0, 2**64 - 1))
def test_every_pair_of_near_looks_is_found(hashes: list[int], flips: int) -> None:
    few = [bit for bit in range(64) if flips >> bit & 1][:MAX_DISTANCE]
    near = [one ^ sum(1 << bit for bit in few) for one in hashes]
    looks = [f"{one:016x}" for one in dict.fromkeys([*hashes, *near])]
    grouping = Grouping()
    for look in looks:
        grouping.add(Looked(look, looks=(look,)))
    wanted = {
        tuple(sorted((one, other)))
        for n, one in enumerate(looks)
        for other in looks[n + 1 :]
        if hamming_distance(one, other) <= MAX_DISTANCE
    }
    assert set(grouping.near_looks()) == wanted


def test_any_page_of_a_document_may_bind_it() -> None:
    groups = grouped(Looked("a", looks=("0" * 16, "f" * 16)), Looked("b", looks=("3" * 16, "f" * 16)))
    assert groups["a"] == groups["b"]


def test_a_group_is_named_by_what_it_holds_in_whatever_order_it_came() -> None:
    documents = [Looked("a", "X"), Looked("b", "X"), Looked("c", "Y")]
    assert grouped(*documents) == grouped(*reversed(documents))


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.text("xyz", min_size=1, max_size=2)), st.text())
def test_a_group_is_never_torn_apart(groups: dict[str, str], seed: str) -> None:
    sides = split_groups(groups, SHARES, seed)
    assert sides.keys() == groups.keys()
    by_group: dict[str, set[str]] = {}
    for key, group in groups.items():
        by_group.setdefault(group, set()).add(sides[key])
    assert all(len(found) == 1 for found in by_group.values())


def test_the_shares_are_met_as_far_as_groups_allow() -> None:
    groups = {f"d{n}": f"g{n % 100}" for n in range(1000)}
    assert Counter(split_groups(groups, SHARES, "seed").values()) == {"train": 800, "validation": 100, "test": 100}


def test_a_few_documents_still_leave_something_on_each_side() -> None:
    groups = {f"d{n}": f"g{n}" for n in range(12)}
    assert set(split_groups(groups, SHARES, "seed").values()) == {"train", "validation", "test"}


def test_a_side_without_a_share_stays_empty() -> None:
    groups = {f"d{n}": f"g{n}" for n in range(5)}
    sides = split_groups(groups, (("train", 1.0), ("validation", 0.0), ("test", 0.0)), "seed")
    assert set(sides.values()) == {"train"}


def test_the_seed_and_nothing_else_decides_who_stands_where() -> None:
    groups = {f"d{n}": f"g{n}" for n in range(40)}
    first = split_groups(groups, SHARES, "one")
    assert first == split_groups(dict(reversed(groups.items())), SHARES, "one")
    assert first != split_groups(groups, SHARES, "two")


@pytest.mark.parametrize("text", ["Straße", "ＢＯＯＫ", "日本 酒店"])
def test_names_are_folded_without_losing_their_letters(text: str) -> None:
    assert folded(text) == text.replace(" ", "").casefold()
