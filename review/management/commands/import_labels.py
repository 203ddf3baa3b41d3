"""Command line: manage.py import_labels --layout sroie DIR --project P --type T --name N."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.evaluation import import_regression_set
from review.exceptions import StetError
from review.management.lookup import find_document_type, find_project, problems_of
from review.management.sroie import read_sroie
from review.selectors.access import SYSTEM

SHOWN_PROBLEMS = 20


class Command(BaseCommand):
    help = "Freeze a folder of labelled documents as a regression set."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--layout", required=True, choices=["sroie"], help="how the folder is laid out")
        parser.add_argument("--project", required=True)
        parser.add_argument("--type", required=True, help="the document type's slug")
        parser.add_argument("--name", required=True, help="the set's name; a set never changes")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project = find_project(options["project"])
        document_type = find_document_type(project, options["type"])
        layout = read_sroie(options["folder"])
        if layout.problems:
            raise CommandError(_listed(layout.problems))
        try:
            imported = import_regression_set(
                actor=SYSTEM, project=project, document_type=document_type, name=options["name"], files=layout.files
            )
        except StetError as error:
            raise CommandError(_listed(problems_of(error).splitlines())) from None
        found = imported.regression_set
        done = "imported" if imported.is_new else "already there, unchanged"
        self.stdout.write(f"{found.name}: {found.n_items} documents, {done}; digest {found.digest}")


def _listed(problems: list[str]) -> str:
    more = len(problems) - SHOWN_PROBLEMS
    return "\n".join([*problems[:SHOWN_PROBLEMS], *([f"… and {more} more."] if more > 0 else [])])
