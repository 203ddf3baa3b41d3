"""Command line: manage.py correct_truth --project P --set N --by USER --reason WHY ITEM /FIELD=VALUE…."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.truth_corrections import correct_truth
from review.exceptions import NotFoundError, StetError
from review.management.lookup import find_project, find_user, listed, problems_of
from review.selectors.access import Actor, is_manager
from review.selectors.evaluation import access_regression_set

ABSENT = "null"


class Command(BaseCommand):
    help = "Correct the truth of one document of a regression set, in the set's next version. A manager's act."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("item", metavar="ITEM", help="the document's name in the set")
        parser.add_argument(
            "values", nargs="+", metavar="/FIELD=VALUE", help=f"as printed; {ABSENT}: the page shows none"
        )
        parser.add_argument("--project", required=True)
        parser.add_argument("--set", required=True, help="the set's name")
        parser.add_argument("--by", required=True, metavar="USER", help="the manager who answers for it")
        parser.add_argument("--reason", required=True, help="why the truth was wrong; it is kept")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project = find_project(options["project"])
        actor = Actor(find_user(options["by"]))
        if not is_manager(actor, project):
            raise CommandError(f"{actor.label} is no manager of project {project.slug}.")
        try:
            wrong = access_regression_set(project, options["set"])
        except NotFoundError:
            raise CommandError(f"There is no regression set {options['set']!r}.") from None
        truth = {}
        for given in options["values"]:
            path, is_given, value = given.partition("=")
            if not is_given or not value:
                raise CommandError(f"{given!r} is no /FIELD=VALUE. For a field that the page does not show: {ABSENT}.")
            truth[path] = None if value == ABSENT else value
        try:
            right = correct_truth(
                actor=actor, regression_set=wrong, item_name=options["item"], truth=truth, reason=options["reason"]
            )
        except StetError as error:
            raise CommandError(listed(problems_of(error).splitlines())) from None
        done = "it says so already, unchanged" if right.pk == wrong.pk else f"corrected; {wrong} stays as it is"
        self.stdout.write(f"{right}: {done}; digest {right.digest}")
