"""Document types and their schema versions."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.schemas import create_document_type, publish_schema_version
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.document_types import (
    DocumentTypeDetailSerializer,
    DocumentTypeDraftSerializer,
    DocumentTypeSerializer,
    SchemaDraftSerializer,
    SchemaVersionSerializer,
)
from review.api.views.base import ProjectListView, ProjectView
from review.models import DocumentType, Role, SchemaVersion
from review.selectors.access import access_document_type
from review.selectors.document_types import document_types_for, schema_versions_of

SCHEMA_EXAMPLE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "x-label": {"en": "Receipt", "zh": "收据"},
    "required": ["total"],
    "properties": {
        "date": {"type": "string", "x-label": {"en": "Date", "zh": "日期"}, "x-value-type": "date"},
        "total": {
            "type": "string",
            "x-label": {"en": "Total", "zh": "合计"},
            "x-value-type": "amount",
            "x-keywords": ["total", "合计"],
        },
    },
}


class DocumentTypeListView(ProjectListView):
    """The document types of a project."""

    roles: ClassVar = {"POST": Role.MANAGER}
    serializer_class = DocumentTypeSerializer

    def get_queryset(self) -> QuerySet[DocumentType]:
        """Return the document types."""
        return document_types_for(self.project)

    @extend_schema(
        operation_id="document_types_list",
        tags=["Document types"],
        summary="List document types",
        responses=DocumentTypeSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the kinds of document that the project reads."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="document_types_create",
        tags=["Document types"],
        summary="Create a document type",
        parameters=[IDEMPOTENCY_KEY],
        request=DocumentTypeDraftSerializer,
        responses={201: DocumentTypeDetailSerializer, **problems(400, 409, 422)},
        examples=[
            OpenApiExample("Receipt", value={"slug": "receipt", "schema": SCHEMA_EXAMPLE}, request_only=True),
        ],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Create a document type with version 1 of its schema and a policy with the default rules."""
        asked = self.validated(DocumentTypeDraftSerializer, request)
        created = create_document_type(
            actor=self.actor, project=self.project, slug=asked["slug"], schema=asked["schema"]
        )
        return Response(DocumentTypeDetailSerializer(created).data, status=201)


class DocumentTypeView(ProjectView):
    """One document type."""

    @extend_schema(
        operation_id="document_types_get",
        tags=["Document types"],
        summary="Get a document type",
        responses=DocumentTypeDetailSerializer,
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return the document type with the schema in force."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        return Response(DocumentTypeDetailSerializer(document_type).data)


class SchemaVersionListView(ProjectListView):
    """The versions of a document type's schema."""

    roles: ClassVar = {"POST": Role.MANAGER}
    serializer_class = SchemaVersionSerializer

    def get_queryset(self) -> QuerySet[SchemaVersion]:
        """Return the versions."""
        if getattr(self, "swagger_fake_view", False):
            return schema_versions_of(DocumentType(pk=0))
        return schema_versions_of(access_document_type(self.project, self.kwargs["document_type"]))

    @extend_schema(
        operation_id="schema_versions_list",
        tags=["Document types"],
        summary="List schema versions",
        responses=SchemaVersionSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the versions, newest first. A document keeps the version that read it."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="schema_versions_create",
        tags=["Document types"],
        summary="Publish a schema version",
        parameters=[IDEMPOTENCY_KEY],
        request=SchemaDraftSerializer,
        responses={201: SchemaVersionSerializer, **problems(400, 409, 422)},
        examples=[OpenApiExample("Receipt", value={"schema": SCHEMA_EXAMPLE}, request_only=True)],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Publish a version and put it in force; the schema in force again adds nothing and is returned."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        asked = self.validated(SchemaDraftSerializer, request)
        version = publish_schema_version(actor=self.actor, document_type=document_type, schema=asked["schema"])
        return Response(SchemaVersionSerializer(version).data, status=201)
