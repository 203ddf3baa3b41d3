"""Reviewers as their page shows them: error rates as marks on one scale that begins at 0."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from review.models import Project
from review.selectors.reviewers import ReviewerQuality, ReviewersPage, reviewers_page

# The drawing of an interval, in its own units.
WIDTH = 120
STEP = 0.05
PLAIN_COLUMNS = (
    "reviewer",
    *(f"{name}{part}" for name in ("wrong", "wrong_on_known", "agreed") for part in ("", "_lower", "_upper", "_n")),
)


class Estimate(Protocol):
    """A share with its interval; nothing is known where `point` is None."""

    @property
    def point(self) -> float | None:
        """The share."""

    @property
    def lower(self) -> float:
        """Where its interval begins."""

    @property
    def upper(self) -> float:
        """Where its interval ends."""

    @property
    def n(self) -> int:
        """How many answers it comes from."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One error rate: shares, and where they lie on the drawing (`point`, `left`, `length` in 0 to WIDTH)."""

    share: float
    lower: float
    upper: float
    n: int
    point: float
    left: float
    length: float


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """One reviewer; what was never checked is None. `agreement` is the share of equal answers."""

    username: str
    error: Mark | None
    seeded_error: Mark | None
    agreement: float | None
    n_compared: int
    n_unsettled: int


@dataclass(frozen=True, slots=True)
class ReviewersView:
    """All rows, everybody together, what waits, and where the drawings' scale ends."""

    page: ReviewersPage
    rows: list[ReviewerRow]
    everybody: ReviewerRow
    scale_to: float
    width: int = WIDTH


def reviewers_view(project: Project) -> ReviewersView:
    """Return what the page about reviewers shows of a project."""
    page = reviewers_page(project)
    end = _scale_end([*page.reviewers, page.everybody])
    return ReviewersView(page, [_row(one, end) for one in page.reviewers], _row(page.everybody, end), end)


def plain_rows(page: ReviewersPage) -> Iterator[list[object]]:
    """Yield the table as it is downloaded (PLAIN_COLUMNS): shares in 0-1, None where nothing was checked."""
    for one in page.reviewers:
        cells: list[object] = [one.username]
        for found in (one.error, one.seeded_error, one.agreement):
            is_known = found.point is not None
            cells += [found.point, found.lower, found.upper, found.n] if is_known else [None, None, None, 0]
        yield cells


def _scale_end(reviewers: Iterable[ReviewerQuality]) -> float:
    """Return the smallest step at or above every interval, so that the drawings use their whole width."""
    known = [found for one in reviewers for found in (one.error, one.seeded_error) if found.point is not None]
    return max((math.ceil(found.upper / STEP - 1e-9) * STEP for found in known), default=STEP)


def _row(one: ReviewerQuality, end: float) -> ReviewerRow:
    return ReviewerRow(
        username=one.username,
        error=_mark(one.error, end),
        seeded_error=_mark(one.seeded_error, end),
        agreement=one.agreement.point,
        n_compared=one.n_compared,
        n_unsettled=one.n_compared - one.error.n,
    )


def _mark(found: Estimate, end: float) -> Mark | None:
    if found.point is None:
        return None

    def at(share: float) -> float:
        return round(share / end * WIDTH, 1)

    left, right = at(found.lower), at(found.upper)
    return Mark(found.point, found.lower, found.upper, found.n, at(found.point), left, round(right - left, 1))
