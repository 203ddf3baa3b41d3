"""What the desk asks besides values: to read a part of a page again, and to keep how long it took."""

from typing import ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.regions import request_region
from review.actions.timing import record_time
from review.api.idempotency import idempotent
from review.api.openapi import IDEMPOTENCY_KEY, problems
from review.api.serializers.regions import AskRegionSerializer, RegionSerializer, ReportTimeSerializer
from review.api.views.review_tasks import TaskView
from review.models import RegionReading, Role
from review.selectors.access import access_region


class RegionListView(TaskView):
    """Asking for a region."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_read_region",
        tags=["Review"],
        summary="Have a part of a page read again",
        parameters=[IDEMPOTENCY_KEY],
        request=AskRegionSerializer,
        responses={201: RegionSerializer, **problems(400, 409, 422)},
        examples=[
            OpenApiExample(
                "A total that was missed",
                value={"page_number": 1, "bbox": [0.62, 0.71, 0.8, 0.74], "field_path": "/total"},
                request_only=True,
            )
        ],
    )
    @idempotent()
    def post(self, request: Request, **_: object) -> Response:
        """Have a part of a page read again, larger, before all that waits; you must hold the task.

        The event `region.read` tells when it is done; it takes a second or two. What nobody reads within a minute
        fails with `gave_up`.
        """
        asked = self.validated(AskRegionSerializer, request)
        region = request_region(actor=self.actor, task=self.task, **asked)
        return Response(RegionSerializer(region).data, status=201)


class RegionView(TaskView):
    """One region."""

    roles: ClassVar = {"GET": Role.REVIEWER}
    region: RegionReading

    def access(self) -> None:
        """Access the region."""
        super().access()
        self.region = access_region(self.task, self.kwargs["number"])

    @extend_schema(
        operation_id="review_tasks_region",
        tags=["Review"],
        summary="Get what was read in a part of a page",
        responses=RegionSerializer,
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return the region with what stands there, once it is read."""
        return Response(RegionSerializer(self.region).data)


class TimeView(TaskView):
    """Keeping time."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_time",
        tags=["Review"],
        summary="Report active time",
        request=ReportTimeSerializer,
        responses={204: None, **problems(400, 409)},
        examples=[
            OpenApiExample(
                "Twelve seconds, four of them on the total",
                value={
                    "client_key": "6b1f0c1e-1",
                    "entries": [{"field_path": "", "seconds": 12.4}, {"field_path": "/total", "seconds": 4.1}],
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Keep how long you actively worked, in all and by field; also right after the submit. A report counts once."""
        asked = self.validated(ReportTimeSerializer, request)
        seconds = {entry["field_path"]: entry["seconds"] for entry in asked["entries"]}
        record_time(actor=self.actor, task=self.task, client_key=asked["client_key"], seconds=seconds)
        return Response(status=204)
