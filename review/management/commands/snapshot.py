"""Command line: manage.py snapshot --project P [--holding H] [--personal K] [--seed S]."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.snapshots import DEFAULT_SEED, DEFAULT_SHARE, request_snapshot
from review.exceptions import StetError
from review.management.lookup import find_project, problems_of
from review.models import Holding, Personal, WorkState
from review.selectors.access import SYSTEM
from review.tasks_snapshots import take_snapshot

WHY_NOT = {
    "held_out_unknown": "It is not known what the pages of a regression set look like. Import the set again: that "
    "finds out.",
    "storage_full": "There is no room for it.",
}


class Command(BaseCommand):
    help = "Freeze the records of a project as a data set, split by group."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--holding", choices=Holding.values, default=Holding.REVIEWED.value, help="which records")
        parser.add_argument(
            "--personal", choices=Personal.values, default=Personal.KEPT.value, help="fields marked x-personal"
        )
        parser.add_argument("--seed", default=DEFAULT_SEED, help="the same seed gives the same sides")
        parser.add_argument("--validation-share", type=float, default=DEFAULT_SHARE, help="of the documents, 0-1")
        parser.add_argument("--test-share", type=float, default=DEFAULT_SHARE, help="of the documents, 0-1")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        names = ("holding", "personal", "seed", "validation_share", "test_share")
        wishes = {name: options[name] for name in names}
        project = find_project(options["project"])
        try:
            snapshot = request_snapshot(actor=SYSTEM, project=project, is_queued=False, **wishes)
        except StetError as error:
            raise CommandError(problems_of(error)) from None
        take_snapshot(snapshot.pk)
        snapshot.refresh_from_db()
        if snapshot.state != WorkState.DONE:
            raise CommandError(WHY_NOT.get(snapshot.error_code, f"It was not taken: {snapshot.error_code}."))
        if not snapshot.n_records:
            self.stderr.write(self.style.WARNING("The snapshot is empty: the project has no such records."))
        sides = snapshot.manifest["split"]["sides"]
        for side, counts in sides.items():
            self.stdout.write(f"{side}: {counts['documents']} documents, {counts['groups']} groups")
        for why, n in snapshot.manifest["left_out"].items():
            self.stdout.write(f"left out, {why}: {n}")
        self.stdout.write(f"snapshot {snapshot.pk}  sha256 {snapshot.sha256}")
