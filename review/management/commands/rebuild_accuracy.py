"""Command line: manage.py rebuild_accuracy --project P."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from review.actions.accuracy import rebuild_rollups, roll_up_reviews
from review.management.lookup import find_project
from review.selectors.access import SYSTEM

SHOWN_DIFFERENCES = 20


class Command(BaseCommand):
    help = "Count the roll-ups of a project anew from every verdict and decision, and report what differed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True)

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project = find_project(options["project"])
        roll_up_reviews()
        differences = rebuild_rollups(actor=SYSTEM, project=project)
        for found in differences[:SHOWN_DIFFERENCES]:
            cell = ", ".join(f"{name} {value}" for name, value in found.cell._asdict().items())
            self.stdout.write(f"{found.column} was {found.stored:g}, is {found.counted:g} ({cell})")
        self.stdout.write(f"{len(differences)} differences" + (", put right" if differences else ""))
