"""Trainings: started, watched, cancelled."""

from typing import ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.training import cancel_training, request_training
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.learning import TrainingRequestSerializer, TrainingRunSerializer
from review.api.views.base import ProjectListView, ProjectView
from review.exceptions import InvalidInputError
from review.models import ModelKind, Role, TrainingRun
from review.selectors.training import access_training_run, training_runs_for


class TrainingRunListView(ProjectListView):
    """The trainings of a project."""

    roles: ClassVar = {"GET": Role.MANAGER, "POST": Role.MANAGER}
    serializer_class = TrainingRunSerializer

    def get_queryset(self) -> QuerySet[TrainingRun]:
        """Return the trainings."""
        return training_runs_for(self.project).select_related("requested_by")

    @extend_schema(
        operation_id="training_runs_list",
        tags=["Learning"],
        summary="List trainings",
        responses=TrainingRunSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the trainings, newest first."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="training_runs_create",
        tags=["Learning"],
        summary="Start a training",
        parameters=[IDEMPOTENCY_KEY],
        request=TrainingRequestSerializer,
        responses={201: TrainingRunSerializer, **problems(400, 409, 422)},
        examples=[
            OpenApiExample("A calibrator", value={"kind": "calibrator", "document_type": "receipt"}, request_only=True)
        ],
    )
    @idempotent()
    def post(self, request: Request, **__: object) -> Response:
        """Queue a training; what comes of it reads nothing before it is rolled out."""
        asked = self.validated(TrainingRequestSerializer, request)
        kind, slug = ModelKind(asked["kind"]), asked.get("document_type")
        if (slug is None) != (kind == ModelKind.CLASSIFIER):
            message = _("A locator and a calibrator are of one document type, a classifier of all: leave it out there.")
            raise InvalidInputError.at("/document_type", message)
        document_type = self.named_document_type(slug) if slug is not None else None
        run = request_training(
            actor=self.actor, project=self.project, document_type=document_type, kind=kind, seed=asked["seed"]
        )
        return Response(TrainingRunSerializer(run).data, status=201)


class TrainingCancelView(ProjectView):
    """Stopping a training."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="training_runs_cancel",
        tags=["Learning"],
        summary="Cancel a training",
        request=None,
        responses={200: TrainingRunSerializer, **problems(409)},
    )
    def post(self, request: Request, **_: object) -> Response:
        """Stop a training that is not finished; doing so twice is as doing so once."""
        run = access_training_run(self.project, self.kwargs["id"])
        return Response(TrainingRunSerializer(cancel_training(actor=self.actor, run=run)).data)
