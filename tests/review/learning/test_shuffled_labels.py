"""A locator that learned wrong labels on real receipts is refused, as the gate refuses a version."""

import random
from collections.abc import Mapping

import pytest

from inference.document_types import shipped_document_type
from inference.fields.extract import extract
from inference.fields.learned import LearnedScorer
from inference.fields.normalise.comparison import comparable
from inference.fields.prior import Scorer
from inference.types import DocumentTypeSpec
from review.accuracy.comparison import Comparison, PairedField, compare
from review.learning.examples import field_example
from review.learning.graph import bundle
from review.learning.locator import feature_names, fit_field
from tests.bench import stored_readings
from tests.bench.planting import Truth

TOTAL = "/total"
N_TAUGHT = 50


@pytest.fixture(scope="module")
def receipts() -> list[Truth]:
    return [one for one in stored_readings.load() if one.values.get(TOTAL)]


def learned(taught: list[Truth], labels: Mapping[str, str | None], spec: DocumentTypeSpec) -> LearnedScorer:
    field = spec.spec_of(TOTAL)
    assert field is not None
    examples = []
    for one in taught:
        (found,) = (read for read in extract([one.reading], spec) if read.field_path == TOTAL)
        examples.append(field_example(one.name, field, found.candidates_as_json(), labels[one.name]))
    names = feature_names(examples)
    fit = fit_field(examples, names, 0, is_required=field.is_required)
    trees = {TOTAL: (fit.trees, fit.prior_share)} if fit.trees is not None else {}
    return LearnedScorer(bundle(trees, names, 2 * len(names) + 1))


def right(asked: list[Truth], spec: DocumentTypeSpec, scorer: Scorer | None) -> dict[str, bool]:
    field = spec.spec_of(TOTAL)
    assert field is not None
    found = {}
    for one in asked:
        (read,) = (read for read in extract([one.reading], spec, scorer) if read.field_path == TOTAL)
        printed = comparable(str(one.values[TOTAL]), field.value_type, field.locale)
        found[one.name] = read.value is not None and comparable(read.value, field.value_type, field.locale) == printed
    return found


def compared(receipts: list[Truth], labels: Mapping[str, str | None], spec: DocumentTypeSpec) -> Comparison:
    taught, asked = receipts[:N_TAUGHT], receipts[N_TAUGHT:]
    before, after = right(asked, spec, None), right(asked, spec, learned(taught, labels, spec))
    return compare([PairedField(name, TOTAL, before[name], after[name]) for name in before], {TOTAL: 1.0})


def shuffled(receipts: list[Truth], spec: DocumentTypeSpec) -> dict[str, str | None]:
    """Of each receipt one of its least amounts is called the total."""
    chance = random.Random(1)
    labels: dict[str, str | None] = {}
    for one in receipts:
        (read,) = (read for read in extract([one.reading], spec) if read.field_path == TOTAL)
        values = [found["value"] for found in read.candidates_as_json() if found["value"]]
        # One of the least three: of labels without any rule nothing is learned at all, now that arithmetic speaks for
        # a total, and the prior keeps the field.
        labels[one.name] = chance.choice(sorted(values, key=float)[:3]) if values else None
    return labels


def test_a_locator_of_shuffled_labels_is_refused(receipts: list[Truth]) -> None:
    spec = shipped_document_type("receipt")
    found = compared(receipts, shuffled(receipts, spec), spec)
    assert found.is_blocked
    assert found.fields[TOTAL].n_lost > 5
    assert found.fields[TOTAL].p < 0.01
    # Fewer documents than 200: a single one that is lost is enough.
    assert found.n_documents < 100
