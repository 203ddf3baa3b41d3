"""Recorded answers of a model that reads, read again by the product: wrong ranks below right, and is named."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from inference.types import FieldReading
from tests.bench.planted import CLEAN, Judged
from tests.bench.planting import KINDS
from tests.bench.recorded import (
    MORE_WEAK,
    OWN,
    PARTS,
    SCORES,
    TOKENS,
    Read,
    confidence,
    gain,
    interval,
    ranked,
    read_again,
    report,
    tokens_alone,
)
from tests.slips.recordings import Recorded, load

RECORDED = load()


@pytest.fixture(scope="module")
def reads() -> list[Read]:
    """Every fifth slip, as the product reads it today."""
    return read_again(Recorded(RECORDED.spec, RECORDED.slips[::5]))


def right_and_wrong(reads: list[Read]) -> tuple[list[Read], list[Read]]:
    ordinary = [one for one in reads if one.group == "ordinary"]
    return [one for one in ordinary if one.kind == CLEAN], [one for one in ordinary if one.kind in KINDS]


def test_planted_errors_rank_below_what_is_right(reads: list[Read]) -> None:
    right, wrong = right_and_wrong(reads)
    assert {one.kind for one in wrong} == set(KINDS)
    assert min(len(right), len(wrong)) > 70
    assert ranked(right, wrong, confidence) >= 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_error_is_caught_by_evidence_of_its_own(reads: list[Read], kind: str) -> None:
    its = [one for one in reads if one.kind == kind]
    assert sum(one.is_caught for one in its) >= 0.9 * len(its)


def test_what_the_model_misread_ranks_below_what_it_read_by_the_help_of_log_probabilities(reads: list[Read]) -> None:
    right = [one for one in reads if one.kind == CLEAN]
    own = [one for one in reads if one.kind == OWN]
    assert len(own) > 10
    assert ranked(right, own, confidence) >= 0.85
    assert ranked(right, own, confidence) > ranked(right, own, SCORES["without log-probabilities"]) + 0.02
    assert ranked(right, own, tokens_alone) > 0.85


def test_every_value_has_log_probabilities_and_amounts_are_checked_by_the_rule(reads: list[Read]) -> None:
    assert all(one.judged.reading.evidence.keys() >= TOKENS for one in reads)
    amounts = [one for one in reads if one.judged.reading.field_path in ("/net", "/tax", "/total")]
    checked = [one for one in amounts if "rules" in one.judged.reading.evidence]
    # Where one of the three is no amount at all, the rule has nothing to say.
    assert len(checked) > 0.8 * len(amounts)


def a_read(kind: str, number: float, evidence: Mapping[str, float] = {}, document: str = "1") -> Read:
    reading = FieldReading("/net", "1.00", "1.00", number, {"grounding": 1.0, **evidence}, ())
    return Read(document, "ordinary", Judged(kind, reading))


def test_a_token_to_which_another_was_preferred_names_an_error() -> None:
    assert a_read("invented value", 0.4, {"token_margin": 0.0}).is_caught
    assert not a_read("invented value", 0.6, {"token_margin": 0.0}).is_caught
    assert not a_read("invented value", 0.4, {"token_margin": 0.2}).is_caught
    assert a_read("invented value", 0.4, {"rules": 0.0}).weak == {"rules"}
    assert a_read(CLEAN, 0.4).weak == frozenset()
    assert MORE_WEAK["token_margin"] > 0


def test_each_part_can_be_left_out_and_log_probabilities_stand_alone() -> None:
    sure, unsure = a_read(CLEAN, 0.9, dict.fromkeys(TOKENS, 1.0)), a_read(CLEAN, 0.9, dict.fromkeys(TOKENS, 0.1))
    assert SCORES.keys() == {"everything", *(f"without {name}" for name in PARTS), "log-probabilities alone"}
    assert tokens_alone(sure) > 0 > tokens_alone(unsure)
    assert SCORES["without log-probabilities"](sure) == SCORES["without log-probabilities"](unsure)
    assert SCORES["without grounding"](sure) > SCORES["without grounding"](unsure)


def test_an_interval_counts_documents_and_not_values() -> None:
    right = [a_read(CLEAN, 0.9, document=str(n)) for n in range(30)]
    wrong = [a_read("wrong digit", 0.95 if n < 3 else 0.1, document=str(n)) for n in range(30)]
    low, high = interval(right, wrong, confidence, 200)
    assert low < ranked(right, wrong, confidence) == 0.9 < high
    # Ten values of each document are no more documents.
    assert interval(right * 10, wrong * 10, confidence, 200) == (low, high)


def test_what_log_probabilities_add_is_measured_on_the_same_documents() -> None:
    right = [a_read(CLEAN, 0.97, dict.fromkeys(TOKENS, 1.0), str(n)) for n in range(20)]
    wrong = [a_read(OWN, 0.8, dict.fromkeys(TOKENS, 0.2), str(n)) for n in range(20)]
    # Without tokens all are equal, with them none is ranked the wrong way, whichever documents are drawn.
    assert gain(right, wrong, 50) == (0.5, 0.5)


def test_a_confidence_that_knows_nothing_misses_the_budgets(
    reads: list[Read], capsys: pytest.CaptureFixture[str]
) -> None:
    def blind(one: Read) -> Read:
        return replace(one, judged=replace(one.judged, reading=replace(one.judged.reading, confidence=0.7)))

    assert report([blind(one) for one in reads if one.group == "ordinary"][:200]) == 1
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["budgets"][0]["value"] == 0.5
    assert not any(budget["is_met"] for budget in result["budgets"])
