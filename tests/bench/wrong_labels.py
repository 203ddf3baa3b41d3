"""A locator that learned wrong labels, held against the reader that learned nothing, as the gate does it.

    .venv/bin/python -m tests.bench.wrong_labels TRAIN.json.gz [TEST.json.gz]

Both are files of `tests.bench.stored_readings`; the field is the total.
"""

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from inference.document_types import shipped_document_type
from inference.fields.extract import extract
from inference.fields.learned import LearnedScorer
from inference.fields.normalise.comparison import comparable
from inference.fields.prior import Scorer
from inference.types import FieldReading
from review.accuracy.comparison import Comparison, PairedField, compare
from review.learning.examples import field_example
from review.learning.graph import bundle
from review.learning.locator import feature_names, fit_field
from tests.bench import stored_readings
from tests.bench.planting import Truth

TOTAL = "/total"
SPEC = shipped_document_type("receipt")
Labels = Mapping[str, str | None]


def with_totals(path: Path = stored_readings.STORED) -> list[Truth]:
    """Return the stored receipts that print a total."""
    return [one for one in stored_readings.load(path) if one.values.get(TOTAL)]


def _total(one: Truth, scorer: Scorer | None = None) -> FieldReading:
    return next(read for read in extract([one.reading], SPEC, scorer) if read.field_path == TOTAL)


def _candidates(one: Truth) -> list[str]:
    return [found["value"] for found in _total(one).candidates_as_json() if found["value"]]


def _printed(one: Truth) -> str:
    field = SPEC.spec_of(TOTAL)
    assert field is not None
    return comparable(str(one.values[TOTAL]), field.value_type, field.locale)


def shuffled(receipts: Sequence[Truth]) -> Labels:
    """Call any candidate of each receipt the total: labels without any rule."""
    chance = random.Random(1)
    return {one.name: chance.choice(values) if (values := _candidates(one)) else None for one in receipts}


def least(receipts: Sequence[Truth]) -> Labels:
    """Call one of the three least amounts of each receipt the total: labels that are wrong by a rule."""
    chance = random.Random(1)
    return {
        one.name: chance.choice(sorted(values, key=float)[:3]) if (values := _candidates(one)) else None
        for one in receipts
    }


def true(receipts: Sequence[Truth]) -> Labels:
    """Call the total the total."""
    return {one.name: _printed(one) for one in receipts}


def learned(taught: Sequence[Truth], labels: Labels) -> LearnedScorer:
    """Return what is learned from these labels; where that is nothing, the prior keeps the field."""
    field = SPEC.spec_of(TOTAL)
    assert field is not None
    examples = [field_example(one.name, field, _total(one).candidates_as_json(), labels[one.name]) for one in taught]
    names = feature_names(examples)
    fit = fit_field(examples, names, 0, is_required=field.is_required)
    trees = {TOTAL: (fit.trees, fit.prior_share)} if fit.trees is not None else {}
    return LearnedScorer(bundle(trees, names, 2 * len(names) + 1))


def compared(taught: Sequence[Truth], asked: Sequence[Truth], labels: Labels) -> Comparison:
    """Compare what learned from the labels of `taught` with what learned nothing, on `asked`."""
    scorer = learned(taught, labels)
    pairs = [PairedField(one.name, TOTAL, _is_right(one, None), _is_right(one, scorer)) for one in asked]
    return compare(pairs, {TOTAL: 1.0})


def _is_right(one: Truth, scorer: Scorer | None) -> bool:
    field, read = SPEC.spec_of(TOTAL), _total(one, scorer)
    assert field is not None
    return read.value is not None and comparable(read.value, field.value_type, field.locale) == _printed(one)


def main(train: Path, test: Path) -> None:
    """Print a line for each kind of labels."""
    taught, asked = with_totals(train), with_totals(test)
    kinds: Mapping[str, Callable[[Sequence[Truth]], Labels]] = {"true": true, "shuffled": shuffled, "least": least}
    for name, labels in kinds.items():
        found = compared(taught, asked, labels(taught))
        field = found.fields[TOTAL]
        said = "refused" if found.is_blocked else "let through"
        sys.stdout.write(
            f"{name} labels of {len(taught)}: of {len(asked)} totals {field.n_lost} lost, {field.n_won} won: {said}\n"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else stored_readings.STORED)
