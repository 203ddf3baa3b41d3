"""The only door to one object: who asks, for what, with which role. Missing and foreign objects look alike."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from review.exceptions import ForbiddenError, NotFoundError
from review.models import (
    ApiToken,
    DatasetExport,
    Document,
    DocumentType,
    Membership,
    Page,
    Project,
    Record,
    RegionReading,
    ReviewTask,
    Role,
    Snapshot,
    TaskState,
    User,
)
from review.selectors.blindness import mark_withheld
from review.selectors.second_looks import is_hidden_from


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever acts: a signed-in user, a program with an API token, or Stet itself (`SYSTEM`, no user)."""

    user: User | None
    api_token: ApiToken | None = None

    @property
    def label(self) -> str:
        """How the audit trail names the actor."""
        if self.user is None:
            return "system"
        return f"{self.user.get_username()} ({self.api_token.prefix})" if self.api_token else self.user.get_username()


SYSTEM = Actor(user=None)


def role_in(actor: Actor, project: Project) -> Role | None:
    """Return the actor's role in the project, or None for a stranger. A token never exceeds its user's own role."""
    if actor.user is None:
        return Role.ADMIN
    membership = Membership.objects.filter(project=project, user=actor.user).only("role").first()
    return _role_by(membership, actor, project)


def _role_by(membership: Membership | None, actor: Actor, project: Project) -> Role | None:
    if membership is None or actor.user is None or not actor.user.is_active:
        return None
    if actor.api_token is None:
        return Role(membership.role)
    if actor.api_token.project_id != project.pk:
        return None
    return min(Role(membership.role), Role(actor.api_token.role), key=lambda role: role.rank)


def is_manager(actor: Actor, project: Project) -> bool:
    """Whether the actor may do what managers may."""
    role = role_in(actor, project)
    return role is not None and role.includes(Role.MANAGER)


def projects_for(actor: Actor) -> QuerySet[Project]:
    """Return the projects that the actor may see, by name."""
    if actor.user is None:
        return Project.objects.order_by("name")
    projects = Project.objects.filter(memberships__user=actor.user).order_by("name")
    return projects.filter(pk=actor.api_token.project_id) if actor.api_token is not None else projects


def access_project(actor: Actor, slug: str, role: Role = Role.VIEWER) -> Project:
    """Return the project; raise NotFoundError for strangers, ForbiddenError for members with too small a role."""
    project, held = _project_and_role(actor, slug)
    if project is None or held is None:
        raise NotFoundError
    if not held.includes(role):
        raise ForbiddenError
    return project


def _project_and_role(actor: Actor, slug: str) -> tuple[Project | None, Role | None]:
    """Return both from one query: every request of every page asks for them."""
    if actor.user is None:
        return Project.objects.select_related("tenant").filter(slug=slug).first(), Role.ADMIN
    memberships = Membership.objects.select_related("project__tenant").filter(project__slug=slug, user=actor.user)
    membership = memberships.first()
    if membership is None:
        return None, None
    return membership.project, _role_by(membership, actor, membership.project)


def access_document_type(project: Project, slug: str) -> DocumentType:
    """Return a document type of an accessed project with its active schema version."""
    found = DocumentType.objects.select_related("active_version").filter(project=project, slug=slug).first()
    if found is None:
        raise NotFoundError
    return found


def access_document(actor: Actor, slug: str, document_id: int, role: Role = Role.VIEWER) -> Document:
    """Return a document of the project `slug` with `has_duplicates`; raise as `access_project` does, NotFoundError."""
    project = access_project(actor, slug, role)
    documents = Document.objects.select_related(
        "document_type", "project", "uploaded_by", "schema_version", "suggested_type"
    )
    documents = documents.annotate(has_duplicates=Exists(Document.objects.filter(duplicate_of=OuterRef("pk"))))
    document = documents.filter(project=project, pk=document_id).first()
    if document is None:
        raise NotFoundError
    return document


def access_document_in_hand(actor: Actor, slug: str, document_id: int) -> Document:
    """Return a document of which the actor may say what it is: managers of any, reviewers of the one in their hands.

    Raise as `access_document` does, ForbiddenError for a document that somebody else reviews, or nobody.
    """
    document = access_document(actor, slug, document_id, Role.REVIEWER)
    if not is_manager(actor, document.project):
        held = ReviewTask.objects.filter(document_id=document.duplicate_of_id or document.pk, state=TaskState.OPEN)
        if not held.filter(lease_holder=actor.user, lease_expires_at__gt=timezone.now()).exists():
            raise ForbiddenError
    return document


def access_page(actor: Actor, slug: str, document_id: int, page_number: int) -> Page:
    """Return one page of a document that the actor may see; a duplicate shows the first document's pages."""
    document = access_document(actor, slug, document_id)
    page = Page.objects.filter(document_id=document.duplicate_of_id or document.pk, page_number=page_number).first()
    if page is None:
        raise NotFoundError
    return page


def access_review_task(actor: Actor, slug: str, task_id: int, role: Role = Role.REVIEWER) -> ReviewTask:
    """Return a review task of the project `slug`; what a reviewer is not told of does not exist for them."""
    project = access_project(actor, slug, role)
    tasks = ReviewTask.objects.select_related("project", "document", "run", "document_type", "lease_holder")
    task = tasks.filter(project=project, pk=task_id).first()
    if task is None:
        raise NotFoundError
    if actor.user is not None and is_hidden_from(task, actor.user) and not is_manager(actor, project):
        raise NotFoundError
    return task


def access_region(task: ReviewTask, region_id: int) -> RegionReading:
    """Return a part of a page that was to be read again in an accessed task."""
    region = RegionReading.objects.select_related("page").filter(task=task, pk=region_id).first()
    if region is None:
        raise NotFoundError
    return region


def access_record(actor: Actor, slug: str, record_id: int) -> Record:
    """Return one revision of a record of the project `slug`, with `is_withheld` (`review.selectors.blindness`)."""
    project = access_project(actor, slug)
    records = mark_withheld(Record.objects.select_related("document"), actor.user)
    record = records.filter(project=project, pk=record_id).first()
    if record is None:
        raise NotFoundError
    return record


def access_export(actor: Actor, slug: str, export_id: int) -> DatasetExport:
    """Return an export of the project `slug`; exports are for managers."""
    project = access_project(actor, slug, Role.MANAGER)
    export = DatasetExport.objects.filter(project=project, pk=export_id).first()
    if export is None:
        raise NotFoundError
    return export


def access_snapshot(actor: Actor, slug: str, snapshot_id: int) -> Snapshot:
    """Return a snapshot of the project `slug`; snapshots are for managers."""
    project = access_project(actor, slug, Role.MANAGER)
    snapshots = Snapshot.objects.select_related("project", "requested_by")
    snapshot = snapshots.filter(project=project, pk=snapshot_id).first()
    if snapshot is None:
        raise NotFoundError
    return snapshot
