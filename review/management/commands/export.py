"""Command line: manage.py export --project P --format jsonl|csv --out FILE [--since ISO].

Or, of a snapshot: manage.py export --snapshot ID --format F --out FILE [--archive zip|tar].
"""

from argparse import ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from review.actions.exports import ARCHIVES, FORMAT_NAMES, SNAPSHOT_FORMAT_NAMES
from review.exceptions import NotFoundError, StorageFullError
from review.management.lookup import find_snapshot
from review.selectors.access import SYSTEM, access_project
from review.tasks_exports import PageChangedError, SnapshotChangedError, Written, write_archive, write_file


class Command(BaseCommand):
    help = "Write the records of a project, with provenance and labels, to a file."

    def add_arguments(self, parser: CommandParser) -> None:
        of_what = parser.add_mutually_exclusive_group(required=True)
        of_what.add_argument("--project", help="the project's slug: its records as they stand now")
        of_what.add_argument("--snapshot", type=int, metavar="ID", help="a snapshot: what it holds")
        parser.add_argument(
            "--format",
            required=True,
            choices=SNAPSHOT_FORMAT_NAMES,
            help=f"of a project only {' or '.join(FORMAT_NAMES)}",
        )
        parser.add_argument("--archive", choices=ARCHIVES, default="zip", help="of a snapshot: zip unless you say tar")
        parser.add_argument(
            "--out", required=True, type=Path, help="the file; replaced if it exists, whole or not at all"
        )
        parser.add_argument(
            "--since", type=_moment, help="only revisions made since then (ISO 8601; a date is its 0:00)"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        out: Path = options["out"]
        try:
            written = _of_snapshot(options) if options["snapshot"] is not None else _of_project(options)
        except SnapshotChangedError as changed:
            raise CommandError(f"The side {changed} is no longer what the snapshot froze. Nothing written.") from None
        except PageChangedError as changed:
            raise CommandError(
                f"The picture of {changed} is missing or is no longer what was opened. Nothing written. "
                "Put the file back."
            ) from None
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


def _of_project(options: dict[str, Any]) -> Written:
    if options["format"] not in FORMAT_NAMES:
        raise CommandError(f"{options['format']} is written of a snapshot. Take one first: manage.py snapshot.")
    try:
        project = access_project(SYSTEM, options["project"])
    except NotFoundError:
        raise CommandError(f"There is no project {options['project']!r}.") from None
    return write_file(project, options["format"], options["out"], since=options["since"])


def _of_snapshot(options: dict[str, Any]) -> Written:
    if options["since"] is not None:
        raise CommandError("A snapshot is of one moment: leave --since out.")
    snapshot = find_snapshot(options["snapshot"])
    return write_archive(snapshot, options["format"], options["out"], archive=options["archive"])


def _moment(text: str) -> datetime:
    try:
        day = parse_date(text)
        moment = datetime(day.year, day.month, day.day) if day else parse_datetime(text)  # noqa: DTZ001 - made aware below
    except ValueError:
        moment = None
    if moment is None:
        raise ArgumentTypeError(f"{text!r} is no date or time in ISO 8601, such as 2026-01-31T08:00:00+08:00")
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment
