"""The measurement of promises counts what is stored and what of it is wrong, for each way to read."""

import dataclasses
from collections.abc import Sequence

import pytest

from inference.fields.prior import PriorScorer, Scorer
from inference.types import DocumentTypeSpec
from review.accuracy.calibration import LabelledField
from tests.bench.planting import Truth
from tests.bench.promises import PATHS, SPEC, Read, calibrated, keep, readers, values_of
from tests.bench.stored_readings import load

TRUTHS = load()


def test_too_few_labels_store_nothing_and_a_loose_promise_stores_what_it_may() -> None:
    found = values_of(TRUTHS)
    read = Read(found, found)
    strict = keep(read, "/date", 0.01, len(TRUTHS))
    assert (strict.certificate.threshold, strict.n_stored) == (None, 0)
    assert strict.certificate.n_more_needed is not None
    loose = keep(read, "/date", 0.2, len(TRUTHS))
    assert loose.certificate.threshold is not None
    stored = [one for one in found["/date"] if one.confidence >= loose.certificate.threshold]
    assert (loose.n_stored, loose.n_wrong) == (len(stored), sum(not one.is_correct for one in stored))
    assert 0 < loose.n_stored <= loose.n_documents == len(TRUTHS)


def test_one_look_needs_fewer_labels_than_the_first_of_many() -> None:
    right = [LabelledField(str(n), "/date", 0.9, {}, is_correct=True, weight=1.0) for n in range(310)]
    read = Read({"/date": right}, {"/date": right[:5]})
    assert keep(read, "/date", 0.01, 5, look=None).n_stored == 5
    assert keep(read, "/date", 0.01, 5, look=1).n_stored == 0


def test_what_a_calibrator_says_is_learned_from_its_own_labels_only() -> None:
    labels = [LabelledField(str(n), "/date", n / 100, {}, is_correct=n >= 50, weight=1.0) for n in range(100)]
    low, high = (LabelledField("x", "/date", said, {}, is_correct=True, weight=1.0) for said in (0.2, 0.8))
    (found,) = calibrated({"/date": labels}, {"/date": [low, high]})
    assert found["/date"][0].confidence < 0.2 < 0.8 < found["/date"][1].confidence


def test_every_reader_is_judged_by_documents_that_did_not_teach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    taught: list[set[str]] = []
    calibrated_by: list[set[str]] = []

    def remember(truths: Sequence[Truth], spec: DocumentTypeSpec) -> Scorer:
        taught.append({one.name for one in truths})
        assert spec is SPEC
        return PriorScorer()

    def remember_labels(labels: list[LabelledField], *rest: object) -> tuple[dict[str, object], dict[str, object]]:
        calibrated_by.append({one.document for one in labels})
        return {}, {}

    monkeypatch.setattr("tests.bench.promises.teach", remember)
    monkeypatch.setattr("tests.bench.promises.fit_calibrations", remember_labels)
    train = [dataclasses.replace(one, name=f"train {one.name}") for one in TRUTHS[:20]]
    found = readers(train, TRUTHS[20:25], is_cross_fitted=True)
    names = {name: {one.document for one in read.examined["/date"]} for name, read in found.items()}
    everything = {one.name for one in train}
    assert names["cross-fitted"] == names["prior"] <= everything
    assert names["learned"] == names["prior"] & {one.name for one in train[10:]}
    assert names["both"] < names["learned"]
    assert names["calibrated"] < names["prior"]
    # What teaches a calibrator certifies nothing.
    assert [by & names[name] for by, name in zip(calibrated_by, ("calibrated", "both"), strict=True)] == [set()] * 2
    assert min(map(len, calibrated_by)) > 0
    # The first half; then five times the other four fifths; then all, for what was never seen.
    assert taught[0] == {one.name for one in train[:10]}
    assert [len(of) for of in taught[1:6]] == [16] * 5
    assert set.intersection(*taught[1:6]) == set()
    assert taught[6] == everything
    for read in found.values():
        assert {path: len(of) > 0 for path, of in read.unseen.items()} == dict.fromkeys(PATHS, True)
