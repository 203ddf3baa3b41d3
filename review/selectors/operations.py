"""How much the house does alone, how fast, and what 1,000 pages cost: from roll-ups, and from few rows beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import fmean

from django.core.files.storage import default_storage
from django.db.models import Count, Min, Sum
from django.utils import timezone

from review.accuracy.costs import (
    DAYS_PER_MONTH,
    Costs,
    Measured,
    PriceError,
    Prices,
    costs_per_1000_pages,
    parse_prices,
)
from review.accuracy.rates import automation_rate, straight_through_rate
from review.exceptions import InvalidInputError
from review.models import CostModel, Document, Page, Project, ReviewTask, TaskState, ThroughputRollup
from review.selectors.accuracy import RATES_DAYS, today
from review.selectors.times import review_time

SAMPLED_DOCUMENTS = 500
SAMPLED_PAGES = 20
PRICE_NAMES = tuple(name for name in Prices.__dataclass_fields__ if name != "currency")
_COUNTS = ("n_documents", "n_pages", "n_auto", "n_sampled", "n_review", "n_selected", "cpu_seconds")


@dataclass(frozen=True, slots=True)
class DayFigures:
    """What was routed on one day."""

    day: date
    n_documents: int
    n_pages: int
    n_auto: int
    n_sampled: int
    n_review: int
    n_selected: int
    cpu_seconds: float

    @property
    def straight_through_rate(self) -> float | None:
        """The share of its documents that no person was asked to look at."""
        return straight_through_rate(n_documents=self.n_documents, n_selected=self.n_selected)


@dataclass(frozen=True, slots=True)
class Operations:
    """All figures of the page: `days` with anything in them, oldest first, and what they add up to.

    `person_seconds` is the active time that people spent on tasks in these days, on `n_timed` tasks.
    """

    n_days: int
    days: tuple[DayFigures, ...]
    n_open: int
    oldest_age_seconds: float | None
    person_seconds: float
    n_timed: int
    prices: Prices
    has_own_prices: bool
    measured: Measured
    costs: Costs

    @property
    def n_documents(self) -> int:
        """Documents routed in these days."""
        return sum(day.n_documents for day in self.days)

    @property
    def n_pages(self) -> int:
        """Pages routed in these days."""
        return sum(day.n_pages for day in self.days)

    @property
    def automation_rate(self) -> float | None:
        """The share that is stored without waiting for a person."""
        return automation_rate(
            n_auto=sum(day.n_auto for day in self.days),
            n_sampled=sum(day.n_sampled for day in self.days),
            n_review=sum(day.n_review for day in self.days),
        )

    @property
    def straight_through_rate(self) -> float | None:
        """The share that no person is asked to look at."""
        n_selected = sum(day.n_selected for day in self.days)
        return straight_through_rate(n_documents=self.n_documents, n_selected=n_selected)

    @property
    def person_seconds_per_task(self) -> float | None:
        """The mean active time on a task."""
        return self.person_seconds / self.n_timed if self.n_timed else None


def operations(project: Project, *, n_days: int = RATES_DAYS, now: datetime | None = None) -> Operations:
    """Return the figures of the last `n_days` days, today included, in six queries."""
    now = now or timezone.now()
    since = now - timedelta(days=n_days)
    days = _days(project, n_days)
    waiting = ReviewTask.objects.filter(project=project, state=TaskState.OPEN)
    queue = waiting.aggregate(n=Count("id"), oldest=Min("created_at"))
    time = review_time(project, since=since)
    stored = CostModel.objects.filter(project=project).first()
    prices = _prices(stored) if stored is not None else Prices()
    measured = _measured(project, days, time.seconds if time.n_tasks else None, n_days, now)
    return Operations(
        n_days=n_days,
        days=days,
        n_open=queue["n"],
        oldest_age_seconds=(now - queue["oldest"]).total_seconds() if queue["oldest"] is not None else None,
        person_seconds=time.seconds,
        n_timed=time.n_tasks,
        prices=prices,
        has_own_prices=stored is not None,
        measured=measured,
        costs=costs_per_1000_pages(prices, measured),
    )


def checked_prices(data: Mapping[str, object]) -> Prices:
    """Return prices from plain data; raise InvalidInputError with every problem at its name."""
    try:
        return parse_prices(data)
    except PriceError as error:
        problems = [{"pointer": f"/{name}", "message": message} for name, message in error.problems]
        raise InvalidInputError(code="invalid_prices", details={"problems": problems}) from None


def _days(project: Project, n_days: int) -> tuple[DayFigures, ...]:
    rows = ThroughputRollup.objects.filter(project=project, day__gt=today() - timedelta(days=n_days))
    sums = rows.values_list("day").annotate(*[Sum(name) for name in _COUNTS]).order_by("day")
    # PostgreSQL adds big integers up to a Decimal.
    return tuple(
        DayFigures(row[0], int(row[1]), int(row[2]), int(row[3]), int(row[4]), int(row[5]), int(row[6]), row[7])
        for row in sums
    )


def _prices(stored: CostModel) -> Prices:
    return Prices(currency=stored.currency, **{name: getattr(stored, name) for name in PRICE_NAMES})


def _measured(
    project: Project, days: tuple[DayFigures, ...], person_seconds: float | None, n_days: int, now: datetime
) -> Measured:
    n_pages = sum(day.n_pages for day in days)
    if not n_pages:
        return Measured(None, None, None, None, None)
    if person_seconds is None and not any(day.n_selected for day in days):
        # Nobody was asked to look at anything: that took no time, which is known.
        person_seconds = 0.0
    # A project younger than these days has had less time for its pages; the first day counts whole.
    lived = max(1.0, min(float(n_days), (now - project.created_at).total_seconds() / 86_400))
    return Measured(
        cpu_seconds=sum(day.cpu_seconds for day in days) / n_pages,
        # No reader that runs on a GPU reports its seconds yet.
        gpu_seconds=None,
        n_bytes=_bytes_per_page(project),
        person_seconds=person_seconds / n_pages if person_seconds is not None else None,
        n_pages_month=n_pages / lived * DAYS_PER_MONTH,
    )


def _bytes_per_page(project: Project) -> float | None:
    """Return the mean size of an original, by page, and of a page's image, from the newest of each."""
    documents = Document.objects.filter(project=project, duplicate_of=None, n_pages__gt=0).order_by("-id")
    newest = list(documents.values_list("n_bytes", "n_pages")[:SAMPLED_DOCUMENTS])
    if not newest:
        return None
    originals = sum(n_bytes for n_bytes, _ in newest) / sum(n_pages for _, n_pages in newest)
    names = Page.objects.filter(document__project=project).order_by("-id").values_list("image", flat=True)
    images = [default_storage.size(name) for name in names[:SAMPLED_PAGES] if default_storage.exists(name)]
    return originals + (fmean(images) if images else 0.0)
