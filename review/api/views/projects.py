"""Projects and members."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.api.filters import StrictFilterBackend
from review.api.pagination import NewestFirstPagination
from review.api.serializers.projects import MemberSerializer, ProjectSerializer
from review.api.views.base import ApiView, ProjectListView
from review.models import Membership, Project
from review.selectors.access import SYSTEM, projects_for
from review.selectors.members import members_for


class ProjectListApiView(ApiView):
    """The projects of the caller; an API token sees its one."""

    serializer_class = ProjectSerializer
    pagination_class = NewestFirstPagination
    filter_backends = (StrictFilterBackend,)

    def get_queryset(self) -> QuerySet[Project]:
        """Return the visible projects."""
        actor = SYSTEM if getattr(self, "swagger_fake_view", False) else self.actor
        return projects_for(actor).select_related("tenant")

    @extend_schema(
        operation_id="projects_list",
        tags=["Projects"],
        summary="List your projects",
        responses=ProjectSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the projects that you may see."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class MemberListView(ProjectListView):
    """The members of a project."""

    serializer_class = MemberSerializer

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the memberships."""
        return members_for(self.project)

    @extend_schema(
        operation_id="members_list",
        tags=["Projects"],
        summary="List members",
        responses=MemberSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List who belongs to the project, with which role."""
        return self.listed(self.get_queryset())
