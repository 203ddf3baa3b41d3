"""The planted errors are errors, of the kind that they are called, and what is measured on them is what is said."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.document_types import shipped_document_type
from inference.engines.scripted import ScriptedEngine
from inference.fields.normalise import comparable, find_values, folded
from inference.types import FieldReading, FieldSpec, ValueType
from tests.bench import planted
from tests.bench.planted import CLEAN, NAMED_BY, WEAK, Judged, auroc, judge, report, wrongly_ranked
from tests.bench.planting import KINDS, Truth, is_another_value, plant_swapped_value, plant_truncated_value
from tests.bench.stored_readings import load, read_folder, store
from tests.inference.fields.pages import field, reading

RECEIPT = shipped_document_type("receipt")
STORED = load()
SEEDS = range(20)


def spec_of(path: str) -> FieldSpec:
    spec = RECEIPT.spec_of(path)
    assert spec is not None
    return spec


def planted_values(kind: str, truth: Truth, path: str) -> set[str]:
    made = {KINDS[kind](spec_of(path), truth, STORED, random.Random(seed)) for seed in SEEDS}
    return {value for value in made if value is not None}


def test_a_hundred_receipts_are_stored_each_with_words_and_truth() -> None:
    assert len({truth.name for truth in STORED}) == 100
    assert all(len(truth.reading.words) >= 10 and truth.reading.quality for truth in STORED)
    assert all(truth.values.keys() <= {spec.path for spec in RECEIPT.fields} for truth in STORED)
    for truth in STORED:
        assert all(0 <= word.bbox.x0 <= word.bbox.x1 <= 1 and 0 < word.score <= 1 for word in truth.reading.words)


def test_readings_come_back_as_they_were_stored(tmp_path: Path) -> None:
    path = tmp_path / "stored.gz"
    store(STORED[:3], path)
    again = load(path)
    assert again == STORED[:3]
    first = path.read_bytes()
    store(again, path)
    assert path.read_bytes() == first


def test_a_folder_is_read_page_by_page_with_its_truth(tmp_path: Path) -> None:
    (tmp_path / "img").mkdir()
    (tmp_path / "key").mkdir()
    sample = Path(__file__).parents[2] / "samples" / "047.jpg"
    (tmp_path / "img" / "a.jpg").write_bytes(sample.read_bytes())
    (tmp_path / "key" / "a.json").write_text(json.dumps({"company": "ACME", "total": ""}), encoding="utf-8")
    (truth,) = read_folder(tmp_path, ScriptedEngine({"default": {"words": []}}))
    assert (truth.name, truth.values) == ("a", {"/company": "ACME"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["/company", "/date", "/address", "/total"])
def test_what_is_planted_is_another_value_of_the_same_type(kind: str, path: str) -> None:
    spec = spec_of(path)
    made = [(truth, value) for truth in STORED[:15] for value in planted_values(kind, truth, path)]
    assert made or (kind, path) == ("swapped value", "/date")
    for truth, value in made:
        assert is_another_value(spec, value, truth.values[path])


@pytest.mark.parametrize("path", ["/date", "/address", "/total"])
def test_a_wrong_digit_is_one_digit_apart(path: str) -> None:
    for truth in STORED[:15]:
        text = truth.values[path]
        for value in planted_values("wrong digit", truth, path):
            (changed,) = ((old, new) for old, new in zip(text, value, strict=True) if old != new)
            assert all(map(str.isdigit, changed))


def test_a_swapped_amount_is_printed_on_the_page_and_an_invented_one_is_not() -> None:
    spec = spec_of("/total")
    for truth in STORED[:15]:
        printed = {
            item.normalised.value
            for word in truth.reading.words
            for item in find_values(word.text, spec.value_type, spec.locale)
        }
        assert planted_values("swapped value", truth, "/total") <= printed
        invented = planted_values("invented value", truth, "/total")
        assert not {comparable(value, spec.value_type, spec.locale) for value in invented} & printed


def test_a_truncated_name_is_a_part_of_the_true_one_and_a_swapped_one_is_not() -> None:
    for truth in STORED[:15]:
        whole = folded(truth.values["/company"])
        assert all(folded(value) in whole for value in planted_values("truncated value", truth, "/company"))
        assert not any(folded(value) in whole for value in planted_values("swapped value", truth, "/company"))


def test_where_nothing_fits_nothing_is_planted() -> None:
    truth = Truth("one", reading(("ACME", 100, 100)), {"/field": "ACME"})
    name = field(ValueType.NAME)
    assert plant_swapped_value(name, truth, [], random.Random(0)) is None
    assert plant_truncated_value(name, truth, [], random.Random(0)) is None
    assert all(plant(name, truth, [], random.Random(0)) is None for plant in KINDS.values())


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [([0.9, 0.8], [0.1, 0.2], 1.0), ([0.1], [0.9], 0.0), ([0.5], [0.5], 0.5), ([0.9, 0.3], [0.5], 0.5)],
)
def test_auroc_is_the_chance_that_right_is_surer_than_wrong(
    right: list[float], wrong: list[float], expected: float
) -> None:
    assert auroc(right, wrong) == expected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_auroc_counts_pairs(right: list[float], wrong: list[float]) -> None:
    pairs = [(r > w) + 0.5 * (r == w) for r in right for w in wrong]
    assert auroc(right, wrong) == pytest.approx(sum(pairs) / len(pairs))


def test_nothing_ranked_is_no_number() -> None:
    assert str(auroc([], [0.5])) == str(auroc([0.5], [])) == "nan"


def one(kind: str, confidence: float, evidence: Mapping[str, float], *findings: str) -> Judged:
    return Judged(kind, FieldReading("/total", "1", "1", confidence, evidence, findings))


@pytest.mark.parametrize(
    ("confidence", "evidence", "is_caught"),
    [
        (0.2, {"grounding": 0.4, "readers_agree": 0.0}, True),
        (0.2, {"grounding": 1.0, "readers_agree": 0.0}, False),
        (0.7, {"grounding": 0.4, "readers_agree": 0.0}, False),
    ],
)
def test_an_error_is_caught_by_doubt_with_a_reason_of_its_own(
    confidence: float, evidence: Mapping[str, float], is_caught: bool
) -> None:
    assert one("invented value", confidence, evidence).is_caught is is_caught


def test_every_kind_has_evidence_that_may_name_it() -> None:
    assert NAMED_BY.keys() == KINDS.keys()
    assert all(names and names <= WEAK.keys() for names in NAMED_BY.values())


def test_tokens_that_know_nothing_change_a_confidence_by_chance_only() -> None:
    judged = one("invented value", 0.3, {"grounding": 1.0, "readers_agree": 1.0, "share": 1.0})
    made = {judged.with_meaningless_tokens(random.Random(seed)).confidence for seed in SEEDS}
    assert len(made) == len(SEEDS)
    assert min(made) < judged.without(frozenset()).confidence < max(made)


def test_evidence_that_is_taken_away_no_longer_counts() -> None:
    judged = one("invented value", 0.3, {"grounding": 0.0, "readers_agree": 1.0, "share": 1.0}, "not_grounded")
    bare = judged.without(planted.PARTS["grounding"])
    assert bare.reading.findings == ()
    assert bare.confidence > judged.confidence
    assert judged.without(planted.PARTS["second reader"]).confidence < judged.confidence


def test_stored_errors_rank_below_what_is_right_and_are_caught() -> None:
    some = STORED[::12]
    judged = judge(some, RECEIPT)
    right = [one.confidence for one in judged if one.kind == CLEAN]
    wrong = [one for one in judged if one.kind != CLEAN]
    assert len(right) == sum(len(truth.values) for truth in some)
    assert {one.kind for one in wrong} == set(KINDS)
    assert auroc(right, [one.confidence for one in wrong]) > 0.9
    assert sum(one.is_caught for one in wrong) > 0.9 * len(wrong)


def test_pairs_ranked_wrongly_are_counted_by_the_first_doubt_about_the_clean_value() -> None:
    judged = [
        one(CLEAN, 0.1, {"digits": 0.5, "readers_agree": 0.0}, "not_grounded"),
        one(CLEAN, 0.3, {"digits": 0.5, "readers_agree": 0.0}),
        one(CLEAN, 0.5, {"readers_agree": 0.0}),
        one(CLEAN, 0.9, {"readers_agree": 0.0}),
        *(one("wrong digit", confidence, {}) for confidence in (0.2, 0.4, 0.5, 0.6)),
    ]
    assert wrongly_ranked(judged) == {
        "not found on its page": (1, 4 / 8),
        "digits misread": (1, 3 / 8),
        "the locator chose otherwise": (1, 1 / 8),
        "none of these": (0, 0.0),
    }


def test_the_same_seed_plants_the_same_errors() -> None:
    first, again, other = (judge(STORED[:1], RECEIPT, seed) for seed in (1, 1, 2))
    assert first == again
    assert [one.reading.raw_text for one in first] != [one.reading.raw_text for one in other]


def test_a_confidence_that_knows_nothing_misses_the_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    blind = [replace(one, reading=replace(one.reading, confidence=0.7)) for one in judge(STORED[:1], RECEIPT)]
    assert report(blind, 1) == 1
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["budgets"][0]["value"] == 0.5
    assert not any(budget["is_met"] for budget in result["budgets"])
