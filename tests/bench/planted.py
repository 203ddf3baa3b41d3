"""How well a confidence tells right answers from wrong ones: errors planted in the answers for a hundred receipts.

The words are real: the test part of the receipts, read by the OCR engine (`tests.bench.stored_readings`). The answers
are what is printed (clean), and the same with one kind of error in every field. No model wrote them, so there are no
log-probabilities of their tokens: what ranks wrong below right is grounding, the agreement of the readers, and rules.
Clean values that the OCR reader misread, or that are labelled wrongly, count as clean and stay ungrounded.
"""

import argparse
import datetime
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scipy.stats import rankdata

from inference import registry
from inference.document_types import shipped_document_type
from inference.fields.answer_score import FIELD_WEIGHTS, NOT_GROUNDED, answer_confidence
from inference.fields.cross_rules import cross_findings
from inference.fields.extract import extract
from inference.fields.ground import GROUNDED
from inference.fields.score import CAPPED_BY_FINDING
from inference.types import DocumentTypeSpec, FieldReading, PageAnswer
from tests.bench import stored_readings
from tests.bench.planting import KINDS, Truth
from tests.bench.report import Budget, finish, ratio

CLEAN = "clean"
SEED = 20261129
TODAY = datetime.date(2026, 11, 29)
LIMIT = 0.95
CAUGHT_LIMIT = 0.9
SURE = 0.9
# Below these a piece of evidence speaks against a value, and which pieces may name an error of a kind.
WEAK: Mapping[str, float] = {
    "grounding": GROUNDED,
    "digits": 1.0,
    "edges": 1.0,
    "boundary": 1.0,
    "readers_agree": 0.95,
    "share": 0.5,
}
NAMED_BY: Mapping[str, frozenset[str]] = {
    "wrong digit": frozenset({"grounding", "digits"}),
    "swapped value": frozenset({"readers_agree", "share"}),
    "invented value": frozenset({"grounding"}),
    "truncated value": frozenset({"grounding", "edges", "boundary", "readers_agree"}),
}


# What each reader and rule is worth: the same ranking without it.
PARTS: Mapping[str, frozenset[str]] = {
    "grounding": frozenset({"grounding", "digits", "edges", NOT_GROUNDED}),
    "second reader": frozenset({"readers_agree", "share", "boundary", "region", "keyword"}),
}


# Why a clean value is doubted, the first that holds.
DOUBTS: Mapping[str, Callable[[FieldReading], bool]] = {
    "not found on its page": lambda read: NOT_GROUNDED in read.findings,
    "digits misread": lambda read: read.evidence.get("digits", 1.0) < WEAK["digits"],
    "the locator chose otherwise": lambda read: read.evidence.get("readers_agree", 1.0) < WEAK["readers_agree"],
    "none of these": lambda _read: True,
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One value of one answer: what was done to it and what was made of it."""

    kind: str
    reading: FieldReading

    @property
    def confidence(self) -> float:
        """How sure the reading is; nothing read is not sure at all."""
        return self.reading.confidence or 0.0

    def without(self, pieces: frozenset[str]) -> "Judged":
        """Return the same value weighed without some pieces of evidence and findings."""
        evidence = {name: number for name, number in self.reading.evidence.items() if name not in pieces}
        findings = tuple(code for code in self.reading.findings if code not in pieces)
        confidence = answer_confidence(evidence, findings, FIELD_WEIGHTS)
        return replace(self, reading=replace(self.reading, evidence=evidence, findings=findings, confidence=confidence))

    def with_meaningless_tokens(self, rng: random.Random) -> "Judged":
        """Return the same value with token evidence that knows nothing of right and wrong."""
        least, lead, mean = sorted(rng.random() for _ in range(3))
        evidence = {**self.reading.evidence, "token_min": least, "token_margin": lead, "token_mean": mean}
        confidence = answer_confidence(evidence, self.reading.findings, FIELD_WEIGHTS)
        return replace(self, reading=replace(self.reading, evidence=evidence, confidence=confidence))

    @property
    def weak(self) -> frozenset[str]:
        """Names of the pieces of evidence that speak against the value."""
        return frozenset(name for name, bound in WEAK.items() if self.reading.evidence.get(name, 1.0) < bound)

    @property
    def is_caught(self) -> bool:
        """Whether the value is doubted, with a piece of evidence against it that belongs to the error."""
        return self.confidence <= CAPPED_BY_FINDING and bool(self.weak & NAMED_BY[self.kind])


def judge(truths: Sequence[Truth], spec: DocumentTypeSpec, seed: int = SEED) -> list[Judged]:
    """Extract each page with its true answer and with each kind of error in every field; fields judge independently."""
    rng = random.Random(seed)
    found = []
    for truth in truths:
        answers = {CLEAN: dict(truth.values)}
        for kind, plant in KINDS.items():
            planted = {
                field.path: plant(field, truth, truths, rng) for field in spec.fields if field.path in truth.values
            }
            answers[kind] = {path: value for path, value in planted.items() if value is not None}
        for kind, values in answers.items():
            answer = PageAnswer({path.removeprefix("/"): value for path, value in values.items()})
            readings = cross_findings(extract([replace(truth.reading, answer=answer)], spec), spec, TODAY)
            found += [Judged(kind, reading) for reading in readings if reading.field_path in values]
    return found


def auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Return the chance that a right value is surer than a wrong one, ties by halves; not a number without either."""
    if not right or not wrong:
        return float("nan")
    ranks = rankdata([*right, *wrong])
    n_right = len(right)
    return float((ranks[:n_right].sum() - n_right * (n_right + 1) / 2) / (n_right * len(wrong)))


def wrongly_ranked(judged: Sequence[Judged]) -> dict[str, tuple[int, float]]:
    """Return by doubt how many clean values have a surer wrong one, and their share of all pairs ranked so (0-1)."""
    wrong = sorted(one.confidence for one in judged if one.kind != CLEAN)
    n_pairs, n_values = Counter[str](), Counter[str]()
    for one in judged:
        n_surer = len(wrong) - bisect_right(wrong, one.confidence)
        if one.kind == CLEAN and n_surer:
            doubt = next(name for name, holds in DOUBTS.items() if holds(one.reading))
            n_pairs[doubt] += n_surer
            n_values[doubt] += 1
    return {doubt: (n_values[doubt], ratio(n_pairs[doubt], n_pairs.total())) for doubt in DOUBTS}


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="planted", description=__doc__.partition("\n")[0])
    parser.add_argument("--receipts", type=int, help="use so many of the stored receipts")
    parser.add_argument("--read", type=Path, help="read this folder (img/, key/) anew and store the readings first")
    options = parser.parse_args(arguments)
    if options.read is not None:
        stored_readings.store(list(stored_readings.read_folder(options.read, registry.build_engine("rapidocr"))))
    truths = stored_readings.load()[: options.receipts]
    return report(judge(truths, shipped_document_type("receipt")), len(truths))


