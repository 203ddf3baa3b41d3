"""Learning what a reader's confidence is worth, field by field, from what people examined."""

from collections.abc import Callable
from typing import Any

from review.accuracy.calibration import Calibration, LabelledField, calibrate
from review.accuracy.calibrators import Identity

ENOUGH = 20
"""With fewer labels in all nothing is learned: no map could be told from another."""


def fit_calibrations(
    labels: list[LabelledField], digest: str, step: Callable[[int], None]
) -> tuple[dict[str, Calibration], dict[str, Any]]:
    """Return the calibrations that change something, by field path, and the figures of all fields; a step a field.

    `digest` is that of the engine version whose evidence the labels have.
    """
    found: dict[str, Calibration] = {}
    fields: dict[str, Any] = {}
    for n_done, path in enumerate(sorted({label.field_path for label in labels}), 2):
        calibration = calibrate(labels, path, digest)
        fields[path] = figures_of(calibration)
        if calibration.calibrator.method != Identity.method:
            found[path] = calibration
        step(n_done)
    return found, {"fields": fields, "n_labels": len(labels)}


def figures_of(calibration: Calibration) -> dict[str, Any]:
    """Return what is kept and shown of one field."""
    names = ("n_labels", "n_documents", "n_borrowed")
    return {name: getattr(calibration, name) for name in names} | {
        "method": calibration.calibrator.method,
        "log_losses": dict(calibration.log_losses),
        "before": dict(calibration.before),
        "after": dict(calibration.after),
    }
