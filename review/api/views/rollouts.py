"""Roll-outs: an engine version on its way to reading a document type, promoted through the gate, rolled back."""

from typing import ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.rollouts import promote_rollout, roll_back, start_rollout
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.rollouts import (
    RollBackSerializer,
    RolloutDetailSerializer,
    RolloutDraftSerializer,
    RolloutSerializer,
)
from review.api.views.base import ProjectListView, ProjectView
from review.exceptions import ConflictError, InvalidInputError, NotFoundError
from review.models import DocumentType, EngineVersion, Role, Rollout
from review.selectors.access import access_document_type
from review.selectors.engines import access_engine_version
from review.selectors.rollout_figures import rollout_detail
from review.selectors.rollouts import access_rollout, champion_of, rollouts_of, versions_to_roll_out


class RolloutListView(ProjectListView):
    """The roll-outs of a document type."""

    roles: ClassVar = {"GET": Role.MANAGER, "POST": Role.MANAGER}
    serializer_class = RolloutSerializer

    def get_queryset(self) -> QuerySet[Rollout]:
        """Return the roll-outs."""
        if getattr(self, "swagger_fake_view", False):
            return rollouts_of(DocumentType(pk=0))
        return rollouts_of(access_document_type(self.project, self.kwargs["document_type"]))

    @extend_schema(
        operation_id="rollouts_list",
        tags=["Roll-outs"],
        summary="List roll-outs",
        responses=RolloutSerializer(many=True),
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the roll-outs, newest first; at most one is live and one on its way."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="rollouts_create",
        tags=["Roll-outs"],
        summary="Start a roll-out",
        parameters=[IDEMPOTENCY_KEY],
        request=RolloutDraftSerializer,
        responses={201: RolloutSerializer, **problems(400, 409, 422)},
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Let a version read a share of the documents beside who reads now, off the record; both are compared."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        asked = self.validated(RolloutDraftSerializer, request)
        version = _version(document_type, asked.pop("engine_version"))
        rollout = start_rollout(actor=self.actor, document_type=document_type, engine_version=version, **asked)
        return Response(RolloutSerializer(rollout).data, status=201)


def _version(document_type: DocumentType, reference: str) -> EngineVersion:
    """Return the version that is meant, of those that could be tried on the type; others are as if unknown."""
    try:
        version = access_engine_version(reference)
    except (NotFoundError, ConflictError):
        version = None
    if version is None or version not in versions_to_roll_out(document_type, champion_of(document_type)):
        message = _("There is no such version for this type, or it reads already. Give its id or more of its digest.")
        raise InvalidInputError.at("/engine_version", message)
    return version


class RolloutView(ProjectView):
    """One roll-out."""

    roles: ClassVar = {"GET": Role.MANAGER}

    @extend_schema(
        operation_id="rollouts_get", tags=["Roll-outs"], summary="Get a roll-out", responses=RolloutDetailSerializer
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return its stage, what it has shown field by field, and whether the gate lets it go on."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        rollout = access_rollout(document_type, self.kwargs["id"])
        return Response(RolloutDetailSerializer(rollout_detail(rollout)).data)


class PromotionView(ProjectView):
    """A roll-out's next stage."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="rollouts_promote",
        tags=["Roll-outs"],
        summary="Promote a roll-out",
        request=None,
        responses={200: RolloutSerializer, **problems(409)},
    )
    def post(self, request: Request, **_: object) -> Response:
        """Take it from shadow to canary, or from canary to live. 409 with the reason where the gate is shut."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        rollout = access_rollout(document_type, self.kwargs["id"])
        return Response(RolloutSerializer(promote_rollout(actor=self.actor, rollout=rollout)).data)


class RollBackView(ProjectView):
    """The end of a roll-out."""

    roles: ClassVar = {"POST": Role.MANAGER}

    @extend_schema(
        operation_id="rollouts_roll_back",
        tags=["Roll-outs"],
        summary="Roll back",
        request=RollBackSerializer,
        responses={200: RolloutSerializer, **problems(400, 409, 422)},
    )
    def post(self, request: Request, **_: object) -> Response:
        """End it at whatever stage; who was live before it is live again. Records stay as they are."""
        document_type = access_document_type(self.project, self.kwargs["document_type"])
        rollout = access_rollout(document_type, self.kwargs["id"])
        asked = self.validated(RollBackSerializer, request)
        return Response(RolloutSerializer(roll_back(actor=self.actor, rollout=rollout, reason=asked["reason"])).data)
