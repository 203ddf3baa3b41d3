"""`manage.py create_token`: a key for a program; the last line of the output is the key alone."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.actions.tenancy import create_token
from review.exceptions import StetError
from review.management.lookup import find_project, find_user, problems_of
from review.models import Role
from review.selectors.access import SYSTEM


class Command(BaseCommand):
    help = "Make an API token for one project with one role. It is shown this once; the last line is the token alone."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, help="user name; must be a member of the project")
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--role", required=True, choices=[role.value for role in Role])
        parser.add_argument("--name", default="", help="what the token is for")

    def handle(self, *_args: Any, **options: Any) -> None:
        project, user = find_project(options["project"]), find_user(options["user"])
        try:
            made = create_token(
                actor=SYSTEM, project=project, user=user, role=Role(options["role"]), name=options["name"]
            )
        except StetError as error:
            raise CommandError(problems_of(error)) from None
        self.stderr.write("This token is shown once. Keep it where only the program can read it.")
        self.stdout.write(made.secret)
