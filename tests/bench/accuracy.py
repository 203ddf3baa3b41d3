"""What the page about accuracy reads, and what keeping its roll-ups costs, with little and with much history."""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus

from django.db import connection
from django.test import Client
from django.urls import reverse

from review.accuracy.metrics import BUCKETS
from review.actions.accuracy import roll_up_reviews
from review.actions.leasing import lease_next_task
from review.actions.submitting import FieldVerdict, submit_task
from review.actions.tenancy import create_token
from review.models import (
    Document,
    ExtractionRun,
    FieldReview,
    Population,
    Project,
    ReviewTask,
    Role,
    RoutingDecision,
    User,
)
from review.routing.policy import PolicyRules, Thresholds
from review.selectors.access import Actor
from review.selectors.accuracy import accuracy_table, accuracy_trend, rates
from tests.bench import worlds
from tests.bench.databases import databases
from tests.bench.measuring import Work, sqlite_work
from tests.bench.report import Budget, finish, ratio

LIMIT = 1.0
N_ORIGINALS = 25
N_FIELDS = 4
FULL_LOOK = PolicyRules(default=Thresholds(auto=None, review=1.0), full_examination_share=1.0)
# What the roll-ups are made from; the other rows of a document are not read for them.
ROWS = (Document, ExtractionRun, RoutingDecision, ReviewTask, FieldReview)


def _ask_api(project: Project) -> None:
    manager = User.objects.get(username="manager")
    secret = create_token(actor=Actor(manager), project=project, user=manager, role=Role.MANAGER).secret
    headers = {"Authorization": f"Bearer {secret}", "Host": "localhost"}
    answer = Client().get(reverse("api:accuracy", kwargs={"project": project.slug}), headers=headers)
    assert answer.status_code == HTTPStatus.OK, answer.status_code


PAGE: Mapping[str, Callable[[Project], object]] = {
    "table, reader": lambda project: accuracy_table(project, population=Population.READER),
    "table, unseen": lambda project: accuracy_table(project, population=Population.UNSEEN),
    "trend": accuracy_trend,
    "rates": rates,
    "the API's answer": _ask_api,
}


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="accuracy", description=__doc__)
    parser.add_argument("--reviews", type=int, nargs=2, default=[10_000, 1_000_000], help="reviewed fields")
    parser.add_argument("--days", type=int, nargs=2, default=[50, 1_000], help="over how many days they spread")
    options = parser.parse_args(arguments)
    rows: list[tuple[object, ...]] = []
    budgets, job = [], {}
    works: list[dict[str, Work]] = []
    for n_reviews, seconds, work in measure_accuracy(options.reviews, options.days):
        works.append(work)
        job[n_reviews] = seconds
        rows += [(n_reviews, part, one.n_rows, one.n_instructions, one.cpu_ms) for part, one in work.items()]
        rows.append((n_reviews, "job, 10,000 reviews", "", "", 1000 * seconds))
    little, much = works
    for part in PAGE:
        budgets += [
            Budget(
                f"{part}: rows given out, much / little history", ratio(much[part].n_rows, little[part].n_rows), LIMIT
            ),
            Budget(
                f"{part}: SQLite's instructions, much / little history",
                ratio(much[part].n_instructions, little[part].n_instructions),
                1.05,
            ),
        ]
    header = ("reviewed fields", "what", "rows", "instructions", "CPU ms")
    return finish("accuracy", header, rows, budgets, {"job_cpu_seconds_per_10000_reviews": job})


def measure_accuracy(reviews: Sequence[int], days: Sequence[int]) -> list[tuple[int, float, dict[str, Work]]]:
    """Return for each size: fields reviewed, CPU seconds of the job a 10,000, and what each part of the page read.

    The same project grows from size to size. Every confidence bucket of every field has labels on every day, so that
    no cell is new in the larger history.
    """
    worlds.use_scripted_engine()
    found = []
    with databases("sqlite"):
        project = worlds.make_project()
        n_originals = _review_originals(project)
        originals = worlds.Originals.of(ROWS)
        for n_reviews, n_days in zip(reviews, days, strict=True):
            worlds.grow(originals, n_originals, n_reviews // N_FIELDS, _columns(n_reviews, n_days))
            n_new = FieldReview.objects.filter(is_rolled_up=False).count()
            started = time.process_time()
            roll_up_reviews()
            seconds = time.process_time() - started
            assert not FieldReview.objects.filter(is_rolled_up=False).exists()
            n_all = FieldReview.objects.count()
            found.append((n_all, 10_000 * seconds / n_new, {part: _work(read, project) for part, read in PAGE.items()}))
    return found


def _columns(n_reviews: int, n_days: int) -> dict[str, str]:
    """Return what differs in the copies: day after day, as verdicts come in, and still to be added."""
    n_copies = n_reviews // (N_ORIGINALS * N_FIELDS)
    days_ago = f"({n_days - 1} - k * {n_days} / {n_copies})"
    return {"created_at": f"datetime('now', '-' || {days_ago} || ' days')", "is_rolled_up": "0"}


def _work(read: Callable[[Project], object], project: Project) -> Work:
    read(project)
    started = time.process_time()
    read(project)
    cpu_ms = 1000 * (time.process_time() - started)
    with sqlite_work() as work:
        read(project)
    work.cpu_ms = cpu_ms
    return work


def _review_originals(project: Project) -> int:
    """Let a person look at every field of a few documents; return how many documents."""
    document_type = worlds.make_type(project, "receipt", FULL_LOOK)
    worlds.receive(document_type, map(worlds.receipt_image, range(N_ORIGINALS)))
    worlds.work_off_queue()
    actor = Actor(worlds.make_member(project, "manager", Role.MANAGER))
    while lease := lease_next_task(actor=actor, project=project):
        verdicts = [
            FieldVerdict(path, "corrected", value)
            for path, value in (("/company", "A"), ("/date", "2020-01-31"), ("/address", "B"), ("/total", "1.00"))
        ]
        submit_task(actor=actor, task=lease.task, lease_token=lease.token, verdicts=verdicts)
    assert FieldReview.objects.count() == N_ORIGINALS * N_FIELDS
    # Labels in every confidence bucket, right and wrong, of fields that were sure to be looked at and of others.
    with connection.cursor() as cursor:
        for position, bucket in enumerate(BUCKETS):
            confidence = None if bucket == BUCKETS[-1] else float(bucket.split("-")[0])
            cursor.execute(
                "UPDATE review_fieldreview SET confidence = %s, is_correct = (id %% 7 > 0),"
                " inclusion_probability = CASE id %% 3 WHEN 0 THEN 1.0 ELSE 0.1 END WHERE (id / 4) %% %s = %s",
                [confidence, len(BUCKETS), position],
            )
    roll_up_reviews()
    return N_ORIGINALS
