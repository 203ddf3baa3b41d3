"""Command line: manage.py export --project P --format jsonl|csv --out FILE [--since ISO]."""

from argparse import ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from review.actions.exports import FORMAT_NAMES
from review.exceptions import NotFoundError, StorageFullError
from review.selectors.access import SYSTEM, access_project
from review.tasks_exports import write_file


class Command(BaseCommand):
    help = "Write the records of a project, with provenance and labels, to a file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--format", required=True, choices=FORMAT_NAMES)
        parser.add_argument(
            "--out", required=True, type=Path, help="the file; replaced if it exists, whole or not at all"
        )
        parser.add_argument(
            "--since", type=_moment, help="only revisions made since then (ISO 8601; a date is its 0:00)"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        try:
            project = access_project(SYSTEM, options["project"])
        except NotFoundError:
            raise CommandError(f"There is no project {options['project']!r}.") from None
        out: Path = options["out"]
        try:
            written = write_file(project, options["format"], out, since=options["since"])
        except StorageFullError:
            raise CommandError(f"There is no room for {out}; nothing was written.") from None
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from None
        if not written.n_records:
            self.stderr.write(self.style.WARNING("Nothing to export: the project has no such records."))
        self.stdout.write(
            f"{written.n_records} records, {written.n_labels} labels, {written.n_bytes} bytes\n"
            f"sha256 {written.sha256}  {out}"
        )


def _moment(text: str) -> datetime:
    try:
        day = parse_date(text)
        moment = datetime(day.year, day.month, day.day) if day else parse_datetime(text)  # noqa: DTZ001 - made aware below
    except ValueError:
        moment = None
    if moment is None:
        raise ArgumentTypeError(f"{text!r} is no date or time in ISO 8601, such as 2026-01-31T08:00:00+08:00")
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment
