"""When two people who looked at the same page agree, and how often one of them errs.

Answers are compared by keys that are equal for equal values (the caller makes them: amounts as numbers, dates as dates,
words without case and marks). Illegible is an answer as well: two people who cannot read a field agree.

**Error rate.** A document gets a second review with a known probability pi (a hash decides, not a person), so one
checked field stands for 1/pi of a reviewer's fields and the rate is the Hájek estimate of `review.accuracy.estimators`
with "wrong" in the place of "right"; where all have the same pi that is a plain proportion with the Clopper-Pearson
interval.

**What it cannot see.** Two people who make the same mistake agree: the rate is that of mistakes which the other one did
not make too, so it is a little too small. Seeded tasks, whose values are known, have no such blind spot.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from review.accuracy.estimators import Moments, hajek
from review.accuracy.intervals import AccuracyEstimate


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person says a field shows: `key` None for nothing. Without meaning where it is not legible."""

    key: str | None = None
    is_legible: bool = True


ILLEGIBLE = Answer(is_legible=False)


def agree(one: Answer, other: Answer) -> bool:
    """Whether two people say the same of a field."""
    return one.is_legible == other.is_legible and (not one.is_legible or one.key == other.key)


def disputed_fields(first: Mapping[str, Answer], second: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the paths that both answered and on which they differ, in the first one's order."""
    return tuple(path for path, answer in first.items() if path in second and not agree(answer, second[path]))


def is_right(answer: Answer, truth: Answer) -> bool | None:
    """Whether an answer is the true one; None where the truth is that nobody can read the field."""
    return agree(answer, truth) if truth.is_legible else None


def error_rate(wrong: Moments) -> AccuracyEstimate:
    """Estimate how often a reviewer errs, from the moments of the checked fields with y = 1 for a wrong one."""
    return hajek(wrong)
