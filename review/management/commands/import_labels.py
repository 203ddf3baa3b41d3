"""Command line: manage.py import_labels --layout sroie|csv|label_studio DIR --project P --type T --name N [--add]."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.regression_sets import import_regression_set
from review.exceptions import StetError
from review.management.labelled import read_csv, read_label_studio
from review.management.lookup import find_document_type, find_project, listed, problems_of
from review.management.sroie import read_sroie
from review.selectors.access import SYSTEM

LAYOUTS = {"sroie": read_sroie, "csv": read_csv, "label_studio": read_label_studio}


class Command(BaseCommand):
    help = "Freeze a folder of labelled documents as a regression set."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--layout", required=True, choices=LAYOUTS, help="how the folder is laid out")
        parser.add_argument("--project", required=True)
        parser.add_argument("--type", required=True, help="the document type's slug")
        parser.add_argument("--name", required=True, help="the set's name; a set never changes")
        parser.add_argument("--add", action="store_true", help="add to the set of this name, as its next version")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project = find_project(options["project"])
        document_type = find_document_type(project, options["type"])
        layout = LAYOUTS[options["layout"]](options["folder"])
        if layout.problems:
            raise CommandError(listed(layout.problems))
        try:
            imported = import_regression_set(
                actor=SYSTEM,
                project=project,
                document_type=document_type,
                name=options["name"],
                files=layout.files,
                is_growing=options["add"],
            )
        except StetError as error:
            raise CommandError(listed(problems_of(error).splitlines())) from None
        found = imported.regression_set
        done = "imported" if imported.is_new else "already there, unchanged"
        self.stdout.write(f"{found}: {found.n_items} documents, {done}; digest {found.digest}")
