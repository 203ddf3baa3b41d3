"""The rules between fields (B4) applied to what was read: who takes part in a broken rule is told so."""

import datetime
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from math import prod

from dateutil.relativedelta import relativedelta

from inference.fields.score import CAPPED_BY_FINDING
from inference.types import CrossRule, DocumentTypeSpec, FieldReading, RuleKind

EVIDENCE = "rules"

Values = Mapping[str, str]
Interval = tuple[datetime.date, datetime.date]


def cross_findings(
    readings: Sequence[FieldReading], spec: DocumentTypeSpec, today: datetime.date
) -> tuple[FieldReading, ...]:
    """Return the readings with a finding "rule:NAME" at every field that takes part in a broken rule.

    A rule that lacks a value, in any row, says nothing. Who took part in a rule that could be checked has the evidence
    "rules": 1 where all hold, else 0; as with every finding, a broken rule caps the confidence.
    """
    values = {reading.field_path: reading.value for reading in readings if reading.value is not None}
    rows = _rows_by_group(readings, spec)
    checked: set[str] = set()
    broken: dict[str, list[str]] = defaultdict(list)
    for rule in spec.rules:
        for operands, result in _instances(rule, rows):
            paths = operands if result is None else (*operands, result)
            holds = _holds(rule, operands, result, values, today) if operands else None
            if holds is None:
                continue
            checked.update(paths)
            if not holds:
                for path in dict.fromkeys(paths):
                    broken[path].append(rule.code)
    return tuple(
        _told(reading, broken.get(reading.field_path, [])) if reading.field_path in checked else reading
        for reading in readings
    )


def _told(reading: FieldReading, codes: Sequence[str]) -> FieldReading:
    evidence = {**reading.evidence, EVIDENCE: 0.0 if codes else 1.0}
    confidence = reading.confidence
    if codes and confidence is not None:
        confidence = min(confidence, CAPPED_BY_FINDING)
    findings = tuple(dict.fromkeys((*reading.findings, *codes)))
    return replace(reading, confidence=confidence, evidence=evidence, findings=findings)


def _rows_by_group(readings: Sequence[FieldReading], spec: DocumentTypeSpec) -> dict[str, list[str]]:
    """Return the row numbers of each group, as they stand in the paths, in the order in which they were read."""
    rows: dict[str, dict[str, None]] = {group.path: {} for group in spec.groups}
    for reading in readings:
        for path, seen in rows.items():
            if reading.field_path.startswith(f"{path}/"):
                seen[reading.field_path[len(path) + 1 :].partition("/")[0]] = None
    return {path: list(seen) for path, seen in rows.items()}


def _instances(rule: CrossRule, rows: Mapping[str, Sequence[str]]) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Yield the rule's field paths with row numbers: once a document, or once for each row of the rule's group."""
    if rule.group is None:
        yield tuple(path for operand in rule.operands for path in _in_all_rows(operand, rows)), rule.result
        return
    for row in rows.get(rule.group, ()):
        at = f"{rule.group}/{row}/"
        operands = tuple(operand.replace(f"{rule.group}/*/", at, 1) for operand in rule.operands)
        yield operands, rule.result.replace(f"{rule.group}/*/", at, 1) if rule.result is not None else None


def _in_all_rows(operand: str, rows: Mapping[str, Sequence[str]]) -> list[str]:
    group, is_column, column = operand.partition("/*/")
    return [f"{group}/{row}/{column}" for row in rows.get(group, ())] if is_column else [operand]


def _holds(
    rule: CrossRule, operands: Sequence[str], result: str | None, values: Values, today: datetime.date
) -> bool | None:
    """Return whether the rule holds among these fields, or None where a value is lacking or is none of its type."""
    try:
        if rule.kind.is_of_dates:
            return _holds_in_time(rule, [_days_of(values[path]) for path in operands], today)
        numbers = [_number(values[path]) for path in operands]
        wanted = _number(values[result or ""])
    except (KeyError, ValueError):
        return None
    total = prod(numbers) if rule.kind is RuleKind.PRODUCT else sum(numbers, Decimal(0))
    return abs(total - wanted) <= rule.tolerance


def _holds_in_time(rule: CrossRule, dates: Sequence[Interval], today: datetime.date) -> bool:
    """Judge dates by their first and last possible day: a month breaks a rule only if each of its days does."""
    if rule.kind is RuleKind.IN_ORDER:
        return all(first_day <= last_day for (first_day, _), (_, last_day) in pairwise(dates))
    return all(first_day <= today + datetime.timedelta(days=rule.days) for first_day, _ in dates)


def _number(value: str) -> Decimal:
    """Return a canonical number; raise ValueError for anything else."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise ValueError(value) from None
    if not number.is_finite():
        raise ValueError(value)
    return number


def _days_of(value: str) -> Interval:
    """Return the first and the last day of "YYYY-MM-DD" or "YYYY-MM"; raise ValueError for anything else."""
    if len(value) != len("YYYY-MM"):
        day = datetime.date.fromisoformat(value)
        return day, day
    first = datetime.date.fromisoformat(f"{value}-01")
    return first, first + relativedelta(months=1, days=-1)
