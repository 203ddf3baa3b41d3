"""`manage.py ingest PATH`: take in files and folders, as a scanner leaves them."""

import functools
import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError

from review.actions.intake import receive_document
from review.exceptions import StetError, StorageFullError
from review.management.folders import files_under, settled_files
from review.management.lookup import command_line, find_document_type, find_project, problems_of
from review.selectors.access import SYSTEM
from review.selectors.documents import IDS_AT_ONCE, tally, unfinished_among, unreadable_among
from review.selectors.workers import is_worker_alive
from review.words import standing_in_words

POLL_SECONDS = 0.5
WORKER_GRACE_SECONDS = 5.0
NO_WORKER = (
    "No worker is running, so nothing is being read. The documents are safe and wait.\n"
    f"Start one in another terminal: {command_line('work')} (or serve, which brings the web server too)."
)


class Command(BaseCommand):
    help = "Take in a file, or all files below a folder. Files that cannot be read are reported and counted as failed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a file or a folder")
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--type", required=True, help="slug of the document type")
        parser.add_argument("--priority", type=int, default=0, help="-100 to 100; higher is reviewed sooner")
        parser.add_argument("--wait", action="store_true", help="wait until every document is read")
        parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
        parser.add_argument(
            "--settle-seconds", type=float, default=1.0, help="a file is taken once it is unchanged for so long (1)"
        )
        parser.add_argument(
            "--timeout", type=float, default=3600.0, help="give up when no document is finished for so long (3600)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        self._started = time.monotonic()
        project = find_project(options["project"])
        document_type = find_document_type(project, options["type"])
        self._receive = functools.partial(
            receive_document, actor=SYSTEM, project=project, document_type=document_type, priority=options["priority"]
        )
        if not options["path"].exists():
            raise CommandError(f"There is nothing at {options['path']}. Check the path.")
        self._ids: list[int] = []
        self._n_refused = 0
        for path, is_settled in settled_files(
            files_under(options["path"]), options["settle_seconds"], options["timeout"]
        ):
            self._take(path, is_settled=is_settled)
        is_done = self._wait(options["timeout"]) if options["wait"] else True
        for document in unreadable_among(self._ids):
            self.stderr.write(f"{document.filename}: {standing_in_words('unreadable', '', document.reasons)}")
        figures = self._report(is_waited_for=options["wait"], is_json=options["json"])
        if not is_done:
            raise CommandError("Not all documents were read in time. They are safe; a worker will go on with them.")
        if 0 < figures["documents"] == figures["failed"]:
            raise CommandError("No file became a document. What is wrong with each is said above.")

    def _take(self, path: Path, *, is_settled: bool) -> None:
        if not is_settled:
            self._refuse(path, "The file is still being written, or has gone. Send it again when it is complete.")
            return
        try:
            with path.open("rb") as opened:
                received = self._receive(file=File(opened), filename=path.name)
        except StorageFullError as error:
            raise CommandError(f"{path}: {error.message} {len(self._ids)} files were taken in before.") from None
        except StetError as error:
            self._refuse(path, problems_of(error))
        except OSError as error:
            self._refuse(path, f"The file cannot be opened: {error.strerror}. Check its permissions.")
        else:
            self._ids.append(received.document.pk)
            if (first := received.document.duplicate_of_id) is not None:
                self.stderr.write(f"{path}: sent before as document {first}; not read again")

    def _refuse(self, path: Path, why: str) -> None:
        self._n_refused += 1
        self.stderr.write(f"{path}: {why}")

    def _wait(self, timeout: float) -> bool:
        """Wait until all are read; False when nothing was finished for `timeout` seconds."""
        waiting = list(self._ids)
        moved_at = worker_at = time.monotonic()
        has_warned = False
        while waiting:
            unfinished = unfinished_among(waiting[:IDS_AT_ONCE])
            before = len(waiting)
            waiting = [pk for pk in waiting[:IDS_AT_ONCE] if pk in unfinished] + waiting[IDS_AT_ONCE:]
            now = time.monotonic()
            if len(waiting) < before:
                moved_at = now
                continue
            if is_worker_alive():
                worker_at = now
            elif not has_warned and now - worker_at > WORKER_GRACE_SECONDS:
                has_warned = True
                self.stderr.write(NO_WORKER)
            if now - moved_at > timeout:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _report(self, *, is_waited_for: bool, is_json: bool) -> dict[str, int | float]:
        ended = tally(self._ids)
        n_unfinished = ended.unfinished if is_waited_for else 0
        figures: dict[str, int | float] = {
            "documents": len(self._ids) + self._n_refused,
            "pages": ended.n_pages,
            "stored": ended.stored,
            "sampled": ended.sampled,
            "review": ended.review,
            # What was not read in time has failed this command, though not for good.
            "failed": ended.failed + self._n_refused + n_unfinished,
            "seconds": round(time.monotonic() - self._started, 3),
        }
        if not is_waited_for:
            figures["waiting"] = ended.unfinished
        if is_json:
            self.stdout.write(json.dumps(figures))
        else:
            self.stdout.write(", ".join(f"{name} {figure}" for name, figure in figures.items()))
        return figures
