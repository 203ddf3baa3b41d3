"""Snapshots: taken, watched, cancelled, and written for trainers."""

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.exports import request_snapshot_export
from review.actions.snapshots import cancel_snapshot, request_snapshot
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.exports import ExportSerializer
from review.api.serializers.snapshots import (
    SnapshotDetailSerializer,
    SnapshotExportOrderSerializer,
    SnapshotOrderSerializer,
    SnapshotSerializer,
)
from review.api.views.base import ProjectListView, ProjectView
from review.models import DatasetExport, Role, Snapshot
from review.selectors.access import access_snapshot
from review.selectors.snapshots import exports_of, snapshots_for


class SnapshotListView(ProjectListView):
    """The snapshots of a project."""

    roles: ClassVar = {"GET": Role.MANAGER, "POST": Role.MANAGER}
    serializer_class = SnapshotSerializer

    def get_queryset(self) -> QuerySet[Snapshot]:
        """Return the snapshots."""
        return snapshots_for(self.project)

    @extend_schema(
        operation_id="snapshots_list",
        tags=["Data sets"],
        summary="List snapshots",
        responses=SnapshotSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the snapshots, newest first."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="snapshots_create",
        tags=["Data sets"],
        summary="Take a snapshot",
        parameters=[IDEMPOTENCY_KEY],
        request=SnapshotOrderSerializer,
        responses={201: SnapshotSerializer, **problems(400, 409, 422)},
        examples=[
            OpenApiExample("To train on", value={"holding": "reviewed", "seed": "2026"}, request_only=True),
        ],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Freeze the records as they stand now, split by group; taken in the background. Poll it by its `id`."""
        asked = self.validated(SnapshotOrderSerializer, request)
        snapshot = request_snapshot(actor=self.actor, project=self.project, **asked)
        return Response(SnapshotSerializer(snapshot, context=self.get_serializer_context()).data, status=201)


class OneSnapshotView(ProjectView):
    """One snapshot, accessed as `snapshot`."""

    snapshot: Snapshot

    def access(self) -> None:
        """Access the snapshot, which is the managers' from the door on."""
        self.snapshot = access_snapshot(self.actor, self.slug, self.kwargs["id"])
        self._accessed = self.snapshot.project


class SnapshotView(OneSnapshotView):
    """What a snapshot holds."""

    roles: ClassVar = {"GET": Role.MANAGER, "DELETE": Role.MANAGER}

    @extend_schema(
        operation_id="snapshots_get",
        tags=["Data sets"],
        summary="Get a snapshot",
        responses=SnapshotDetailSerializer,
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return how far the snapshot is, and once it is taken its manifest."""
        return Response(SnapshotDetailSerializer(self.snapshot, context=self.get_serializer_context()).data)

    @extend_schema(
        operation_id="snapshots_cancel",
        tags=["Data sets"],
        summary="Cancel a snapshot",
        responses={204: None, **problems(409)},
    )
    def delete(self, request: Request, **_: object) -> Response:
        """Stop a snapshot that is not taken; cancelling twice is cancelling once. 409 when it is: it is frozen."""
        cancel_snapshot(actor=self.actor, snapshot=self.snapshot)
        return Response(status=204)


class SnapshotExportListView(OneSnapshotView, ProjectListView):
    """The archives written of a snapshot."""

    roles: ClassVar = {"GET": Role.MANAGER, "POST": Role.MANAGER}
    serializer_class = ExportSerializer

    def get_queryset(self) -> QuerySet[DatasetExport]:
        """Return the archives."""
        if getattr(self, "swagger_fake_view", False):
            return exports_of(Snapshot(pk=0))
        return exports_of(self.snapshot)

    @extend_schema(
        operation_id="snapshot_exports_list",
        tags=["Data sets"],
        summary="List the archives of a snapshot",
        responses=ExportSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List what was written of the snapshot, newest first, each with its checksum and a link."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="snapshot_exports_create",
        tags=["Data sets"],
        summary="Write a snapshot for a trainer",
        parameters=[IDEMPOTENCY_KEY],
        request=SnapshotExportOrderSerializer,
        responses={201: ExportSerializer, **problems(400, 409, 422)},
        examples=[OpenApiExample("For LLaMA-Factory", value={"format": "llamafactory"}, request_only=True)],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Queue an archive of the snapshot; it is an export like others: poll it there by its `id`."""
        asked = self.validated(SnapshotExportOrderSerializer, request)
        export = request_snapshot_export(actor=self.actor, snapshot=self.snapshot, **asked)
        return Response(ExportSerializer(export, context=self.get_serializer_context()).data, status=201)
