"""Trees of several fields travel as one graph, the same bytes for the same trees."""

import json

import numpy as np
import onnx
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from inference.fields.learned import METADATA, LearnedScorer, feature_rows
from inference.types import ValueType
from review.learning.graph import bundle
from tests.inference.fields.pages import field

NAMES = ["prior", "right", "top"]
N_COLUMNS = 2 * len(NAMES) + 1
TOTAL, DATE, OTHER = (field(ValueType.AMOUNT, path=path) for path in ("/total", "/date", "/other"))


def trees(seed: int) -> GradientBoostingClassifier:
    random = np.random.default_rng(seed)
    rows = random.random((200, N_COLUMNS)).astype(np.float32)
    return GradientBoostingClassifier(n_estimators=5, random_state=seed).fit(rows, rows[:, 1] > rows[:, 2])


def candidates() -> list[dict[str, float]]:
    random = np.random.default_rng(9)
    return [{"right": float(right), "top": float(top)} for right, top in random.random((6, 2))]


def test_each_field_is_scored_by_its_own_trees() -> None:
    models = {"/total": trees(1), "/date": trees(2)}
    scorer = LearnedScorer(bundle({path: (model, 0.0) for path, model in models.items()}, NAMES, N_COLUMNS))
    assert set(scorer.field_paths) == set(models)
    for spec in (TOTAL, DATE):
        prior = scorer.score(OTHER, candidates())
        order = sorted(range(6), key=lambda row: -prior[row])
        rows = feature_rows([candidates()[row] for row in order], [prior[row] for row in order], NAMES)
        expected = models[spec.path].decision_function(rows)
        found = scorer.score(spec, candidates())
        assert [found[row] for row in order] == pytest.approx(expected, abs=1e-5)


def test_the_same_trees_make_the_same_bytes() -> None:
    both = [("/total", (trees(1), 0.5)), ("/date", (trees(2), 0.0))]
    assert bundle(dict(both), NAMES, N_COLUMNS) == bundle(dict(both[::-1]), NAMES, N_COLUMNS)
    assert bundle(dict(both), NAMES, N_COLUMNS) != bundle(dict(both[:1]), NAMES, N_COLUMNS)


def test_nothing_of_a_graph_runs_code_of_its_own() -> None:
    made = onnx.load_from_string(bundle({"/total": (trees(1), 0.5)}, NAMES, N_COLUMNS))
    assert {node.domain for node in made.graph.node} == {"ai.onnx.ml"}
    assert not made.functions
    (stored,) = [prop.value for prop in made.metadata_props if prop.key == METADATA]
    assert json.loads(stored)["fields"] == {"/total": {"output": "log_odds_0", "prior_share": 0.5}}
