"""Command line: manage.py backfill --project P [--type T] [--reread] [--batch N] [--json]."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.errors import InferenceError
from review.management.lookup import find_document_type, find_project
from review.tasks_backfill import Backfill, backfill


class Command(BaseCommand):
    help = (
        "Read what is unread in a project with its language model, many pages side by side, and route it. "
        "May be stopped and begun anew at any moment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True)
        parser.add_argument("--type", help="only documents of this type")
        parser.add_argument("--reread", action="store_true", help="also what another engine version has read")
        parser.add_argument("--batch", type=int, default=32, help="how many documents at a time (32)")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        if options["batch"] < 1:
            raise CommandError("--batch must be at least 1.")
        project = find_project(options["project"])
        document_type = find_document_type(project, options["type"]) if options["type"] else None
        try:
            done = backfill(
                project, document_type, is_rereading=options["reread"], batch_size=options["batch"], tell=self._tell
            )
        except InferenceError as error:
            raise CommandError(f"It cannot go on: {error}. What was read is kept; begin again to go on.") from None
        self.stdout.write(said(done))
        if options["json"]:
            self.stdout.write(json.dumps(asdict(done)))

    def _tell(self, done: Backfill) -> None:
        self.stderr.write(said(done))


def said(done: Backfill) -> str:
    """Return how far it has come, in a line."""
    return (
        f"{done.n_documents} documents: {done.n_read} pages read, {done.n_cached} found in the cache, "
        f"{done.n_failed} failed; {done.n_left_out} documents left to their reviewers"
    )
