"""Working on a task that one holds. Every operation carries the `lease_token` that proves it."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.leasing import release_task, release_task_for_manager, renew_lease
from review.actions.saving import save_field
from review.actions.submitting import FieldVerdict, mark_unusable, skip_task, submit_task
from review.api.openapi import problems
from review.api.serializers.records import RecordSerializer
from review.api.serializers.review_tasks import (
    EditSerializer,
    HeldSerializer,
    LeaseSerializer,
    ReasonedSerializer,
    ReleaseSerializer,
    SaveSerializer,
    SubmitSerializer,
)
from review.api.views.review_tasks import TaskView
from review.models import Role
from review.selectors.access import access_review_task

TOKEN = "9f86d081884c7d659a2feaa0c55ad015"  # noqa: S105 - an example
SAVE_EXAMPLE: dict[str, Any] = {
    "lease_token": TOKEN,
    "field_path": "/total",
    "verdict": "corrected",
    "value": "9.00",
    "base_version": 0,
}


class HeartbeatView(TaskView):
    """Staying the holder."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_heartbeat",
        tags=["Review"],
        summary="Renew a lease",
        request=HeldSerializer,
        responses={200: LeaseSerializer, **problems(400, 409)},
        examples=[OpenApiExample("Renew", value={"lease_token": TOKEN}, request_only=True)],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Renew the lease, also a lapsed one that nobody took over; 409 `lease_lost` otherwise."""
        asked = self.validated(HeldSerializer, request)
        return Response(
            LeaseSerializer(renew_lease(actor=self.actor, task=self.task, lease_token=asked["lease_token"])).data
        )


class ReleaseView(TaskView):
    """Giving a task back."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_release",
        tags=["Review"],
        summary="Give a task back",
        request=ReleaseSerializer,
        responses={204: None, **problems(400, 409)},
        examples=[
            OpenApiExample("Mine", value={"lease_token": TOKEN}, request_only=True),
            OpenApiExample("As a manager, whoever holds it", value={}, request_only=True),
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Give the task back to the queue; what was saved in it stays. Without a token: a manager frees it."""
        token = self.validated(ReleaseSerializer, request)["lease_token"]
        if token is None:
            task = access_review_task(self.actor, self.slug, self.task.pk, Role.MANAGER)
            release_task_for_manager(actor=self.actor, task=task)
        else:
            release_task(actor=self.actor, task=self.task, lease_token=token)
        return Response(status=204)


class SkipView(TaskView):
    """Passing a task on."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_skip",
        tags=["Review"],
        summary="Skip a task",
        request=ReasonedSerializer,
        responses={204: None, **problems(400, 409)},
        examples=[
            OpenApiExample("Skip", value={"lease_token": TOKEN, "reason": "I cannot read Thai."}, request_only=True)
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Pass the task on to others, with a reason; you are not offered it again."""
        asked = self.validated(ReasonedSerializer, request)
        skip_task(actor=self.actor, task=self.task, lease_token=asked["lease_token"], reason=asked["reason"])
        return Response(status=204)


class UnusableView(TaskView):
    """Giving a document up."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_unusable",
        tags=["Review"],
        summary="Mark a document unusable",
        request=ReasonedSerializer,
        responses={204: None, **problems(400, 409)},
        examples=[
            OpenApiExample("A blank page", value={"lease_token": TOKEN, "reason": "Blank page."}, request_only=True)
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Finish the task without a record: nobody can use this document."""
        asked = self.validated(ReasonedSerializer, request)
        mark_unusable(actor=self.actor, task=self.task, lease_token=asked["lease_token"], reason=asked["reason"])
        return Response(status=204)


class SaveFieldView(TaskView):
    """Keeping one field."""

    roles: ClassVar = {"PATCH": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_save_field",
        tags=["Review"],
        summary="Save a field",
        request=SaveSerializer,
        responses={200: EditSerializer, **problems(400, 409)},
        examples=[OpenApiExample("Correct a total", value=SAVE_EXAMPLE, request_only=True)],
    )
    def patch(self, request: Request, **_: object) -> Response:
        """Save one field on top of the version you saw, and renew the lease. Saving the same again adds nothing.

        409 `conflict` when another version stands, 409 `lease_lost` when you no longer hold the task; both carry
        `current` (what stands) and `yours` (what you sent), so that nothing typed is lost.
        """
        asked = self.validated(SaveSerializer, request)
        return Response(EditSerializer(save_field(actor=self.actor, task=self.task, **asked)).data)


class SubmitView(TaskView):
    """Finishing a task."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_submit",
        tags=["Review"],
        summary="Submit a task",
        request=SubmitSerializer,
        responses={200: RecordSerializer, **problems(400, 409)},
        examples=[
            OpenApiExample(
                "With a verdict",
                value={
                    "lease_token": TOKEN,
                    "verdicts": [{"field_path": "/total", "verdict": "corrected", "value": "9.00"}],
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Finish the task: what was saved and these verdicts become labels and a new revision of the record.

        Every field with `is_to_examine` needs a verdict; 400 lists those without. Submitting again with the same
        token returns the record of the first time.
        """
        asked = self.validated(SubmitSerializer, request)
        verdicts = [FieldVerdict(**verdict) for verdict in asked.get("verdicts", [])]
        record = submit_task(actor=self.actor, task=self.task, lease_token=asked["lease_token"], verdicts=verdicts)
        return Response(RecordSerializer(record).data)
