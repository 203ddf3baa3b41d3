"""The measurement of promises counts what is stored and what of it is wrong."""

from tests.bench.promises import keep, values_of
from tests.bench.stored_readings import load


def test_too_few_labels_store_nothing_and_a_loose_promise_stores_what_it_may() -> None:
    truths = load()
    strict = keep(truths, truths, "/date", 0.01)
    assert (strict.certificate.threshold, strict.n_stored) == (None, 0)
    assert strict.certificate.n_more_needed is not None
    loose = keep(truths, truths, "/date", 0.2)
    assert loose.certificate.threshold is not None
    stored = [one for one in values_of(truths, "/date") if one.confidence >= loose.certificate.threshold]
    assert (loose.n_stored, loose.n_wrong) == (len(stored), sum(one.is_wrong for one in stored))
    assert 0 < loose.n_stored <= loose.n_documents == len(truths)
