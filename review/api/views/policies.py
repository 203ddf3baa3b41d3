"""Routing policies: how sure is sure enough, and how often somebody looks."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.policies import activate_policy, draft_policy
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.document_types import PolicyDraftSerializer, PolicySerializer
from review.api.views.base import ProjectListView, ProjectView
from review.models import DocumentType, Role, RoutingPolicy
from review.selectors.access import access_document_type
from review.selectors.document_types import access_policy, policies_of

RULES_EXAMPLE: dict[str, Any] = {
    "default": {"auto": 0.95, "review": 0.6},
    "fields": {"/total": {"auto": 0.99, "review": 0.8}},
    "audit_auto_share": 0.02,
    "audit_sampled_share": 0.2,
    "full_examination_share": 0.1,
}


class PolicyListView(ProjectListView):
    """The policies of a document type."""

    roles: ClassVar = {"POST": Role.MANAGER}
    serializer_class = PolicySerializer

    def get_queryset(self) -> QuerySet[RoutingPolicy]:
        """Return the policies."""
        if getattr(self, "swagger_fake_view", False):
            return policies_of(DocumentType(pk=0))
        return policies_of(access_document_type(self.project, self.kwargs["document_type"]))

    @extend_schema(
        operation_id="policies_list", tags=["Policies"], summary="List policies", responses=PolicySerializer(many=True)
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the policies, newest first; one of them is active."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="policies_create",
        tags=["Policies"],
        summary="Draft a policy",
        parameters=[IDEMPOTENCY_KEY],
        request=PolicyDraftSerializer,
        responses={201: PolicySerializer, **problems(400, 422)},
        examples=[OpenApiExample("Careful with totals", value={"rules": RULES_EXAMPLE}, request_only=True)],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Save rules as a draft with the next number; it changes nothing until it is activated."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        asked = self.validated(PolicyDraftSerializer, request)
        policy = draft_policy(actor=self.actor, document_type=document_type, rules=asked["rules"])
        return Response(PolicySerializer(policy).data, status=201)


class PolicyActivationView(ProjectView):
    """Putting a policy in force."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="policies_activate",
        tags=["Policies"],
        summary="Activate a policy",
        request=None,
        responses=PolicySerializer,
    )
    def post(self, request: Request, **_: object) -> Response:
        """Make a draft, or a retired policy again, the active one; doing so twice is as doing so once."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        policy = access_policy(document_type, self.kwargs["number"])
        return Response(PolicySerializer(activate_policy(actor=self.actor, policy=policy)).data)
