"""What taking the next task and saving a field cost with few and with many tasks waiting."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from review.actions.leasing import lease_next_task, lease_task
from review.actions.saving import save_field
from review.actions.tenancy import create_token
from review.models import (
    ApiToken,
    AuditEntry,
    Document,
    DocumentType,
    Event,
    ExtractionRun,
    FieldDecision,
    FieldEdit,
    FieldPrediction,
    Page,
    Project,
    ReviewTask,
    Role,
    RoutingDecision,
    User,
)
from review.routing.policy import PolicyRules, Thresholds
from review.selectors.access import Actor
from review.selectors.review_tasks import tasks_for
from tests.bench import worlds
from tests.bench.databases import Database, databases, postgres_url
from tests.bench.measuring import Cost, measure
from tests.bench.report import Budget, finish, median, ratio, write

LIMIT = 1.5
N_ORIGINALS = 40
N_HELD = 200
WARM_UP = 5
FREE = {"lease_holder": None, "lease_token": "", "lease_expires_at": None}
# What the queue and a task's page are made of; what was read on the pages is four fifths of a database, and not asked.
ROWS = (
    Document, Page, ExtractionRun, FieldPrediction, RoutingDecision, FieldDecision, ReviewTask, AuditEntry, Event,
)  # fmt: skip
# Nothing is sure enough: every document waits for a person.
EVERYTHING_TO_PEOPLE = PolicyRules(default=Thresholds(auto=None, review=1.0))


@dataclass(frozen=True, slots=True)
class Desk:
    """Who reviews what. The databases of one vendor are copies of each other, so that it is the same in all."""

    project: Project
    rare_type: DocumentType
    reviewer: Actor
    colleague: User
    secret: str
    client: Client = field(default_factory=Client)

    def request(self, name: str, data: dict[str, object], task: ReviewTask | None = None) -> Callable[[], None]:
        """Return a call of the API that must succeed."""
        arguments: dict[str, object] = {"project": self.project.slug}
        if task is not None:
            arguments["id"] = task.pk
        path = reverse(f"api:{name}", kwargs=arguments)
        send = self.client.post if task is None else self.client.patch
        headers = {"Authorization": f"Bearer {self.secret}", "Host": "localhost"}
        # Once a minute a token's use is noted, in a query more: which of the calls that meets is chance.
        ApiToken.objects.filter(user=self.reviewer.user).update(last_used_at=timezone.now())

        def call() -> None:
            answer = send(path, data, content_type="application/json", headers=headers)
            assert answer.status_code == HTTPStatus.OK, answer.status_code
            assert answer.json().get("task", True), "nothing was given"

        return call


Case = Callable[[Desk], AbstractContextManager[Callable[[], object]]]


def _give_back(desk: Desk) -> None:
    ReviewTask.objects.filter(lease_holder=desk.reviewer.user).update(**FREE)


@contextmanager
def taking(desk: Desk) -> Iterator[Callable[[], object]]:
    """The best of all tasks."""

    def call() -> None:
        assert lease_next_task(actor=desk.reviewer, project=desk.project) is not None

    yield call
    _give_back(desk)


@contextmanager
def taking_of_a_type(desk: Desk) -> Iterator[Callable[[], object]]:
    """The best task of a type that few tasks are of."""

    def call() -> None:
        lease = lease_next_task(actor=desk.reviewer, project=desk.project, document_type=desk.rare_type)
        assert lease is not None

    yield call
    _give_back(desk)


@contextmanager
def taking_by_api(desk: Desk) -> Iterator[Callable[[], object]]:
    """The same over the API, which also answers with all that the task shows."""
    yield desk.request("lease_next", {})
    _give_back(desk)


@contextmanager
def taking_of_a_type_by_api(desk: Desk) -> Iterator[Callable[[], object]]:
    """The same over the API."""
    yield desk.request("lease_next", {"document_type": desk.rare_type.slug})
    _give_back(desk)


@contextmanager
def _held(desk: Desk) -> Iterator[tuple[ReviewTask, str]]:
    last = tasks_for(desk.project).reverse()[0]
    yield last, lease_task(actor=desk.reviewer, task=last).token
    FieldEdit.objects.filter(task=last).delete()
    _give_back(desk)


def _typed(token: str) -> dict[str, object]:
    return {
        "lease_token": token,
        "field_path": "/total",
        "verdict": "corrected",
        "value": "12.50",
        "base_version": 0,
    }


@contextmanager
def saving(desk: Desk) -> Iterator[Callable[[], object]]:
    """A corrected total."""
    with _held(desk) as (task, token):
        yield lambda: save_field(
            actor=desk.reviewer,
            task=task,
            lease_token=token,
            field_path="/total",
            verdict="corrected",
            value="12.50",
            base_version=0,
        )


@contextmanager
def saving_by_api(desk: Desk) -> Iterator[Callable[[], object]]:
    """A corrected total over the API."""
    with _held(desk) as (task, token):
        yield desk.request("save_field", _typed(token), task)


CASES: Mapping[str, Case] = {
    "lease next": taking,
    "lease next of a type": taking_of_a_type,
    "lease next, API": taking_by_api,
    "lease next of a type, API": taking_of_a_type_by_api,
    "save field": saving,
    "save field, API": saving_by_api,
}


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="queue", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 20_000, 100_000], help="tasks that wait")
    parser.add_argument("--calls", type=int, default=60, help="calls of each kind at each size")
    parser.add_argument("--databases", nargs="+", choices=("sqlite", "postgres"), default=["sqlite", "postgres"])
    options = parser.parse_args(arguments)
    sizes = sorted(options.sizes)
    worlds.use_scripted_engine()
    rows: list[Row] = []
    budgets, left_out = [], []
    for vendor in options.databases:
        if vendor == "postgres" and postgres_url() is None:
            left_out.append(vendor)
            write("left out: PostgreSQL, no server answers (TEST_POSTGRES_URL)")
            continue
        found = measure_queue(vendor, sizes, options.calls)
        here = [Row(vendor, case, held, costs) for (held, case), costs in found.items()]
        budgets += budgets_of(vendor, here)
        rows += here
    milliseconds = [f"{kind} ms at {size:,}" for kind in ("CPU", "wall") for size in sizes]
    header = ("database", "call", "held", "queries", *milliseconds, "CPU ratio")
    figures = {"rows": [row.as_json() for row in rows], "left_out": left_out}
    return finish("queue", header, [row.cells() for row in rows], budgets, figures)


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of call on one database, with `n_held` tasks held at the head: its costs by number of waiting tasks."""

    vendor: str
    case: str
    n_held: int
    costs: Mapping[int, Sequence[Cost]]

    @property
    def counts(self) -> list[int]:
        """The numbers of queries that occurred, at whatever size."""
        return sorted({cost.n_queries for costs in self.costs.values() for cost in costs})

    @property
    def cpu_ms(self) -> dict[int, float]:
        return {size: median([cost.cpu_ms for cost in costs]) for size, costs in self.costs.items()}

    @property
    def wall_ms(self) -> dict[int, float]:
        return {size: median([cost.wall_ms for cost in costs]) for size, costs in self.costs.items()}

    @property
    def growth(self) -> float:
        """CPU time with the most tasks waiting over that with the fewest."""
        return ratio(self.cpu_ms[max(self.costs)], self.cpu_ms[min(self.costs)])

    def cells(self) -> tuple[object, ...]:
        queries = "-".join(map(str, self.counts))
        return self.vendor, self.case, self.n_held, queries, *self.cpu_ms.values(), *self.wall_ms.values(), self.growth

    def as_json(self) -> dict[str, object]:
        return {
            "database": self.vendor,
            "call": self.case,
            "n_held": self.n_held,
            "n_queries": self.counts,
            "cpu_ms": self.cpu_ms,
            "wall_ms": self.wall_ms,
            "ratio": self.growth,
        }


