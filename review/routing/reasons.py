"""Why a document or a field was routed as it was: codes that are stored, counted and translated."""

from collections.abc import Iterable
from enum import StrEnum


class Reason(StrEnum):
    """One reason. Declared in the order in which a person should read them, gravest first."""

    ENGINE_FAILED = "engine_failed"
    ANSWER_CUT_SHORT = "answer_cut_short"
    ANSWER_REPEATS = "answer_repeats"
    ANSWER_EMPTY = "answer_empty"
    ANSWER_UNREADABLE = "answer_unreadable"
    ANSWER_INVALID = "answer_invalid"
    ANSWER_LOST = "answer_lost"
    ANSWER_LATE = "answer_late"
    ROUTING_FAILED = "routing_failed"
    SCHEMA_INVALID = "schema_invalid"
    TYPE_DOUBTFUL = "type_doubtful"
    ROWS_LEFT_OUT = "rows_left_out"
    LOW_QUALITY = "low_quality"
    MISSING_VALUE = "missing_value"
    RULE_FAILED = "rule_failed"
    AMBIGUOUS_VALUE = "ambiguous_value"
    MISSING_CONFIDENCE = "missing_confidence"
    LOW_CONFIDENCE = "low_confidence"
    STOPPED_BY_MONITOR = "stopped_by_monitor"
    NOT_CERTIFIED = "not_certified"
    ENGINE_NOT_PROVEN = "engine_not_proven"
    NOTHING_READ = "nothing_read"
    FULL_EXAMINATION = "full_examination"
    AUDIT_SAMPLED = "audit_sampled"
    AUDIT_AUTO = "audit_auto"
    DUPLICATE = "duplicate"

    @property
    def is_fault(self) -> bool:
        """Whether the reason, given for a whole document, leaves every one of its fields doubtful."""
        return self in _FAULTS


HOLDS = frozenset({Reason.STOPPED_BY_MONITOR, Reason.NOT_CERTIFIED})
"""Reasons for which nothing of a field is stored unseen, however sure: while one holds, people see every value."""

_FAILURES = frozenset(reason for reason in Reason if reason.startswith(("engine_failed", "answer_", "routing_")))
_FAULTS = _FAILURES | {
    Reason.SCHEMA_INVALID,
    Reason.TYPE_DOUBTFUL,
    Reason.ROWS_LEFT_OUT,
    Reason.LOW_QUALITY,
    Reason.NOTHING_READ,
}
_ORDER = {reason: position for position, reason in enumerate(Reason)}

# A finding is a free code of the reader ("date_ambiguous"); any of these words in it tells its kind.
_WORDS = {
    Reason.AMBIGUOUS_VALUE: frozenset({"ambiguous"}),
    Reason.SCHEMA_INVALID: frozenset({"schema"}),
    Reason.LOW_QUALITY: frozenset({"quality", "blurred", "occluded", "cropped"}),
}


def reason_for_finding(finding: str) -> Reason:
    """Return the kind of a finding's code; every finding is a failure, so an unknown one is RULE_FAILED.

    "rule:…" is a rule between fields, whatever words its author named it with.
    """
    if finding.startswith("rule:"):
        return Reason.RULE_FAILED
    if finding == Reason.ROWS_LEFT_OUT:
        return Reason.ROWS_LEFT_OUT
    words = set(finding.split("_"))
    return next((reason for reason, known in _WORDS.items() if words & known), Reason.RULE_FAILED)


def reason_for_failure(code: str) -> Reason:
    """Return the reason that the code of a page or a run gives; ENGINE_FAILED for any that has none of its own."""
    return Reason(code) if code in _FAILURES else Reason.ENGINE_FAILED


def in_order(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return the distinct `reasons`, gravest first."""
    return tuple(sorted(set(reasons), key=_ORDER.__getitem__))
