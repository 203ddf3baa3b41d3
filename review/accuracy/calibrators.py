"""Maps from what a reader claims to the chance that it is right: frozen numbers, as plain JSON, never a pickle.

Each takes the reader's confidence and the named evidence behind it and returns a probability strictly between 0 and 1.
A missing confidence has no probability; the caller leaves such fields to people.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

LOWEST, HIGHEST = 1e-4, 1 - 1e-4
"""No number of labels that people give supports more certainty than this."""
LOG_ODDS = "log_odds"
"""The name under which a logistic map weighs the confidence itself."""
_WIDEST_LOG_ODDS = 12.0


class CalibratorError(ValueError):
    """Stored numbers that are no calibrator, or a confidence outside 0-1."""


class Calibrator(Protocol):
    """One frozen map."""

    method: ClassVar[str]

    def probability(self, confidence: float, evidence: Mapping[str, float]) -> float:
        """Return the chance that the value is right, LOWEST-HIGHEST; CalibratorError for a confidence outside 0-1."""
        ...

    def as_json(self) -> dict[str, Any]:
        """Return plain data with the key "method"; `calibrator_from_json` is the inverse."""
        ...


def log_odds(confidence: float) -> float:
    """Return ln(p/(1 - p)), at most 12 either way; raise CalibratorError outside 0-1."""
    if not 0 <= confidence <= 1:
        raise CalibratorError("a confidence lies in 0-1")
    if confidence in (0, 1):
        return math.copysign(_WIDEST_LOG_ODDS, confidence - 0.5)
    return min(max(math.log(confidence) - math.log1p(-confidence), -_WIDEST_LOG_ODDS), _WIDEST_LOG_ODDS)


def bounded(probability: float) -> float:
    """Return the probability, kept within LOWEST-HIGHEST."""
    return min(max(probability, LOWEST), HIGHEST)


@dataclass(frozen=True, slots=True)
class Identity:
    """Takes the reader at its word."""

    method: ClassVar[str] = "identity"

    def probability(self, confidence: float, evidence: Mapping[str, float]) -> float:  # noqa: ARG002  # see Calibrator
        """Return the confidence."""
        return bounded(1 / (1 + math.exp(-log_odds(confidence))))

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.method}


@dataclass(frozen=True, slots=True)
class Logistic:
    """The logistic function of a weighted sum of evidence (Platt 1999, with many inputs).

    `weights` and `defaults` have the same names, LOG_ODDS among them; evidence that is missing counts as its default.
    """

    method: ClassVar[str] = "logistic"
    bias: float
    weights: Mapping[str, float]
    defaults: Mapping[str, float]

    def __post_init__(self) -> None:
        numbers = [self.bias, *self.weights.values(), *self.defaults.values()]
        if set(self.weights) != set(self.defaults) or not all(map(math.isfinite, numbers)):
            raise CalibratorError("a logistic map needs a finite weight and default for each name")

    def probability(self, confidence: float, evidence: Mapping[str, float]) -> float:
        """Return the chance that the value is right."""
        known = {**self.defaults, **evidence, LOG_ODDS: log_odds(confidence)}
        total = self.bias + math.fsum(weight * known[name] for name, weight in self.weights.items())
        return bounded(1 / (1 + math.exp(-min(max(total, -50.0), 50.0))))

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.method, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A rising line through `probabilities` at `confidences`, flat beyond its ends (Zadrozny & Elkan 2002)."""

    method: ClassVar[str] = "isotonic"
    confidences: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.confidences or len(self.confidences) != len(self.probabilities):
            raise CalibratorError("an isotonic map needs as many probabilities as confidences, at least one")
        _check_rising(self.confidences, self.probabilities)

    def probability(self, confidence: float, evidence: Mapping[str, float]) -> float:  # noqa: ARG002  # see Calibrator
        """Return the chance that the value is right."""
        log_odds(confidence)
        return bounded(float(np.interp(confidence, self.confidences, self.probabilities)))

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.method, **{name: list(values) for name, values in asdict(self).items()}}


@dataclass(frozen=True, slots=True)
class VennAbers:
    """An interval of probabilities for each bin of confidence (Vovk & Petej 2014, arXiv:1211.0025).

    Bin k holds the confidences from `edges`[k-1] up to, but not including, `edges`[k]. `lower` is what isotonic
    regression says of it when the new value is added as wrong, `upper` when it is added as right: a calibrated
    prediction lies between. The one number for both is upper/(1 - lower + upper), which costs least log-loss at worst.
    """

    method: ClassVar[str] = "venn_abers"
    edges: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        if not len(self.lower) == len(self.upper) == len(self.edges) + 1:
            raise CalibratorError("a Venn-Abers map needs one more interval than edges")
        _check_rising(self.edges, self.lower, self.upper)
        if any(low > high for low, high in zip(self.lower, self.upper, strict=True)):
            raise CalibratorError("an interval ends before it begins")

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the two probabilities between which a calibrated one lies."""
        log_odds(confidence)
        place = int(np.searchsorted(self.edges, confidence, side="right"))
        return self.lower[place], self.upper[place]

    def probability(self, confidence: float, evidence: Mapping[str, float]) -> float:  # noqa: ARG002  # see Calibrator
        """Return the chance that the value is right."""
        low, high = self.interval(confidence)
        return bounded(high / (1 - low + high)) if high > 0 else LOWEST

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.method, **{name: list(values) for name, values in asdict(self).items()}}


def calibrator_from_json(data: Mapping[str, Any]) -> Calibrator:
    """Return the calibrator of stored data; raise CalibratorError where it is none."""
    try:
        method = data["method"]
        if method == Identity.method:
            return Identity()
        if method == Logistic.method:
            return Logistic(float(data["bias"]), _numbers_by_name(data["weights"]), _numbers_by_name(data["defaults"]))
        if method == Isotonic.method:
            return Isotonic(_numbers(data["confidences"]), _numbers(data["probabilities"]))
        if method == VennAbers.method:
            return VennAbers(_numbers(data["edges"]), _numbers(data["lower"]), _numbers(data["upper"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CalibratorError("these numbers are no calibrator") from error
    raise CalibratorError(f"there is no method of calibration called {method!r}")


def _numbers(values: Any) -> tuple[float, ...]:  # noqa: ANN401  # whatever was stored; float() refuses what is none
    return tuple(float(value) for value in values)


def _numbers_by_name(values: Any) -> dict[str, float]:  # noqa: ANN401  # as above
    return {str(name): float(value) for name, value in values.items()}


def _check_rising(*columns: tuple[float, ...]) -> None:
    for column in columns:
        if not all(0 <= value <= 1 for value in column) or any(low > high for low, high in pairwise(column)):
            raise CalibratorError("the numbers must lie in 0-1 and never fall")
