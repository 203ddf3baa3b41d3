"""Every field is fitted, what changes nothing is left out, and all figures are kept."""

import numpy as np
from scipy.special import expit

from review.accuracy.calibration import LabelledField
from review.learning.calibrator import fit_calibrations


def labels(path: str, n: int, offset: float) -> list[LabelledField]:
    """n labels of which the true log odds are those of the confidence and `offset`."""
    random = np.random.default_rng([7, *path.encode()])
    claimed = random.normal(1.0, 1.5, n)
    right = random.random(n) < expit(claimed + offset)
    return [
        LabelledField(f"d{number}", path, float(expit(one)), {}, bool(is_right), 1.0)
        for number, (one, is_right) in enumerate(zip(claimed, right, strict=True))
    ]


def test_what_promises_too_much_is_learned_and_each_field_is_a_step() -> None:
    steps: list[int] = []
    found, metrics = fit_calibrations(labels("/total", 400, -2.0) + labels("/date", 40, -2.0), "v1", steps.append)
    assert steps == [2, 3]
    assert found["/total"].engine_version == "v1"
    assert metrics["n_labels"] == 440
    figures = metrics["fields"]["/total"]
    assert (figures["n_labels"], figures["n_borrowed"]) == (400, 40)
    assert figures["after"]["log_loss"] < figures["before"]["log_loss"]
    assert set(figures["log_losses"]) == {"identity", "logistic", "isotonic", "venn_abers"}


def test_a_field_that_is_best_taken_at_its_word_has_figures_and_no_map() -> None:
    # All right at once: nothing says that the claim is wrong.
    sure = [LabelledField(f"d{number}", "/total", 0.9999, {}, True, 1.0) for number in range(50)]
    found, metrics = fit_calibrations(sure, "v1", lambda _n_done: None)
    assert found == {}
    assert metrics["fields"]["/total"]["method"] == "identity"
