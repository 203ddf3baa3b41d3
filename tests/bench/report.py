"""What a benchmark hands out: a table for people, one JSON line for programs, an exit status for scripts."""

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Budget:
    """A figure and the limit it must keep: at most `limit`, or at least where `is_floor`."""

    name: str
    value: float
    limit: float
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the limit is kept; a figure that is not a number keeps none."""
        return self.value >= self.limit if self.is_floor else self.value <= self.limit

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": round(self.value, 4),
            "at_least" if self.is_floor else "at_most": self.limit,
            "is_met": self.is_met,
        }

    def __str__(self) -> str:
        mark, word = ("met   ", "missed")[not self.is_met], ">=" if self.is_floor else "<="
        return f"{mark} {self.name}: {self.value:.4g} {word} {self.limit:g}"


def ratio(numerator: float, denominator: float) -> float:
    """Return the ratio; what cannot be divided keeps no budget."""
    return numerator / denominator if denominator else float("nan")


def median(values: Sequence[float]) -> float:
    """Return the median; of nothing it is not a number, so that an empty measurement keeps no budget."""
    return statistics.median(values) if values else float("nan")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return aligned columns; numbers with four significant digits, to the right."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    is_number = [bool(rows) and all(isinstance(row[n], int | float) for row in rows) for n in range(len(header))]
    lines = []
    for row in cells:
        aligned = zip(row, widths, is_number, strict=True)
        lines.append("  ".join(f"{cell:>{width}}" if right else f"{cell:<{width}}" for cell, width, right in aligned))
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write(line: str) -> None:
    """Print a line at once: what is left out or missed must not wait for the end."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def finish(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    budgets: Sequence[Budget],
    figures: Mapping[str, Any],
) -> int:
    """Print the table, the budgets and one JSON line; return the exit status: 1 when a budget is missed."""
    write(f"== {name}")
    write(table(header, rows))
    for budget in budgets:
        write(str(budget))
    write(json.dumps({"benchmark": name, **figures, "budgets": [budget.as_json() for budget in budgets]}))
    return 0 if all(budget.is_met for budget in budgets) else 1
