"""The scorer that learned from reviewers: boosted trees as an ONNX graph, beside the prior that needs no labels.

The prior proposes, the trees choose: they see the best `PROPOSED` of the prior, which are those that were kept with
every run and that they learned from. A field that they know nothing of is the prior's alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from inference.errors import ModelDamagedError
from inference.fields.prior import PriorScorer
from inference.types import FieldSpec

Floats = npt.NDArray[np.float32]

FORMAT = 1
METADATA = "stet"
PRIOR = "prior"
"""The feature that is the prior's own score."""
PROPOSED = 20


class LearnedScorer:
    """Scores by a stored graph; a `Scorer` (`inference.fields.prior`).

    The graph takes `feature_rows` and has an output for each field that anything was learned of, whose last column is
    log-odds. Its metadata names the features, and for each field its output and the share in 0-1 that the prior keeps.
    """

    def __init__(self, payload: bytes) -> None:
        """Load the graph; raise ModelDamagedError where it is none of ours."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(payload, options, providers=["CPUExecutionProvider"])
            self._features, self._fields = _parsed(self._session.get_modelmeta().custom_metadata_map[METADATA])
            self._input = self._session.get_inputs()[0].name
            outputs = {output.name for output in self._session.get_outputs()}
        except Exception as error:
            # onnxruntime raises what it likes of bytes that are no graph.
            raise ModelDamagedError("these bytes are no learned locator") from error
        if any(output not in outputs for output, _ in self._fields.values()):
            raise ModelDamagedError("a learned locator lacks the output of a field")
        self._prior = PriorScorer()

    @property
    def field_paths(self) -> tuple[str, ...]:
        """The fields of which anything was learned."""
        return tuple(self._fields)

    def score(self, spec: FieldSpec, candidates: Sequence[Mapping[str, float]]) -> list[float]:
        """Return the log-odds of each candidate; what the prior does not propose stands below all that it does."""
        prior = self._prior.score(spec, candidates)
        if spec.path not in self._fields or not candidates:
            return prior
        output, prior_share = self._fields[spec.path]
        proposed = sorted(range(len(candidates)), key=lambda row: -prior[row])[:PROPOSED]
        rows = feature_rows([candidates[row] for row in proposed], [prior[row] for row in proposed], self._features)
        (found,) = self._session.run([output], {self._input: rows})
        learned = np.asarray(found, dtype=np.float64).reshape(len(proposed), -1)[:, -1]
        by_row = {
            row: prior_share * prior[row] + (1.0 - prior_share) * float(log_odds)
            for row, log_odds in zip(proposed, learned, strict=True)
        }
        lowest = min(by_row.values())
        return [by_row.get(row, min(score, lowest)) for row, score in enumerate(prior)]


def feature_rows(candidates: Sequence[Mapping[str, float]], prior: Sequence[float], features: Sequence[str]) -> Floats:
    """Return what the graph sees of the candidates of one field, best first: `2 n + 1` columns for `n` features.

    Each feature as it is (what a candidate lacks counts as 0), then how far it is below the most that any of these
    candidates has, then the rank in 0-1: whether an amount is large is a question about the others on the page.
    """
    if not candidates:
        return np.empty((0, 2 * len(features) + 1), dtype=np.float32)
    own = np.array(
        [
            [score if name == PRIOR else one.get(name, 0.0) for name in features]
            for one, score in zip(candidates, prior, strict=True)
        ],
        dtype=np.float32,
    )
    rank = np.arange(len(candidates), dtype=np.float32)[:, np.newaxis] / PROPOSED
    return np.hstack([own, own - own.max(axis=0, keepdims=True), rank]).astype(np.float32)


def _parsed(metadata: str) -> tuple[list[str], dict[str, tuple[str, float]]]:
    stored: dict[str, Any] = json.loads(metadata)
    if stored["format"] != FORMAT:
        raise ValueError(f"learned locators of format {stored['format']!r} are not known here")
    fields = {path: (str(one["output"]), float(one["prior_share"])) for path, one in stored["fields"].items()}
    return [str(name) for name in stored["features"]], fields
