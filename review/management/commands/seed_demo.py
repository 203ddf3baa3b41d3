"""`manage.py seed_demo`: a project to try Stet with. Running it again adds what is missing and changes nothing."""

import hashlib
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand

from inference.document_types import SHIPPED, shipped_schema
from review.actions.intake import receive_document
from review.actions.schemas import create_document_type
from review.actions.tenancy import add_member, create_project, create_tenant, create_user
from review.exceptions import NotFoundError
from review.management.lookup import command_line
from review.models import Project, Role, Tenant, User
from review.selectors.access import SYSTEM, access_document_type, access_project
from review.selectors.documents import has_content

SLUG = "demo"


class Command(BaseCommand):
    help = "Make the project `demo` with the shipped document types, the user `demo`, and the receipts in samples/."

    def handle(self, *_args: Any, **_options: Any) -> None:
        project = self._project()
        for name in SHIPPED:
            try:
                access_document_type(project, name)
            except NotFoundError:
                create_document_type(actor=SYSTEM, project=project, slug=name, schema=shipped_schema(name))
        self._user(project)
        n_taken = sum(self._take(project, path) for path in sorted((settings.BASE_DIR / "samples").glob("*.jpg")))
        if n_taken:
            self.stdout.write(f"{n_taken} sample receipts wait to be read in project {SLUG}.")

    def _project(self) -> Project:
        try:
            return access_project(SYSTEM, SLUG)
        except NotFoundError:
            tenant = Tenant.objects.filter(slug=SLUG).first()
            tenant = tenant or create_tenant(actor=SYSTEM, slug=SLUG, name="Demo")
            return create_project(actor=SYSTEM, tenant=tenant, slug=SLUG, name="Demo")

    def _user(self, project: Project) -> None:
        user = User.objects.filter(username=SLUG).first()
        if user is not None:
            self.stdout.write(f"User: {SLUG}   (password forgotten? {command_line(f'changepassword {SLUG}')})")
        else:
            password = secrets.token_urlsafe(12)
            user = create_user(actor=SYSTEM, username=SLUG, password=password, is_staff=True)
            self.stdout.write(f"User: {SLUG}   Password: {password}   (shown this once; change it after signing in)")
        if not project.memberships.filter(user=user).exists():
            add_member(actor=SYSTEM, project=project, user=user, role=Role.ADMIN)

    def _take(self, project: Project, path: Path) -> bool:
        data = path.read_bytes()
        if has_content(project, hashlib.sha256(data).hexdigest()):
            return False
        document_type = access_document_type(project, "receipt")
        file = ContentFile(data)
        receive_document(actor=SYSTEM, project=project, document_type=document_type, file=file, filename=path.name)
        return True
