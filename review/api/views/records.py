"""Records: what other programs collect."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.api.filters import RecordFilter
from review.api.openapi import problems
from review.api.serializers.records import ListedRecordSerializer
from review.api.views.base import ProjectListView, ProjectView
from review.models import Record
from review.selectors.access import access_record
from review.selectors.blindness import mark_withheld
from review.selectors.records import records_for

RECORD_EXAMPLE: dict[str, Any] = {
    "id": 12,
    "document": 17,
    "revision": 1,
    "is_current": True,
    "values": {"/date": "2018-12-25", "/total": "9.00"},
    "provenance": {
        "/date": {"source": "model", "engine_version": "5d41402abc4b2a76", "policy": 1, "confidence": 0.97},
        "/total": {"source": "person", "reviewer": "rui", "verdict": "corrected", "task": 4},
    },
    "reviewer": "rui",
    "created_at": "2026-11-29T08:02:10Z",
    "document_type": "receipt",
    "filename": "receipt.jpg",
    "status": "stored",
    "band": "review",
}


class RecordListView(ProjectListView):
    """The current records of a project."""

    serializer_class = ListedRecordSerializer
    filterset_class = RecordFilter

    def get_queryset(self) -> QuerySet[Record]:
        """Return the records."""
        records = records_for(self.project)
        is_asked = not getattr(self, "swagger_fake_view", False)
        return mark_withheld(records, self.actor.user) if is_asked else records

    @extend_schema(
        operation_id="records_list",
        tags=["Records"],
        summary="List records",
        responses={(200, "application/json"): ListedRecordSerializer(many=True), **problems(400)},
        examples=[OpenApiExample("A reviewed receipt", value=RECORD_EXAMPLE, response_only=True)],
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the records in force, newest first; follow `next` until it is null.

        What people said of a document that you may still be asked about is left out: `is_withheld`. A program that
        collects records has the token of a manager, or of somebody who only reads.
        """
        return self.listed(self.get_queryset())


class RecordView(ProjectView):
    """One revision of a record."""

    record: Record

    def access(self) -> None:
        """Access the record."""
        self.record = access_record(self.actor, self.slug, self.kwargs["id"])

    @extend_schema(
        operation_id="records_get",
        tags=["Records"],
        summary="Get a record",
        responses=ListedRecordSerializer,
        examples=[OpenApiExample("A reviewed receipt", value=RECORD_EXAMPLE, response_only=True)],
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return one revision, in force (`is_current`) or replaced by a later one."""
        return Response(ListedRecordSerializer(self.record).data)
