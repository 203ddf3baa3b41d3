"""Document types, their versions and policies."""

from collections.abc import Sequence

from django.db.models import Case, QuerySet, When

from review.exceptions import NotFoundError
from review.models import DocumentType, PolicyState, Project, RoutingPolicy, SchemaVersion
from review.routing.policy import PolicyRules


def document_types_for(project: Project) -> QuerySet[DocumentType]:
    """Return the document types of a project with their active versions, by slug."""
    types = DocumentType.objects.select_related("active_version", "project__engine_version__base")
    return types.filter(project=project).order_by("slug")


def usual_type(project: Project) -> DocumentType | None:
    """Return the type of the newest document, else the first by slug; None where there is no type."""
    newest = project.documents.order_by("-pk").values("document_type")[:1]
    return document_types_for(project).order_by(Case(When(pk=newest, then=0), default=1), "slug").first()


def type_among(types: Sequence[DocumentType], slug: str) -> DocumentType:
    """Return the one of that slug, for a page that shows the others beside it; raise NotFoundError."""
    found = next((one for one in types if one.slug == slug), None)
    if found is None:
        raise NotFoundError
    return found


def schema_versions_of(document_type: DocumentType) -> QuerySet[SchemaVersion]:
    """Return the schema versions of a type, newest first."""
    return document_type.schema_versions.order_by("-number")


def policies_of(document_type: DocumentType) -> QuerySet[RoutingPolicy]:
    """Return the policies of a type, newest first."""
    return document_type.policies.select_related("created_by").prefetch_related("certificates").order_by("-number")


def access_policy(document_type: DocumentType, number: int) -> RoutingPolicy:
    """Return one policy of an accessed document type; raise NotFoundError."""
    policy = document_type.policies.select_related("document_type").filter(number=number).first()
    if policy is None:
        raise NotFoundError
    return policy


def active_policy(
    document_type: DocumentType, newest: Sequence[RoutingPolicy] = ()
) -> tuple[RoutingPolicy, PolicyRules] | None:
    """Return the active policy of a type and its rules, or None where there is none.

    It is looked up where it is not among the `newest` policies, which the caller has at hand.
    """
    policy = next((one for one in newest if one.state == PolicyState.ACTIVE), None)
    policy = policy or document_type.policies.filter(state=PolicyState.ACTIVE).first()
    return (policy, PolicyRules.from_json(policy.rules)) if policy is not None else None
