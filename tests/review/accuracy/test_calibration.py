"""A field is calibrated by what its labels carry, with help from others while they are few, for one engine version."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from review.accuracy.calibration import N_FOLDS, Calibration, LabelledField, calibrate, folds_by_document
from review.accuracy.calibrators import CalibratorError, Identity


def labels(
    n: int, path: str = "/total", *, offset: float = 0.0, slope: float = 1.0, seed: int = 0, weight: float = 1.0
) -> list[LabelledField]:
    """n labels of which the true log odds are offset + slope x those of the confidence."""
    random = np.random.default_rng([seed, *path.encode()])
    claimed = random.normal(1.0, 1.5, n)
    is_correct = random.random(n) < expit(offset + slope * claimed)
    return [
        LabelledField(f"d{k}", path, float(expit(one)), {"ocr": float(ocr)}, bool(right), weight)
        for k, (one, ocr, right) in enumerate(zip(claimed, random.random(n), is_correct, strict=True))
    ]


def said(found: Calibration, confidence: float) -> float:
    probability = found.probability("v1", confidence, {"ocr": 0.5})
    assert probability is not None
    return probability


def test_a_field_that_promises_too_much_is_put_right_and_the_figures_say_so() -> None:
    found = calibrate(labels(1_500, offset=-1.0), "/total", "v1")
    assert said(found, 0.9) == pytest.approx(float(expit(np.log(9) - 1)), abs=0.06)
    assert found.after["log_loss"] < found.before["log_loss"]
    assert found.after["calibration_error"] < 0.05 < found.before["calibration_error"]
    assert (found.n_labels, found.n_documents, found.n_borrowed) == (1_500, 1_500, 0)
    assert set(found.log_losses) == {"identity", "logistic", "isotonic", "venn_abers"}


def test_the_method_with_the_least_loss_on_what_it_had_not_seen_is_chosen() -> None:
    found = calibrate(labels(800, offset=-1.0), "/total", "v1")
    assert found.calibrator.method == min(found.log_losses, key=lambda name: found.log_losses[name])
    # A step that no logistic curve follows.
    random = np.random.default_rng(3)
    stepped = [
        LabelledField(f"d{k}", "/total", float(one), {}, bool(random.random() < (0.97 if one > 0.6 else 0.3)), 1.0)
        for k, one in enumerate(random.random(1_500))
    ]
    assert calibrate(stepped, "/total", "v1").calibrator.method in {"isotonic", "venn_abers"}


def test_a_reader_that_keeps_its_word_is_left_alone_or_hardly_touched() -> None:
    found = calibrate(labels(1_500), "/total", "v1")
    assert [said(found, one) for one in (0.6, 0.8, 0.95)] == pytest.approx([0.6, 0.8, 0.95], abs=0.06)


def test_too_few_labels_to_learn_from_change_nothing() -> None:
    assert calibrate([], "/total", "v1").calibrator == Identity()
    assert calibrate(labels(2), "/total", "v1").calibrator == Identity()


def test_a_field_without_labels_gets_what_the_others_teach() -> None:
    others = labels(600, "/date", offset=-1.5) + labels(600, "/name", offset=-1.5)
    found = calibrate(others, "/total", "v1")
    assert (found.n_labels, found.n_borrowed) == (0, 1_200)
    assert said(found, 0.9) == pytest.approx(float(expit(np.log(9) - 1.5)), abs=0.1)
    assert found.after["n"] == 0


def test_a_field_is_pulled_towards_the_others_the_more_the_fewer_labels_it_has() -> None:
    others = labels(1_000, "/date", offset=-2.0)
    alone = float(expit(np.log(9) + 1.0))
    gaps = [abs(said(calibrate(others + labels(n, offset=1.0), "/total", "v1"), 0.9) - alone) for n in (5, 100, 2_000)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.05 < gaps[0]


def test_a_calibration_answers_for_the_engine_version_it_learned_from_alone() -> None:
    found = calibrate(labels(200), "/total", "v1")
    assert found.probability("v2", 0.9, {}) is None
    assert found.probability("v1", None, {}) is None
    assert found.probability("v1", 1.5, {}) is None
    assert found.probability("v1", float("nan"), {}) is None
    assert found.probability("v1", 0.9, {}) is not None


def test_weights_undo_that_people_see_the_doubtful() -> None:
    """Of values with confidence 0.9 the drawn ones are right as promised; those sent to people for doubts are not."""
    random = np.random.default_rng(5)
    audits = [LabelledField(f"a{k}", "/total", 0.9, {}, bool(random.random() < 0.9), 50.0) for k in range(200)]
    doubts = [LabelledField(f"r{k}", "/total", 0.9, {}, bool(random.random() < 0.3), 1.0) for k in range(400)]
    weighted = calibrate(audits + doubts, "/total", "v1")
    plain = calibrate([replace(one, weight=1.0) for one in audits + doubts], "/total", "v1")
    assert said(weighted, 0.9) == pytest.approx(0.88, abs=0.04)
    assert said(plain, 0.9) < 0.6


def test_the_unit_of_the_weights_does_not_matter() -> None:
    one, other = (calibrate(labels(300, offset=-1.0, weight=weight), "/total", "v1") for weight in (1.0, 40.0))
    assert said(one, 0.8) == pytest.approx(said(other, 0.8), abs=1e-6)


def test_the_order_of_the_labels_does_not_matter() -> None:
    some = labels(300, offset=-1.0) + labels(200, "/date")
    assert calibrate(some, "/total", "v1") == calibrate(some[::-1], "/total", "v1")


def test_the_fields_of_a_document_are_never_on_both_sides() -> None:
    documents = [f"d{n % 40}" for n in range(200)]
    folds = folds_by_document(documents)
    of = {document: {int(fold) for name, fold in zip(documents, folds, strict=True) if name == document}
          for document in documents}  # fmt: skip
    assert all(len(found) == 1 for found in of.values())
    sizes = [sum(fold in found for found in of.values()) for fold in range(N_FOLDS)]
    assert sizes == [8] * N_FOLDS


def test_documents_whose_fields_are_alike_are_not_learned_by_heart() -> None:
    """Twenty copies of each value: folds by label would let a map find every value again."""
    random = np.random.default_rng(9)
    copies = [
        LabelledField(f"d{k}", f"/rows/{row}", confidence, {}, right, 1.0)
        for k, (confidence, right) in enumerate(
            zip(random.random(40).tolist(), (random.random(40) < 0.5).tolist(), strict=True)
        )
        for row in range(20)
    ]
    columns = [replace(one, field_path="/rows/*") for one in copies]
    found = calibrate(columns, "/rows/*", "v1")
    assert min(found.log_losses.values()) > 0.6


def test_a_map_is_judged_on_labels_that_it_had_not_seen() -> None:
    random = np.random.default_rng(10)
    noise = [LabelledField(f"d{n}", "/total", one, {}, bool(random.random() < 0.5), 1.0)
             for n, one in enumerate(random.uniform(0.4, 0.6, 60).tolist())]  # fmt: skip
    # Fitted to what it is judged on, an isotonic map would seem to foresee noise.
    assert calibrate(noise, "/total", "v1").log_losses["isotonic"] > np.log(2)


def test_a_calibration_is_plain_data() -> None:
    found = calibrate(labels(300, offset=-1.0) + labels(50, "/date"), "/total", "v1")
    stored = json.loads(json.dumps(found.as_json(), allow_nan=False))
    again = Calibration.from_json(stored)
    assert again.as_json() == found.as_json() == stored
    assert said(again, 0.83) == said(found, 0.83)


@pytest.mark.parametrize("change", [{"format": 2}, {"calibrator": {"method": "oracle"}}, {"colour": "red"}])
def test_stored_data_that_are_no_calibration_are_refused(change: dict[str, object]) -> None:
    stored = calibrate(labels(20), "/total", "v1").as_json()
    with pytest.raises(CalibratorError):
        Calibration.from_json({**stored, **change})
    with pytest.raises(CalibratorError):
        Calibration.from_json({})


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_label_that_stands_for_nothing_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="stands for"):
        calibrate(labels(3, weight=weight), "/total", "v1")