def budgets_of(vendor: str, rows: Sequence[Row]) -> list[Budget]:
    """Return what every kind of call must keep, however many tasks wait: as many queries, hardly more time."""
    worst = max(rows, key=lambda row: row.growth)
    return [
        Budget(f"{vendor}: calls whose number of queries varies", sum(len(row.counts) > 1 for row in rows), 0),
        Budget(f"{vendor}: CPU ratio, most / fewest waiting (worst: {worst.case})", worst.growth, LIMIT),
    ]


def measure_queue(vendor: str, sizes: Sequence[int], n_calls: int) -> dict[tuple[int, str], dict[int, list[Cost]]]:
    """Return the costs of `n_calls` calls by (how many tasks at the head are held, case) and number of waiting."""
    with databases(vendor) as standing:
        desk, by_size = _fill(standing, sizes)
        found: dict[tuple[int, str], dict[int, list[Cost]]] = {}
        for n_held in (0, min(N_HELD, sizes[0] // 2)):
            for database in by_size.values():
                database.use()
                _hold(desk, n_held)
            for name, case in CASES.items():
                found[n_held, name] = _take_turns(case, desk, by_size, n_calls)
    return found


def _take_turns(case: Case, desk: Desk, by_size: Mapping[int, Database], n_calls: int) -> dict[int, list[Cost]]:
    costs: dict[int, list[Cost]] = {size: [] for size in by_size}
    for turn in range(-WARM_UP, n_calls):
        for size, database in by_size.items() if turn % 2 else reversed(list(by_size.items())):
            database.use()
            with case(desk) as call:
                cost = measure(call)
            if turn >= 0:
                costs[size].append(cost)
    return costs


def _fill(standing: list[Database], sizes: Sequence[int]) -> tuple[Desk, dict[int, Database]]:
    """Make the queue grow from size to size; return the desk and a copy of the database at each size."""
    project = worlds.make_project()
    plain = worlds.make_type(project, "receipt", EVERYTHING_TO_PEOPLE)
    rare = worlds.make_type(project, "rare", EVERYTHING_TO_PEOPLE)
    n_originals = min(N_ORIGINALS, sizes[0])
    # Of twenty documents one is of the rare type; one in ten is more important than the rest.
    for number in range(n_originals):
        kind = rare if number % 20 == 19 else plain
        worlds.receive(kind, [worlds.receipt_image(number)], priority=10 if number % 10 == 5 else 0)
    worlds.work_off_queue()
    reviewer, colleague = (worlds.make_member(project, name, Role.REVIEWER) for name in ("reviewer", "colleague"))
    secret = create_token(actor=Actor(reviewer), project=project, user=reviewer, role=Role.REVIEWER).secret
    originals = worlds.Originals.of(ROWS)
    by_size: dict[int, Database] = {}
    filling = standing[0]
    for size in sizes:
        filling.use()
        worlds.grow(originals, n_originals, size)
        assert ReviewTask.objects.count() == size // n_originals * n_originals
        by_size[size] = filling.copy(f"with_{size}")
        standing.append(by_size[size])
        by_size[size].settle()
    return Desk(project, rare, Actor(reviewer), colleague, secret), by_size


def _hold(desk: Desk, n_held: int) -> None:
    """Let a colleague hold the first tasks of the queue, as when many people are at work."""
    first = list(tasks_for(desk.project).values_list("pk", flat=True)[:n_held])
    ends = timezone.now() + timedelta(hours=1)
    ReviewTask.objects.filter(pk__in=first).update(
        lease_holder=desk.colleague, lease_token="held", lease_expires_at=ends
    )
