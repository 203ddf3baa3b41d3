"""Documents: sending, listing, and everything that is known of one."""

from typing import Any, ClassVar

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.document_types import change_document_type
from review.actions.intake import parse_predictions, receive_document
from review.actions.reading import rerun_document
from review.api.filters import DocumentFilter
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.parsers import UploadParser
from review.api.serializers.documents import (
    DocumentDetailSerializer,
    DocumentSerializer,
    ReceivedSerializer,
    RerunSerializer,
    TypeSerializer,
    UploadSerializer,
)
from review.api.serializers.records import RecordSerializer
from review.api.views.base import ProjectListView, ProjectView
from review.models import Document, Record, Role
from review.selectors.access import access_document, access_document_in_hand
from review.selectors.blindness import mark_withheld
from review.selectors.documents import document_detail, documents_for
from review.selectors.records import record_history
from review.selectors.workers import worker_summary

# What a form adds to its file: boundaries, names, the other members.
FORM_BYTES = 1_000_000

STORED_EXAMPLE: dict[str, Any] = {
    "id": 17,
    "document_type": "receipt",
    "filename": "receipt.jpg",
    "media_type": "image/jpeg",
    "n_bytes": 81234,
    "sha256": "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea",
    "status": "stored",
    "band": "auto",
    "reasons": [],
    "priority": 0,
    "n_pages": 1,
    "n_pages_read": 1,
    "duplicate_of": None,
    "suggestion": None,
    "received_at": "2026-11-29T08:00:00Z",
    "finished_at": "2026-11-29T08:00:04Z",
}


class DocumentListView(ProjectListView):
    """The documents of a project."""

    roles: ClassVar = {"POST": Role.REVIEWER}
    serializer_class = DocumentSerializer
    filterset_class = DocumentFilter
    parser_classes = (UploadParser,)

    @property
    def max_body_bytes(self) -> int:  # type: ignore[override]
        """A file of the largest size and the form around it."""
        return settings.STET_MAX_BYTES + FORM_BYTES

    def get_queryset(self) -> QuerySet[Document]:
        """Return the documents."""
        return documents_for(self.project)

    def get_serializer_context(self) -> dict[str, Any]:
        """Add what each row would otherwise ask for."""
        context = super().get_serializer_context()
        workers = None if getattr(self, "swagger_fake_view", False) else worker_summary()
        return {**context, "workers": workers, "project": self.kwargs.get("project")}

    @extend_schema(
        operation_id="documents_list",
        tags=["Documents"],
        summary="List documents",
        responses={(200, "application/json"): DocumentSerializer(many=True), **problems(400)},
        examples=[OpenApiExample("A stored receipt", value=STORED_EXAMPLE, response_only=True)],
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the documents, newest first."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="documents_create",
        tags=["Documents"],
        summary="Send a document",
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": UploadSerializer},
        responses={201: ReceivedSerializer, **problems(400, 409, 413, 415, 422, 507)},
        examples=[
            OpenApiExample(
                "Just received",
                value=STORED_EXAMPLE
                | {"status": "received", "band": None, "n_pages": 0, "n_pages_read": 0, "finished_at": None}
                | {"is_duplicate": False},
                response_only=True,
                status_codes=["201"],
            )
        ],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Send one file; it is kept as it is and read in the background. Poll the document by its `id`.

        A file that cannot be accepted is refused: 413 when it is too large, 415 when it is of no known kind, 422 when
        it is empty, damaged, encrypted or has too many pages or pixels (`code` says which); 507 when there is no room.
        """
        asked = self.validated(UploadSerializer, request)
        document_type = self.named_document_type(asked["document_type"])
        predictions = asked["predictions"]
        received = receive_document(
            actor=self.actor,
            project=self.project,
            document_type=document_type,
            file=asked["file"],
            filename=asked["file"].name or "",
            priority=asked["priority"],
            predictions=parse_predictions(predictions, document_type) if predictions else None,
        )
        return Response(ReceivedSerializer(received.document, context=self.get_serializer_context()).data, status=201)


class DocumentView(ProjectView):
    """One document, accessed as `document`."""

    document: Document

    def access(self) -> None:
        """Access the document and its project."""
        self.document = access_document(self.actor, self.slug, self.kwargs["id"], self.required_role)
        self._accessed = self.document.project


class DocumentDetailView(DocumentView):
    """Everything that is known of a document."""

    @extend_schema(
        operation_id="documents_get",
        tags=["Documents"],
        summary="Get a document",
        responses=DocumentDetailSerializer,
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return status, band, reasons, pages, fields with evidence and provenance, and the record where there is one.

        `status` is received, processing, waiting (no worker is there, or no language model), review, stored or
        unreadable. To a reviewer who may still be asked about the document, what others said of it is not told:
        `is_withheld`.
        """
        context = {**self.get_serializer_context(), "project": self.slug}
        return Response(DocumentDetailSerializer(document_detail(self.document, self.actor.user), context=context).data)


class RerunView(DocumentView):
    """Reading a document again."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="documents_rerun",
        tags=["Documents"],
        summary="Read a document again",
        parameters=[IDEMPOTENCY_KEY],
        request=RerunSerializer,
        responses={202: DocumentSerializer, **problems(400, 409, 422)},
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Read the document again in the background, under the document type and policy now in force.

        What a person confirmed is never touched. 409 while the document is being read or cannot be read again, and
        for a document that a reviewer marked as unusable, unless `reopen` is true.
        """
        asked = self.validated(RerunSerializer, request)
        document = rerun_document(actor=self.actor, document=self.document, is_reopening=asked["reopen"])
        return Response(DocumentSerializer(document).data, status=202)


class TypeView(DocumentView):
    """Which type a document is of."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    def access(self) -> None:
        """Access the document: any as a manager, the one in hand as a reviewer."""
        self.document = access_document_in_hand(self.actor, self.slug, self.kwargs["id"])
        self._accessed = self.document.project

    @extend_schema(
        operation_id="documents_change_type",
        tags=["Documents"],
        summary="Say what a document is",
        parameters=[IDEMPOTENCY_KEY],
        request=TypeSerializer,
        responses={202: DocumentSerializer, **problems(400, 409, 422)},
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Move the document to a type and read it again under that; to name its own type takes the suggestion away.

        For managers, and for the reviewer who holds its task. 409 while it is being read or another person has begun
        on it, for a document with confirmed values (`confirmed`: nothing of them is changed), and where the project has
        the same file as that type already (`same_file_there`).
        """
        document_type = self.named_document_type(self.validated(TypeSerializer, request)["document_type"])
        document = change_document_type(actor=self.actor, document=self.document, document_type=document_type)
        return Response(DocumentSerializer(document).data, status=202)


class DocumentRecordsView(DocumentView, ProjectListView):
    """How a document's record came about."""

    serializer_class = RecordSerializer

    def get_queryset(self) -> QuerySet[Record]:
        """Return the revisions."""
        if getattr(self, "swagger_fake_view", False):
            return record_history(Document(pk=0))
        return mark_withheld(record_history(self.document), self.actor.user)

    @extend_schema(
        operation_id="documents_records_list",
        tags=["Documents"],
        summary="List the revisions of a document's record",
        responses=RecordSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List every revision, newest first; one of them is current, or none before there is a record."""
        return self.listed(self.get_queryset())
