"""How a comparison of two engine versions is printed: a table for people, one object for programs."""

from collections.abc import Iterator, Mapping
from typing import Any

from review.models import EvaluationComparison


def comparison_as_json(stored: EvaluationComparison) -> dict[str, Any]:
    """Return what `manage.py evaluate --compare --json` prints: set, both versions, and `Comparison.as_json()`."""
    kept = stored.regression_set
    return {
        "comparison": stored.pk,
        "set": {"name": kept.name, "number": kept.number, "digest": kept.digest, "n_items": kept.n_items},
        "a": _version(stored, "run_a"),
        "b": _version(stored, "run_b"),
        "is_whole": stored.is_whole,
        **stored.results,
    }


def _version(stored: EvaluationComparison, which: str) -> dict[str, Any]:
    version = getattr(stored, which).engine_version
    return {"id": version.pk, "name": version.name, "digest": version.digest}


def comparison_table(stored: EvaluationComparison) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield f"A: {stored.run_a.engine_version}    B: {stored.run_b.engine_version}    set: {stored.regression_set}"
    yield f"{'field':<24}{'n':>6}{'A':>8}{'B':>8}{'B - A in points':>26}{'lost':>6}{'won':>6}{'p':>8}{'cost':>7}"
    for path, field in stored.results["fields"].items():
        yield (
            f"{path.removeprefix('/'):<24}{field['n']:>6}{_percent(field['accuracy_a']):>8}"
            f"{_percent(field['accuracy_b']):>8}{_points(field['difference']):>26}"
            f"{field['n_lost']:>6}{field['n_won']:>6}{field['p']:>8.4f}{field['cost']:>7g}"
            f"{'  falls too far' if field['is_fallen'] else ''}"
        )
    cost = stored.results["cost"]
    if cost["point"] is not None:
        limits = "" if cost["lower"] is None else f" ({cost['lower']:+.4f} to {cost['upper']:+.4f})"
        yield f"errors of B cost {cost['point']:+.4f}{limits} a document more than those of A"
    yield f"{stored.results['n_documents']} documents; intervals at {_percent(cost['level'])}, p exact (McNemar)"
    yield "B must not take A's place." if stored.is_blocked else "No field falls too far."


def _percent(value: float) -> str:
    return f"{value * 100:.1f}%"


def _points(difference: Mapping[str, Any]) -> str:
    if difference["point"] is None:
        return "-"
    return f"{difference['point'] * 100:+.1f} ({difference['lower'] * 100:+.1f} to {difference['upper'] * 100:+.1f})"
