"""Targets: how much may be wrong among values stored unseen, and what the examined values carry."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.targets import draft_from_targets, remove_target, resume_field, set_target
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.document_types import PolicySerializer
from review.api.serializers.targets import (
    FieldNameSerializer,
    TargetDraftSerializer,
    TargetListSerializer,
    target_as_data,
)
from review.api.views.base import ProjectView
from review.models import DocumentType, Role
from review.selectors.access import access_document_type
from review.selectors.targets import access_stopped, access_target, monitors_for, newest_certificates, targets_for


class _TypeView(ProjectView):
    """A view of one document type."""

    roles: ClassVar = {"GET": Role.MANAGER}

    @property
    def document_type(self) -> DocumentType:
        """The type that the path names."""
        return access_document_type(self.project, self.kwargs["document_type"])


class TargetListView(_TypeView):
    """The targets of a document type."""

    roles: ClassVar = {"GET": Role.MANAGER, "POST": Role.MANAGER}

    @extend_schema(
        operation_id="targets_get", tags=["Targets"], summary="Get the targets", responses=TargetListSerializer
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return the target of each field that has one, its newest certificate and what its audits have shown."""
        return Response(_targets_of(self.document_type))

    @extend_schema(
        operation_id="targets_set",
        tags=["Targets"],
        summary="Set a target",
        request=TargetDraftSerializer,
        responses={200: TargetListSerializer, **problems(400)},
        examples=[
            OpenApiExample("One in a hundred", value={"field_path": "/total", "wrong_share": 0.01}, request_only=True)
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Set or change the target of one field; its audits are watched from now on."""
        document_type = self.document_type
        asked = self.validated(TargetDraftSerializer, request)
        set_target(actor=self.actor, document_type=document_type, **asked)
        return Response(_targets_of(document_type))


class TargetRemovalView(_TypeView):
    """Giving a target up."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="targets_remove",
        tags=["Targets"],
        summary="Remove a target",
        request=FieldNameSerializer,
        responses={200: TargetListSerializer, **problems(400, 409)},
    )
    def post(self, request: Request, **_: object) -> Response:
        """Promise nothing any more for a field; refused while it is stopped."""
        document_type = self.document_type
        asked = self.validated(FieldNameSerializer, request)
        remove_target(actor=self.actor, target=access_target(document_type, asked["field_path"]))
        return Response(_targets_of(document_type))


class TargetPolicyView(_TypeView):
    """A policy made from targets."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="targets_draft_policy",
        tags=["Targets"],
        summary="Draft a policy from the targets",
        parameters=[IDEMPOTENCY_KEY],
        request=None,
        responses={201: PolicySerializer, **problems(409, 422)},
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Draft a policy whose limits the examined values carry, with a certificate for each field with a target."""
        policy = draft_from_targets(actor=self.actor, document_type=self.document_type)
        return Response(PolicySerializer(policy).data, status=201)


class ResumeView(_TypeView):
    """Turning a stopped field on again."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="targets_resume",
        tags=["Targets"],
        summary="Turn a stopped field on again",
        request=FieldNameSerializer,
        responses={200: TargetListSerializer, **problems(400)},
    )
    def post(self, request: Request, **_: object) -> Response:
        """Store the field's values unseen again where they are sure enough, under a new monitor."""
        document_type = self.document_type
        asked = self.validated(FieldNameSerializer, request)
        resume_field(actor=self.actor, monitor=access_stopped(document_type, asked["field_path"]))
        return Response(_targets_of(document_type))


def _targets_of(document_type: DocumentType) -> dict[str, Any]:
    certificates = newest_certificates(document_type)
    monitors = {one.field_path: one for one in monitors_for(document_type)}
    rows = [
        target_as_data(one, certificates.get(one.field_path), monitors.get(one.field_path))
        for one in targets_for(document_type)
    ]
    return dict(TargetListSerializer({"results": rows}).data)
