"""The recordings are what they are said to be: a real model's answers, and wrong ones of which each is wrong once."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.replay.exchanges import Exchange, is_same_question
from tests.slips.drawing import FIRST_TAUGHT
from tests.slips.planting import SPEC
from tests.slips.record import NUMBERS, is_right
from tests.slips.recordings import Recorded, load, store
from tests.slips.scoring import SCORED

RECORDED = load()
FORCED = 0.0


def said(exchange: Exchange) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(exchange.response["choices"][0]["message"]["content"])
    return values


def tokens(exchange: Exchange) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = exchange.response["choices"][0]["logprobs"]["content"]
    return found


def test_every_slip_was_read_and_errors_were_planted_into_the_ordinary_ones() -> None:
    numbers = [(one.group, int(one.truth.name)) for one in RECORDED.slips]
    assert numbers == [(group, number) for group, its in NUMBERS.items() for number in its]
    assert all(one.exchanges for one in RECORDED.slips)
    # On the most worn ones the OCR reader finds no word at all.
    assert sum(bool(one.truth.reading.words) for one in RECORDED.slips) > 0.9 * len(RECORDED.slips)
    assert all(bool(one.planted) == (one.group == "ordinary") for one in RECORDED.slips)


def test_a_planted_answer_is_marked_and_differs_from_the_models_own_in_one_value() -> None:
    for one in RECORDED.slips:
        own = said(one.exchanges[-1])
        assert one.exchanges[-1].response["id"] != SCORED
        for bad in one.planted:
            assert bad.exchange.response["id"] == SCORED
            changed = {f"/{name}" for name, value in said(bad.exchange).items() if value != own[name]}
            assert changed == {bad.path}
            assert is_right(bad.path, own[bad.path[1:]], one.truth.values[bad.path])
            assert not is_right(bad.path, said(bad.exchange)[bad.path[1:]], one.truth.values[bad.path])
            assert is_same_question(bad.exchange.request, one.exchanges[-1].request)


def test_tokens_write_the_answer_and_were_weighed_against_others() -> None:
    for one in RECORDED.slips:
        for exchange in (one.exchanges[-1], *(bad.exchange for bad in one.planted)):
            text = exchange.response["choices"][0]["message"]["content"]
            assert "".join(token["token"] for token in tokens(exchange)).removesuffix("</s>") == text
            assert all(len(token["top_logprobs"]) == 3 for token in tokens(exchange))
            assert sum(token["logprob"] < FORCED for token in tokens(exchange)) > 20


def test_the_model_prefers_what_it_writes_and_never_the_whole_of_what_was_planted() -> None:
    for one in RECORDED.slips:
        assert all(is_preferred(token) for token in tokens(one.exchanges[-1]))
        assert not any(all(is_preferred(token) for token in tokens(bad.exchange)) for bad in one.planted)


def is_preferred(token: dict[str, Any]) -> bool:
    return bool(token["logprob"] >= max(other["logprob"] for other in token["top_logprobs"]))


def test_the_model_reads_most_values_and_not_all() -> None:
    shares = {}
    for group in NUMBERS:
        its = [one for one in RECORDED.slips if one.group == group]
        right = [
            is_right(spec.path, said(one.exchanges[-1])[spec.path[1:]], one.truth.values[spec.path])
            for one in its
            for spec in SPEC.fields
        ]
        shares[group] = sum(right) / len(right)
    assert shares["ordinary"] > 0.9
    assert 0.3 < shares["worn"] < min(shares["ordinary"], 1.0)


def test_scores_of_the_models_own_answers_are_nearly_those_with_which_it_wrote_them() -> None:
    """Another kernel, and no grammar's mask: the difference that this makes is small beside that of an error."""
    assert RECORDED.figures["own_answers_scored"] >= 80
    assert RECORDED.figures["largest_difference"] < 0.1


def test_recordings_come_back_as_they_were_stored(tmp_path: Path) -> None:
    some = Recorded(RECORDED.spec, RECORDED.slips[:3], RECORDED.figures)
    store(some, tmp_path / "one.xz")
    assert load(tmp_path / "one.xz") == some
    store(load(tmp_path / "one.xz"), tmp_path / "other.xz")
    assert (tmp_path / "one.xz").read_bytes() == (tmp_path / "other.xz").read_bytes()


@pytest.mark.parametrize("group", NUMBERS)
def test_nothing_recorded_was_trained_on(group: str) -> None:
    assert max(NUMBERS[group]) < FIRST_TAUGHT
