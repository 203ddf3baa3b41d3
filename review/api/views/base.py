"""What every view of the API shares: who acts, which project, with which role, and lists."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from rest_framework.generics import GenericAPIView
from rest_framework.pagination import BasePagination
from rest_framework.parsers import BaseParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from review.api.filters import StrictFilterBackend, refuse_unknown
from review.api.pagination import NewestFirstPagination
from review.api.parsers import StrictJSONParser
from review.exceptions import InvalidInputError, NotFoundError
from review.models import ApiToken, DocumentType, Project, Role, User
from review.selectors.access import Actor, access_document_type, access_project, is_manager


class ApiView(GenericAPIView[Any]):
    """A view for a signed-in user or a program with a token; takes and gives JSON."""

    metadata_class = None  # OPTIONS is answered by the schema, not view by view
    parser_classes: Sequence[type[BaseParser]] = (StrictJSONParser,)
    pagination_class: type[BasePagination] | None = None
    filter_backends: Sequence[type[Any]] = ()
    max_body_bytes: ClassVar[int | None] = None
    query_parameters: ClassVar[frozenset[str]] = frozenset()

    @property
    def actor(self) -> Actor:
        """Who acts in this request."""
        return Actor(cast("User", self.request.user), cast("ApiToken | None", self.request.auth))

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Authenticate, refuse a body that is too large before it is parsed, then see to access."""
        super().initial(request, *args, **kwargs)
        _refuse_oversized(request, self.max_body_bytes or settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        self.access()
        if not (self.filter_backends and request.method in SAFE_METHODS):
            refuse_unknown(request, self.query_parameters)

    def access(self) -> None:
        """Fetch what the path names through the access door; raises what the door raises."""

    def validated(self, serializer_class: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
        """Return the body's members as the serializer cleans them; raise DRF's ValidationError."""
        serializer = serializer_class(data=request.data, context=self.get_serializer_context())
        serializer.is_valid(raise_exception=True)
        return cast("dict[str, Any]", serializer.validated_data)


class ProjectView(ApiView):
    """A view within a project. `roles` names the smallest role by method; reading needs a viewer."""

    roles: ClassVar[Mapping[str, Role]] = {}
    _accessed: Project | None = None

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        undeclared = [name for name in ("post", "patch", "put", "delete") if hasattr(cls, name)]
        undeclared = [name for name in undeclared if name.upper() not in cls.roles]
        if undeclared:
            raise TypeError(f"{cls.__name__} must declare the role that {', '.join(undeclared)} needs")

    @property
    def required_role(self) -> Role:
        """The smallest role that may do this; a method that is not offered ends in 405 whatever the role."""
        method = self.request.method or "GET"
        return self.roles.get("GET" if method in SAFE_METHODS else method, Role.VIEWER)

    @property
    def slug(self) -> str:
        """The project's slug in the path."""
        return str(self.kwargs["project"])

    @property
    def project(self) -> Project:
        """The accessed project; while the schema is made, a project with nothing in it."""
        if self._accessed is None:
            if getattr(self, "swagger_fake_view", False):
                return Project(pk=0)
            raise RuntimeError("the project was not accessed")
        return self._accessed

    @property
    def is_manager(self) -> bool:
        """Whether the caller may do what managers may; nobody may while the schema is made."""
        return self._accessed is not None and is_manager(self.actor, self._accessed)

    def access(self) -> None:
        """Access the project."""
        self._accessed = access_project(self.actor, self.slug, self.required_role)

    def named_document_type(self, slug: str) -> DocumentType:
        """Return the document type that a body names; raise InvalidInputError at /document_type when there is none."""
        try:
            return access_document_type(self.project, slug)
        except NotFoundError:
            message = _("This project has no document type of this name.")
            raise InvalidInputError.at("/document_type", message) from None


class ProjectListView(ProjectView):
    """A view with a list: filtered, paged by keyset."""

    pagination_class = NewestFirstPagination
    filter_backends = (StrictFilterBackend,)

    def listed(self, queryset: QuerySet[Any]) -> Response:
        """Answer one page of the queryset."""
        page = self.paginate_queryset(self.filter_queryset(queryset))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


def _refuse_oversized(request: Request, limit: int) -> None:
    text = request.META.get("CONTENT_LENGTH") or ""
    if not text and request.headers.get("Transfer-Encoding"):
        raise InvalidInputError(_("Send the length of the body (Content-Length)."), code="length_required")
    if text.isdecimal() and int(text[:19]) > limit:
        message = _("The request's body is too large; at most %(n)s bytes are taken here.") % {"n": limit}
        raise InvalidInputError(message, code="body_too_large")
