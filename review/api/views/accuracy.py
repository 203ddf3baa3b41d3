"""How accurate, how automatic, how fast: read from roll-ups, so the cost does not grow with history."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.api.openapi import problems
from review.api.serializers.accuracy import AccuracyQuerySerializer, AccuracySerializer
from review.api.views.base import ProjectView
from review.models import Role
from review.selectors.accuracy import accuracy_table, rates


class AccuracyView(ProjectView):
    """Accuracy by field, type and confidence, and the rates."""

    roles: ClassVar = {"GET": Role.MANAGER}
    query_parameters = frozenset(AccuracyQuerySerializer().fields)

    @extend_schema(
        operation_id="accuracy_get",
        tags=["Accuracy"],
        summary="Get accuracy and rates",
        parameters=[AccuracyQuerySerializer],
        responses={200: AccuracySerializer, **problems(400)},
    )
    def get(self, request: Request, **_kwargs: object) -> Response:
        """Return, by type and field, the total and each confidence bucket with its interval, and the rates.

        Estimates are corrected for how likely each field was to be looked at.
        """
        query = AccuracyQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        slug = asked.get("document_type")
        document_type = self.named_document_type(slug) if slug is not None else None
        answer = {
            "population": asked["population"],
            "rows": accuracy_table(self.project, document_type=document_type, population=asked["population"]),
            "rates": rates(self.project, document_type=document_type),
        }
        return Response(AccuracySerializer(answer).data)
