"""Run once, as a process of its own: a fresh database with one project, one type and one token (printed last)."""

import os

import django
from django.core.management import call_command

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
django.setup()

from review.actions.schemas import create_document_type  # noqa: E402 - only after the set-up
from review.actions.tenancy import add_member, create_project, create_tenant, create_token, create_user  # noqa: E402
from review.models import Role  # noqa: E402
from review.selectors.access import SYSTEM  # noqa: E402
from tests.factories import SCHEMA  # noqa: E402


def main() -> None:
    """Lay out the house and print the token."""
    call_command("migrate", verbosity=0)
    tenant = create_tenant(actor=SYSTEM, slug="t", name="T")
    project = create_project(actor=SYSTEM, tenant=tenant, slug="p", name="P")
    create_document_type(actor=SYSTEM, project=project, slug="receipt", schema=SCHEMA)
    user = create_user(actor=SYSTEM, username="u", password="a long enough password")
    add_member(actor=SYSTEM, project=project, user=user, role=Role.ADMIN)
    print(create_token(actor=SYSTEM, project=project, user=user, role=Role.REVIEWER).secret)  # noqa: T201


if __name__ == "__main__":
    main()
