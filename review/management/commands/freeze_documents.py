"""Command line: manage.py freeze_documents --project P --type T --name N (ID… | --newest N)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.regression_sets import freeze_documents
from review.exceptions import StetError
from review.management.lookup import find_document_type, find_project, listed, problems_of
from review.selectors.access import SYSTEM
from review.selectors.truth import reviewed_documents


class Command(BaseCommand):
    help = "Add reviewed documents to a regression set, as its next version; from then on nothing learns from them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("documents", nargs="*", type=int, metavar="ID", help="ids of reviewed documents")
        parser.add_argument("--newest", type=int, help="instead of ids: the newest N reviewed documents of the type")
        parser.add_argument("--project", required=True)
        parser.add_argument("--type", required=True, help="the document type's slug")
        parser.add_argument("--name", required=True, help="the set's name; it is made where there is none")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        ids, newest = options["documents"], options["newest"]
        if bool(ids) == (newest is not None) or (newest is not None and newest < 1):
            raise CommandError("Give the ids of documents, or --newest with a number of at least 1.")
        project = find_project(options["project"])
        document_type = find_document_type(project, options["type"])
        reviewed = reviewed_documents(document_type)
        found = list(reviewed.filter(pk__in=ids) if ids else reviewed[:newest])
        if unknown := sorted(set(ids) - {document.pk for document in found}):
            raise CommandError(
                f"No reviewed document of type {document_type.slug} in project {project.slug}: "
                f"{', '.join(map(str, unknown))}."
            )
        try:
            done = freeze_documents(
                actor=SYSTEM, document_type=document_type, name=options["name"], documents=found
            ).regression_set
        except StetError as error:
            raise CommandError(listed(problems_of(error).splitlines())) from None
        self.stdout.write(f"{done}: {done.n_items} documents; digest {done.digest}")
