"""One row for each route and method: who gets which status."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.access_matrix.world import World

CAST = ("anonymous", "stranger", "viewer", "reviewer", "manager", "admin")

Values = Callable[[World], Mapping[str, Any]]


def no_values(world: World) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Row:
    """`statuses` in the order of CAST. `kwargs` fill the path; `data` is the body of a request that would succeed.

    `world` makes whatever both name; it belongs to one test, so a row may use anything up.
    """

    name: str
    method: str
    statuses: tuple[int, int, int, int, int, int]
    kwargs: Values = no_values
    data: Values = no_values
    content_format: str | None = "json"
    query: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.name}"


@dataclass(frozen=True)
class Exemption:
    """Routes that the matrix leaves to others: all whose name begins with `prefix`, and why."""

    prefix: str
    reason: str
    methods: tuple[str, ...] = field(default=())
