"""API tokens, for administrators of the project."""

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.tenancy import create_token, revoke_token
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.tokens import NewTokenSerializer, TokenDraftSerializer, TokenSerializer
from review.api.views.base import ProjectListView, ProjectView
from review.models import ApiToken, Role
from review.selectors.members import access_token, member_named
from review.selectors.tokens import tokens_for


class TokenListView(ProjectListView):
    """The tokens of a project."""

    roles: ClassVar = {"GET": Role.ADMIN, "POST": Role.ADMIN}
    serializer_class = TokenSerializer

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the tokens."""
        return tokens_for(self.project)

    @extend_schema(
        operation_id="tokens_list", tags=["Tokens"], summary="List API tokens", responses=TokenSerializer(many=True)
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the tokens, revoked ones included; secrets are kept nowhere."""
        return self.listed(self.get_queryset())

    @extend_schema(
        operation_id="tokens_create",
        tags=["Tokens"],
        summary="Make an API token",
        parameters=[IDEMPOTENCY_KEY],
        request=TokenDraftSerializer,
        responses={201: NewTokenSerializer, **problems(400, 409, 422)},
        examples=[
            OpenApiExample(
                "A scanner that uploads",
                value={"username": "scanner", "role": "reviewer", "name": "Scanner on the ground floor"},
                request_only=True,
            )
        ],
    )
    @idempotent("secret")
    def post(self, request: Request, **_: object) -> Response:
        """Make a token that acts as a member of the project, with that member's role or a smaller one."""
        asked = self.validated(TokenDraftSerializer, request)
        new = create_token(
            actor=self.actor,
            project=self.project,
            user=member_named(self.project, asked["username"]),
            role=Role(asked["role"]),
            name=asked["name"],
            expires_at=asked["expires_at"],
        )
        return Response(NewTokenSerializer(new).data, status=201)


class TokenView(ProjectView):
    """One token."""

    roles: ClassVar = {"DELETE": Role.ADMIN}

    @extend_schema(operation_id="tokens_revoke", tags=["Tokens"], summary="Revoke an API token", responses={204: None})
    def delete(self, request: Request, **_: object) -> Response:
        """Revoke the token for good; revoking it again changes nothing."""
        revoke_token(actor=self.actor, token=access_token(self.project, self.kwargs["id"]))
        return Response(status=204)
