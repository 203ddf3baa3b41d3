"""What lists may be filtered by. An unknown parameter is refused: a typo must not silently return everything."""

from collections.abc import Set
from datetime import UTC, datetime
from typing import Any

import django_filters
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from review.models import Document, DocumentStatus, Record, ReviewTask
from review.models.documents import BAND_CHOICES
from review.selectors.document_types import document_types_for
from review.selectors.documents import filter_by_status

_OF_EVERY_LIST = frozenset({"cursor", "page_size"})
# Beyond these, moving a moment to UTC may leave the years that exist.
_MOMENTS = (MinValueValidator(datetime(1900, 1, 1, tzinfo=UTC)), MaxValueValidator(datetime(9998, 1, 1, tzinfo=UTC)))


def refuse_unknown(request: Request, known: Set[str]) -> None:
    """Raise ValidationError for each query parameter that is not among the known: a typo must not pass silently."""
    unknown = sorted(set(request.query_params) - known)
    if unknown:
        raise ValidationError({name: [_("There is no such parameter.")] for name in unknown})


class StrictFilterBackend(DjangoFilterBackend):
    """django-filter's backend, strict about names."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        """Return the filtered queryset; raise ValidationError for unknown parameters and bad values."""
        filterset_class = self.get_filterset_class(view, queryset)
        known = _OF_EVERY_LIST | set(filterset_class.base_filters if filterset_class is not None else ())
        refuse_unknown(request, known)
        filtered: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return filtered


class TypeFilter(django_filters.CharFilter):
    """Keeps what is of a document type; one that the project does not have is refused, as any typo is."""

    def __init__(self, field_name: str, help_text: str = "The slug of a document type.") -> None:
        super().__init__(field_name=field_name, max_length=50, help_text=help_text)

    @property
    def parameter(self) -> str:
        """The query parameter that the type stands in."""
        return str(next(name for name, one in self.parent.filters.items() if one is self))

    def filter(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        """Return what is of the type; raise ValidationError where there is no such type."""
        if value:
            project = self.parent.request.parser_context["view"].project
            if not document_types_for(project).filter(slug=value).exists():
                raise ValidationError({self.parameter: [_("This project has no document type of this name.")]})
        filtered: QuerySet[Any] = super().filter(queryset, value)
        return filtered


class DocumentFilter(django_filters.FilterSet):
    """Filters of the document list."""

    status = django_filters.ChoiceFilter(
        method="with_status", choices=DocumentStatus.choices, help_text="The status as shown."
    )
    band = django_filters.ChoiceFilter(field_name="band", choices=BAND_CHOICES)
    document_type = TypeFilter("document_type__slug")
    suggested_type = TypeFilter("suggested_type__slug", "The slug of another type that the first page looks like.")
    received_after = django_filters.IsoDateTimeFilter(
        field_name="received_at", lookup_expr="gte", validators=_MOMENTS, help_text="From this moment on."
    )
    received_before = django_filters.IsoDateTimeFilter(
        field_name="received_at", lookup_expr="lt", validators=_MOMENTS, help_text="Before this moment."
    )
    filename = django_filters.CharFilter(
        field_name="filename", lookup_expr="istartswith", max_length=255, help_text="How the file name begins."
    )
    sha256 = django_filters.CharFilter(
        field_name="sha256", max_length=64, help_text="The content's hash: was this file sent before?"
    )

    class Meta:
        model = Document
        fields: list[str] = []

    def with_status(self, queryset: QuerySet[Document], name: str, value: str) -> QuerySet[Document]:  # noqa: ARG002
        """Filter by the shown status, which knows "waiting"."""
        return filter_by_status(queryset, value)


class RecordFilter(django_filters.FilterSet):
    """Filters of the record list."""

    document_type = TypeFilter("document__document_type__slug")
    band = django_filters.ChoiceFilter(field_name="document__band", choices=BAND_CHOICES)
    status = django_filters.ChoiceFilter(
        field_name="document__status",
        choices=[choice for choice in DocumentStatus.choices if choice[0] != DocumentStatus.WAITING],
        help_text="The document's status; while a stored document is read again it has another one for a while.",
    )
    created_after = django_filters.IsoDateTimeFilter(
        field_name="created_at", lookup_expr="gte", validators=_MOMENTS, help_text="From this moment on."
    )
    created_before = django_filters.IsoDateTimeFilter(
        field_name="created_at", lookup_expr="lt", validators=_MOMENTS, help_text="Before this moment."
    )
    reviewer = django_filters.CharFilter(
        field_name="reviewer__username", max_length=150, help_text="The user name of whoever submitted it."
    )

    class Meta:
        model = Record
        fields: list[str] = []


class ReviewTaskFilter(django_filters.FilterSet):
    """Filters of the review queue."""

    document_type = TypeFilter("document_type__slug")

    class Meta:
        model = ReviewTask
        fields: list[str] = []
