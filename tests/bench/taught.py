"""A locator taught in memory by readings whose truth is known: what the worker's task does, without a database."""

from collections.abc import Sequence

from inference.fields.extract import extract
from inference.fields.learned import LearnedScorer
from inference.fields.normalise import TYPED, normalise
from inference.fields.prior import Scorer
from inference.types import DocumentTypeSpec, FieldSpec
from review.learning.examples import FieldExample, field_example
from review.learning.graph import bundle
from review.learning.locator import feature_names, fit_field
from tests.bench.planting import Truth


def teach(truths: Sequence[Truth], spec: DocumentTypeSpec, seed: int = 0) -> Scorer | None:
    """Return what is learned of all fields, None where the prior keeps every one of them.

    A field that the truth lacks was found to be absent, as the scripted reviewer of `tests.bench.learning` says.
    """
    examples: dict[str, list[FieldExample]] = {field.path: [] for field in spec.fields}
    for truth in truths:
        for found in extract([truth.reading], spec):
            field = spec.spec_of(found.field_path)
            if field is not None and found.field_path in examples:
                settled = _settled(field, truth.values.get(found.field_path))
                example = field_example(truth.name, field, found.candidates_as_json(), settled)
                examples[found.field_path].append(example)
    names = feature_names([one for found in examples.values() for one in found])
    fits = [fit_field(examples[field.path], names, seed, is_required=field.is_required) for field in spec.fields]
    trees = {fit.field_path: (fit.trees, fit.prior_share) for fit in fits if fit.trees is not None}
    return LearnedScorer(bundle(trees, names, 2 * len(names) + 1)) if trees else None


def _settled(field: FieldSpec, printed: str | None) -> str | None:
    if not printed or field.value_type not in TYPED:
        return printed or None
    return normalise(printed, field.value_type, field.locale).value