def report(judged: Sequence[Judged], n_documents: int) -> int:
    """Print how each kind of error ranks below what is right and what named it; return the exit status."""
    by_kind = {kind: [one for one in judged if one.kind == kind] for kind in (CLEAN, *KINDS)}
    right = _confidences(by_kind[CLEAN])
    rows: list[tuple[object, ...]] = []
    budgets = [Budget("AUROC, right against wrong", _auroc_of(judged), LIMIT, is_floor=True)]
    for kind, its in by_kind.items():
        counts = Counter(name for one in its for name in WEAK if name in one.weak)
        named = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        rank, caught = "", ""
        if kind != CLEAN:
            share = ratio(sum(one.is_caught for one in its), len(its))
            rank, caught = f"{auroc(right, _confidences(its)):.3f}", f"{share:.3f}"
            budgets.append(Budget(f"{kind}: caught by evidence of its own", share, CAUGHT_LIMIT, is_floor=True))
        rows.append((kind, len(its), rank, caught, f"{_sure_share(its):.3f}", named))
    paths = dict.fromkeys(one.reading.field_path for one in judged)
    rng = random.Random(SEED)
    figures = {
        "n_documents": n_documents,
        "auroc_by_kind": {kind: auroc(right, _confidences(by_kind[kind])) for kind in KINDS},
        "auroc_by_field": {
            path: _auroc_of([one for one in judged if one.reading.field_path == path]) for path in paths
        },
        "auroc_without": {name: _auroc_of([one.without(pieces) for one in judged]) for name, pieces in PARTS.items()},
        "auroc_with_meaningless_tokens": _auroc_of([one.with_meaningless_tokens(rng) for one in judged]),
        "wrongly_ranked": {
            doubt: {"clean_values": n_values, "share_of_pairs": round(share, 3)}
            for doubt, (n_values, share) in wrongly_ranked(judged).items()
        },
        "n_clean_not_grounded": sum(NOT_GROUNDED in one.reading.findings for one in by_kind[CLEAN]),
    }
    header = ("answers", "values", "AUROC", "caught", f"surer than {SURE}", "what speaks against how many of them")
    return finish("planted", header, rows, budgets, figures)


def _confidences(judged: Sequence[Judged]) -> list[float]:
    return [one.confidence for one in judged]


def _auroc_of(judged: Sequence[Judged]) -> float:
    right = _confidences([one for one in judged if one.kind == CLEAN])
    return auroc(right, _confidences([one for one in judged if one.kind != CLEAN]))


def _sure_share(judged: Sequence[Judged]) -> float:
    return ratio(sum(one.confidence > SURE for one in judged), len(judged))
