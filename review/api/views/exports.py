"""Exports: asked for, watched, cancelled, downloaded."""

from typing import ClassVar

from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.exports import cancel_export, request_export
from review.api.files import AnyFormat, file_response
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.exports import ExportOrderSerializer, ExportSerializer
from review.api.views.base import ApiView, ProjectListView, ProjectView
from review.models import DatasetExport, Role
from review.selectors.access import access_export
from review.selectors.exports import export_for_download, exports_for

MEDIA_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "zip": "application/zip",
    "tar": "application/x-tar",
}


class ExportListView(ProjectListView):
    """The exports of a project."""

    roles: ClassVar = {"GET": Role.MANAGER, "POST": Role.MANAGER}
    serializer_class = ExportSerializer

    def get_queryset(self) -> QuerySet[DatasetExport]:
        """Return the exports."""
        return exports_for(self.project)

    @extend_schema(
        operation_id="exports_list", tags=["Exports"], summary="List exports", responses=ExportSerializer(many=True)
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the exports, newest first."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="exports_create",
        tags=["Exports"],
        summary="Ask for an export",
        parameters=[IDEMPOTENCY_KEY],
        request=ExportOrderSerializer,
        responses={201: ExportSerializer, **problems(400, 409, 422)},
        examples=[
            OpenApiExample("Everything", value={"format": "jsonl"}, request_only=True),
            OpenApiExample(
                "Since the last one", value={"format": "csv", "since": "2026-11-01T00:00:00Z"}, request_only=True
            ),
        ],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Queue an export of the records as they stand now; it is written in the background. Poll it by its `id`."""
        asked = self.validated(ExportOrderSerializer, request)
        export = request_export(actor=self.actor, project=self.project, format=asked["format"], since=asked["since"])
        return Response(ExportSerializer(export, context=self.get_serializer_context()).data, status=201)


class ExportView(ProjectView):
    """One export."""

    roles: ClassVar = {"GET": Role.MANAGER, "DELETE": Role.MANAGER}
    export: DatasetExport

    def access(self) -> None:
        """Access the export, which is the managers' from the door on."""
        self.export = access_export(self.actor, self.slug, self.kwargs["id"])

    @extend_schema(operation_id="exports_get", tags=["Exports"], summary="Get an export", responses=ExportSerializer)
    def get(self, request: Request, **_: object) -> Response:
        """Return how far the export is, and once it is done a link to its file."""
        return Response(ExportSerializer(self.export, context=self.get_serializer_context()).data)

    @extend_schema(
        operation_id="exports_cancel",
        tags=["Exports"],
        summary="Cancel an export",
        responses={204: None, **problems(409)},
    )
    def delete(self, request: Request, **_: object) -> Response:
        """Stop an export that is not finished; cancelling twice is cancelling once. 409 when it is finished."""
        cancel_export(actor=self.actor, export=self.export)
        return Response(status=204)


class ExportDownloadView(ApiView):
    """The file behind a signed link: the signature is the credential."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="exports_download",
        tags=["Exports"],
        summary="Download an export",
        responses={
            (200, "*/*"): OpenApiTypes.BINARY,
            304: OpenApiResponse(description="You have it: the ETag of If-None-Match is the current one."),
            **problems(404),
        },
    )
    def get(self, request: Request, **_: object) -> HttpResponseBase:
        """Return the file; 404 when the link is false or has expired."""
        export = export_for_download(str(self.kwargs["token"]))
        filename = f"{export.project.slug}-{export.snapshot_at:%Y%m%d-%H%M%S}.{export.extension}"
        return file_response(
            request,
            export.file,
            etag=export.sha256,
            media_type=MEDIA_TYPES.get(export.extension, "application/octet-stream"),
            filename=filename,
            is_attachment=True,
        )
