"""A locator learns from reviewed documents, field by field (L1).

**Trees beside the prior.** For each field boosted trees learn which candidate is right; a field's score is theirs, with
a share of the prior's. The share is the one with the best chance of the right value, on documents left out in turn.

**Never worse than without.** The prior alone keeps a field where labels are few, where the trees would have found fewer
values on what was left out, and where what they gain is less than chance: so 25 labels do no harm.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import GradientBoostingClassifier

from inference.fields.learned import PRIOR, feature_rows
from inference.fields.score import NO_CANDIDATE, SOFTNESS, choose
from review.learning.examples import FieldExample, Floats, Outcome

N_FOLDS = 5
LEAST_DOCUMENTS = 20
"""So many documents must show a field's right value among its candidates before anything is learned of it."""
PRIOR_SHARES = (0.75, 0.5, 0.25, 0.0)
WORST_LOG_CHANCE = float(np.log(1e-4))

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FieldFit:
    """What was learned of one field: `trees` None leaves it to the prior; `metrics` is plain data."""

    field_path: str
    trees: GradientBoostingClassifier | None
    prior_share: float
    metrics: dict[str, Any]


def feature_names(examples: Sequence[FieldExample]) -> list[str]:
    """Return the features that any candidate has, and the prior's score, in a fixed order."""
    return sorted({name for one in examples for features in one.features for name in features} | {PRIOR})


def fit_field(examples: Sequence[FieldExample], names: Sequence[str], seed: int, *, is_required: bool) -> FieldFit:
    """Learn one field from its examples; the same examples in any order and the same seed learn the same."""
    ordered = sorted(examples, key=lambda one: _place(one.document))
    path = ordered[0].field_path if ordered else ""
    prior = [one.prior for one in ordered]
    before = _hits(ordered, prior, is_required=is_required)
    metrics: dict[str, Any] = {
        "n_documents": len(ordered),
        **{str(outcome): sum(one.outcome is outcome for one in ordered) for outcome in Outcome},
        "found_before": _mean(before),
        "found_after": _mean(before),
        "prior_share": 1.0,
    }
    rows = [feature_rows(one.features, one.prior.tolist(), names) for one in ordered]
    if metrics[Outcome.MATCHED] < LEAST_DOCUMENTS:
        return FieldFit(path, None, 1.0, metrics | {"why_not": "few_labels"})
    left_out = _left_out(ordered, rows, seed)
    if left_out is None:
        return FieldFit(path, None, 1.0, metrics | {"why_not": "nothing_to_choose"})
    best: tuple[float, float] | None = None
    chances_before = _log_chances(ordered, prior)
    for share in PRIOR_SHARES:
        scores = [share * old + (1.0 - share) * new for old, new in zip(prior, left_out, strict=True)]
        gain = _log_chances(ordered, scores) - chances_before
        if _hits(ordered, scores, is_required=is_required).sum() >= before.sum() and _is_more_than_chance(gain):
            best = max(best or (-np.inf, share), (float(gain.mean()), share))
    if best is None:
        return FieldFit(path, None, 1.0, metrics | {"why_not": "no_gain"})
    scores = [best[1] * old + (1.0 - best[1]) * new for old, new in zip(prior, left_out, strict=True)]
    after = _mean(_hits(ordered, scores, is_required=is_required))
    metrics |= {"found_after": after, "prior_share": best[1], "log_chance_gain": best[0]}
    return FieldFit(path, _fit(ordered, rows, seed), best[1], metrics)


def _place(document: str) -> bytes:
    return hashlib.sha256(document.encode()).digest()


def _fit(
    examples: Sequence[FieldExample], rows: Sequence[npt.NDArray[np.float32]], seed: int
) -> GradientBoostingClassifier | None:
    taught = np.concatenate([one.is_taught for one in examples])
    if taught.all() or not taught.any():
        return None
    trees = GradientBoostingClassifier(
        n_estimators=100,
        learning_rate=0.08,
        max_depth=3,
        subsample=0.7,
        max_features=0.5,
        min_samples_leaf=5,
        random_state=seed,
    )
    return trees.fit(np.vstack(rows), taught)


def _left_out(
    examples: Sequence[FieldExample], rows: Sequence[npt.NDArray[np.float32]], seed: int
) -> list[Floats] | None:
    """Return the log-odds of each example's candidates by trees that have not seen its document."""
    scores: list[Floats] = [np.empty(0)] * len(examples)
    for fold in range(N_FOLDS):
        seen = [number for number in range(len(examples)) if number % N_FOLDS != fold]
        trees = _fit([examples[number] for number in seen], [rows[number] for number in seen], seed)
        if trees is None:
            return None
        for number in range(fold, len(examples), N_FOLDS):
            if len(rows[number]):
                scores[number] = np.asarray(trees.decision_function(rows[number]), dtype=np.float64)
    return scores


def _hits(examples: Sequence[FieldExample], scores: Sequence[Floats], *, is_required: bool) -> Bools:
    """Return whether each example's field would be read rightly by these scores, nothing for an absent one included."""
    return np.array(
        [_is_hit(one, found, is_required=is_required) for one, found in zip(examples, scores, strict=True)], dtype=bool
    )


def _is_hit(example: FieldExample, scores: Floats, *, is_required: bool) -> bool:
    choice = choose(scores.tolist(), example.keys)
    if choice is None or not (is_required or choice.margin >= 0):
        return example.outcome is Outcome.ABSENT
    return bool(example.is_right[choice.position])


def _log_chances(examples: Sequence[FieldExample], scores: Sequence[Floats]) -> Floats:
    """Return the logarithm of the share of belief in what is right, of each example where that can be believed."""
    believable = [
        _log_chance(one, found)
        for one, found in zip(examples, scores, strict=True)
        if one.outcome is Outcome.ABSENT or one.is_taught.any()
    ]
    return np.array(believable, dtype=np.float64)


def _log_chance(example: FieldExample, scores: Floats) -> float:
    weights = np.append(scores, NO_CANDIDATE) / SOFTNESS
    taught = {key for key, is_taught in zip(example.keys, example.is_taught, strict=True) if is_taught}
    is_it = np.array([*(key in taught for key in example.keys), example.outcome is Outcome.ABSENT], dtype=bool)
    total = np.logaddexp.reduce(weights)
    return max(float(np.logaddexp.reduce(weights[is_it]) - total), WORST_LOG_CHANCE)


def _is_more_than_chance(gain: Floats) -> bool:
    """Whether the mean gain is more than two of its standard errors."""
    return len(gain) > 1 and bool(gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain)))


def _mean(flags: Bools) -> float | None:
    return float(flags.mean()) if len(flags) else None
