"""How many dates and totals a promise lets through: labels of one part of the receipts, true errors on the other.

    .venv/bin/python -m tests.bench.promises TRAIN.json.gz TEST.json.gz

Both are files of `tests.bench.stored_readings`. Every value of the first part counts as examined with chance 1; the
confidence is the prior's own, without a learned locator.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inference.document_types import shipped_schema
from inference.fields.extract import extract
from inference.fields.normalise import comparable
from inference.types import parse_document_type
from review.routing.targets import Certificate, Target, certify
from review.routing.thinning import ExaminedValue
from tests.bench import stored_readings
from tests.bench.planting import Truth

SPEC = parse_document_type(shipped_schema("receipt"))
PATHS = ("/date", "/total")


@dataclass(frozen=True, slots=True)
class Kept:
    """What labels carry for one field, and what that stores of documents that they never saw."""

    field_path: str
    certificate: Certificate
    n_stored: int
    n_wrong: int
    n_documents: int


def values_of(truths: Sequence[Truth], field_path: str) -> list[ExaminedValue]:
    """Return the values of one field that confidence alone would decide, with whether they are wrong."""
    found = []
    for truth in truths:
        for one in extract([truth.reading], SPEC):
            spec = SPEC.spec_of(one.field_path)
            if one.field_path == field_path and spec and one.value and one.confidence is not None and not one.findings:
                printed = comparable(truth.values.get(field_path, ""), spec.value_type, spec.locale)
                is_wrong = comparable(one.value, spec.value_type, spec.locale) != printed
                found.append(ExaminedValue(truth.name, field_path, one.confidence, is_wrong))
    return found


def keep(train: Sequence[Truth], test: Sequence[Truth], field_path: str, wrong_share: float) -> Kept:
    """Certify on one part, at the first look of repeated ones, and store the other by it."""
    examined, unseen = values_of(train, field_path), values_of(test, field_path)
    found = certify(examined, [one.confidence for one in examined], Target(wrong_share, look=1))
    limit = 2.0 if found.threshold is None else found.threshold
    stored = [one for one in unseen if one.confidence >= limit]
    return Kept(field_path, found, len(stored), sum(one.is_wrong for one in stored), len(test))


def main(train: Path, test: Path) -> None:
    """Print a line for each field and target."""
    parts = stored_readings.load(train), stored_readings.load(test)
    for path in PATHS:
        for wrong_share in (0.01, 0.02, 0.05):
            kept = keep(*parts, path, wrong_share)
            one = kept.certificate
            sys.stdout.write(
                f"{path} at most {wrong_share:.0%}: limit {one.threshold}, {one.n_wrong} wrong of {one.n_trials}, "
                f"{one.n_more_needed} more needed; stored {kept.n_stored} of {kept.n_documents}, "
                f"{kept.n_wrong} wrong\n"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
