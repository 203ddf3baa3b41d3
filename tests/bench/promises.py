"""How many dates and totals a promise lets through: labels of one part of the receipts, true errors on the other.

    .venv/bin/python -m tests.bench.promises TRAIN.json.gz TEST.json.gz [--cross-fitted]

Both are files of `tests.bench.stored_readings`. Every value of the first part counts as examined with chance 1. Who
reads, and which labels certify:

- *prior*: the locator as it comes; all labels certify.
- *calibrated*: beside it a calibrator, learned from three in ten of the documents; the other seven certify.
- *learned*: a locator taught by the first half; the second half, which it reads and which people examine, certifies.
- *both*: the same, and a calibrator from three in ten of the second half.
- *cross-fitted*, when asked for: each fifth judged by a locator that the other four taught, the unseen part read by
  one that all taught. The product does not do this: what certifies is not quite what reads, so it is a hint.

Each at a single look, and at the first of repeated ones.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inference.document_types import shipped_schema
from inference.fields.extract import extract
from inference.fields.normalise import comparable
from inference.fields.prior import Scorer
from inference.types import parse_document_type
from review.accuracy.calibration import LabelledField
from review.accuracy.calibrators import Calibrator
from review.learning.calibrator import fit_calibrations
from review.routing.calibration_split import is_for_calibration
from review.routing.targets import Certificate, Target, certify
from review.routing.thinning import ExaminedValue
from tests.bench import stored_readings
from tests.bench.planting import Truth
from tests.bench.report import table, write
from tests.bench.taught import teach

SPEC = parse_document_type(shipped_schema("receipt"))
PATHS = ("/date", "/total")
SHARES = (0.01, 0.02, 0.05)
N_FOLDS = 5
HEADER = (
    "reader", "field", "target", "looks", "limit", "examined", "trials, wrong", "bound", "more needed", "stored",
    "wrong", "right if all were stored",
)  # fmt: skip

Values = Mapping[str, list[LabelledField]]


@dataclass(frozen=True, slots=True)
class Kept:
    """What labels carry for one field, and what that stores of documents that they never saw."""

    field_path: str
    certificate: Certificate
    n_stored: int
    n_wrong: int
    n_documents: int


@dataclass(frozen=True, slots=True)
class Read:
    """Values by field as one reader has read them: those examined to certify, and those of documents never seen."""

    examined: Values
    unseen: Values


def values_of(truths: Sequence[Truth], scorer: Scorer | None = None) -> dict[str, list[LabelledField]]:
    """Return the values that confidence alone would decide, by field, with what the reader says and whether rightly."""
    found: dict[str, list[LabelledField]] = {path: [] for path in PATHS}
    for truth in truths:
        for one in extract([truth.reading], SPEC, scorer):
            spec = SPEC.spec_of(one.field_path)
            if one.field_path in found and spec and one.value and one.confidence is not None and not one.findings:
                printed = comparable(truth.values.get(one.field_path, ""), spec.value_type, spec.locale)
                is_right = comparable(one.value, spec.value_type, spec.locale) == printed
                value = LabelledField(truth.name, one.field_path, one.confidence, one.evidence, is_right, 1.0)
                found[one.field_path].append(value)
    return found


def calibrated(labels: Values, *others: Values) -> list[Values]:
    """Return values with the confidences that calibrators of these labels give them."""
    maps, _ = fit_calibrations([label for of in labels.values() for label in of], "bench", lambda _done: None)
    return [
        {
            path: [_by(maps[path].calibrator, one) if path in maps else one for one in found]
            for path, found in of.items()
        }
        for of in others
    ]


def _by(calibrator: Calibrator, one: LabelledField) -> LabelledField:
    said = calibrator.probability(one.confidence, one.evidence)
    return LabelledField(one.document, one.field_path, said, one.evidence, one.is_correct, one.weight)


def readers(train: Sequence[Truth], test: Sequence[Truth], *, is_cross_fitted: bool = False) -> dict[str, Read]:
    """Return what each reader has read; see the module."""
    prior, half = values_of(train), len(train) // 2
    unseen = values_of(test)
    first, second = train[:half], train[half:]
    locator = teach(first, SPEC)
    learned, learned_unseen = values_of(second, locator), values_of(test, locator)
    found = {
        "prior": Read(prior, unseen),
        "calibrated": _with_calibrator(prior, unseen),
        "learned": Read(learned, learned_unseen),
        "both": _with_calibrator(learned, learned_unseen),
    }
    return found | ({"cross-fitted": _cross_fitted(train, test)} if is_cross_fitted else {})


def _cross_fitted(train: Sequence[Truth], test: Sequence[Truth]) -> Read:
    crossed: dict[str, list[LabelledField]] = {path: [] for path in PATHS}
    for fold in range(N_FOLDS):
        of_others = teach([one for n, one in enumerate(train) if n % N_FOLDS != fold], SPEC)
        for path, found in values_of(train[fold::N_FOLDS], of_others).items():
            crossed[path] += found
    return Read(crossed, values_of(test, teach(train, SPEC)))


def _with_calibrator(examined: Values, unseen: Values) -> Read:
    taught, kept = (
        {
            path: [one for one in found if is_for_calibration(one.document, "bench") == is_it]
            for path, found in examined.items()
        }
        for is_it in (True, False)
    )
    return Read(*calibrated(taught, kept, unseen))


def keep(read: Read, path: str, wrong_share: float, n_documents: int, look: int | None = 1) -> Kept:
    """Certify one field, at one look (None) or at a look of repeated ones, and store what was never seen by it."""
    examined = [ExaminedValue(one.document, path, one.confidence, not one.is_correct) for one in read.examined[path]]
    found = certify(examined, [one.confidence for one in examined], Target(wrong_share, look=look))
    limit = 2.0 if found.threshold is None else found.threshold
    stored = [one for one in read.unseen[path] if one.confidence >= limit]
    return Kept(path, found, len(stored), sum(not one.is_correct for one in stored), n_documents)


def main(arguments: Sequence[str]) -> None:
    """Print a line for each reader, field, target and way to look."""
    parser = argparse.ArgumentParser(prog="promises", description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--cross-fitted", action="store_true")
    options = parser.parse_args(arguments)
    known, unknown = stored_readings.load(options.train), stored_readings.load(options.test)
    found = readers(known, unknown, is_cross_fitted=options.cross_fitted)
    rows = [
        _row(name, read, path, share, look, len(unknown))
        for name, read in found.items()
        for path in PATHS
        for share in SHARES
        for look in (None, 1)
    ]
    write(table(HEADER, rows))


def _row(name: str, read: Read, path: str, share: float, look: int | None, n_documents: int) -> tuple[object, ...]:
    kept = keep(read, path, share, n_documents, look)
    one, unseen = kept.certificate, read.unseen[path]
    return (
        name, path, f"{share:.0%}", "one" if look is None else "first",
        "none" if one.threshold is None else f"{one.threshold:.3f}", len(read.examined[path]),
        f"{one.n_trials}, {one.n_wrong}", f"{one.upper_limit:.2%}",
        "–" if one.is_automated else str(one.n_more_needed), kept.n_stored, kept.n_wrong,
        f"{sum(value.is_correct for value in unseen)} of {len(unseen)}",
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
