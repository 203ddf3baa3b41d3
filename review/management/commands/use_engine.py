"""Command line: manage.py use_engine --project P (--engine-version V | --engine NAME | --house)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.engines import use_engine
from review.exceptions import InvalidInputError
from review.management.lookup import find_engine_version, find_project, problems_of
from review.selectors.access import SYSTEM
from review.selectors.engines import is_declared, is_proven
from review.tasks_engines import ocr_engines


class Command(BaseCommand):
    help = "Set which engine reads a project's pages from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--engine-version", help="a declared language model: its id, or 8 letters of its digest")
        which.add_argument("--engine", help="an OCR engine by its name")
        which.add_argument("--house", action="store_true", help="the engine that STET_ENGINE names")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project = find_project(options["project"])
        version = find_engine_version(options["engine_version"]) if options["engine_version"] else None
        name = options["engine"] or ""
        if name and name not in ocr_engines():
            raise CommandError(f"There is no engine {name!r}. Known: {', '.join(ocr_engines())}.")
        try:
            use_engine(actor=SYSTEM, project=project, engine_version=version, engine_name=name)
        except InvalidInputError as error:
            raise CommandError(problems_of(error)) from None
        self.stdout.write(f"{project.slug} is read by {version or name or 'the engine of the house'}.")
        if version is not None and is_declared(version) and not is_proven(version):
            self.stdout.write(
                "This version has passed no self-test yet: nothing it reads is stored for sure until it has. "
                f"Run: manage.py probe_engine --engine-version {version.pk}"
            )
