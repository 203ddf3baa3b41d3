"""What reading costs for 1,000 pages: prices times measured figures, each part on its own (K2).

    CPU         CPU seconds a page / 3,600 x price of a core hour
    GPU         GPU seconds a page / 3,600 x price of a GPU hour
    storage     bytes kept a page / 10^9 x months kept x price of a GB for a month
    people      seconds of work a page / 3,600 x price of an hour of a reviewer
    operations  price of operations for a month / pages a month

Nothing measured is None, and so is what it would have made: a cost that leaves a part out is no cost.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

SECONDS_PER_HOUR = 3600
BYTES_PER_GB = 1e9
DAYS_PER_MONTH = 365.25 / 12
PAGES = 1000
_HIGHEST_PRICE = 1e9


@dataclass(frozen=True, slots=True)
class Prices:
    """What things cost, in one currency. The defaults are placeholders: a project sets its own."""

    currency: str = "EUR"
    cpu_hour: float = 0.04
    gpu_hour: float = 0.0
    storage_gb_month: float = 0.02
    storage_months: float = 84.0
    person_hour: float = 25.0
    operations_month: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured, a page: CPU and GPU seconds, bytes kept, seconds of people's work; and pages a month."""

    cpu_seconds: float | None
    gpu_seconds: float | None
    n_bytes: float | None
    person_seconds: float | None
    n_pages_month: float | None


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of 1,000 pages by part, in the prices' currency; a part that cannot be told is None."""

    cpu: float | None
    gpu: float | None
    storage: float | None
    people: float | None
    operations: float | None

    @property
    def total(self) -> float | None:
        """The whole cost; None while any part is unknown."""
        parts = (self.cpu, self.gpu, self.storage, self.people, self.operations)
        return None if any(part is None for part in parts) else math.fsum(part for part in parts if part is not None)

    def as_mapping(self) -> Mapping[str, float | None]:
        """Return the parts by name, in the order in which they are shown."""
        return asdict(self)


class PriceError(ValueError):
    """Prices that cannot be used. `problems` lists (name, message) pairs, each exact."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{name}: {message}" for name, message in problems))
        self.problems = problems


def parse_prices(data: Mapping[str, Any]) -> Prices:
    """Return prices from plain data, names left out with their defaults; raise PriceError with every problem."""
    problems = [(name, "is not a known price") for name in data if name not in NAMES]
    problems += [(name, found) for name in NAMES if name in data and (found := _problem(name, data[name])) is not None]
    if problems:
        raise PriceError(problems)
    return Prices(**data)


def costs_per_1000_pages(prices: Prices, measured: Measured) -> Costs:
    """Return the cost of 1,000 pages by part. A price of 0 makes a part 0, whether it was measured or not."""
    return Costs(
        cpu=_part(prices.cpu_hour / SECONDS_PER_HOUR, measured.cpu_seconds),
        gpu=_part(prices.gpu_hour / SECONDS_PER_HOUR, measured.gpu_seconds),
        storage=_part(prices.storage_gb_month * prices.storage_months / BYTES_PER_GB, measured.n_bytes),
        people=_part(prices.person_hour / SECONDS_PER_HOUR, measured.person_seconds),
        operations=_part(prices.operations_month, 1 / measured.n_pages_month if measured.n_pages_month else None),
    )


NAMES = tuple(field.name for field in fields(Prices))


def _part(price: float, quantity: float | None) -> float | None:
    if price == 0:
        return 0.0
    return None if quantity is None else PAGES * price * quantity


def _problem(name: str, value: object) -> str | None:
    if name == "currency":
        is_code = isinstance(value, str) and len(value) == 3 and value.isascii() and value.isalpha() and value.isupper()
        return None if is_code else "must be three capital letters, such as EUR"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _HIGHEST_PRICE:  # type: ignore[operator]  # a number, as was just seen
        return "must be a number from 0 to 1,000,000,000"
    return None
