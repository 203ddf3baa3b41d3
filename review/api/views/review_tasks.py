"""The review queue: looking at it and taking work from it."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.leasing import Lease, lease_next_task, lease_task
from review.api.filters import ReviewTaskFilter
from review.api.openapi import problems
from review.api.pagination import QueuePagination
from review.api.serializers.review_tasks import (
    GivenTaskSerializer,
    LeaseNextSerializer,
    TaskDetailSerializer,
    TaskSerializer,
)
from review.api.views.base import ProjectListView, ProjectView
from review.exceptions import InvalidInputError, NotFoundError
from review.models import DocumentType, ReviewTask, Role, TaskState
from review.selectors.access import access_review_task
from review.selectors.desk import desk_detail
from review.selectors.review_tasks import QueueSummary, queue_summary, tasks_for


class TaskListView(ProjectListView):
    """The open tasks of a project."""

    roles: ClassVar = {"GET": Role.REVIEWER}
    serializer_class = TaskSerializer
    filterset_class = ReviewTaskFilter
    pagination_class = QueuePagination

    def get_queryset(self) -> QuerySet[ReviewTask]:
        """Return the open tasks that the caller may know of."""
        is_asking = not getattr(self, "swagger_fake_view", False) and not self.is_manager
        return tasks_for(self.project, reviewer=self.actor.user if is_asking else None)

    @extend_schema(
        operation_id="review_tasks_list",
        tags=["Review"],
        summary="List open tasks",
        responses={(200, "application/json"): TaskSerializer(many=True), **problems(400)},
    )
    def get(self, request: Request, **_: object) -> Response:
        """List the open tasks, held or not, most important and then oldest first."""
        return self.listed(self.get_queryset())


class LeaseNextView(ProjectView):
    """Taking the next task."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_lease_next",
        tags=["Review"],
        summary="Take the next task",
        request=LeaseNextSerializer,
        responses={200: GivenTaskSerializer, **problems(400, 409)},
        examples=[
            OpenApiExample("Any kind", value={}, request_only=True),
            OpenApiExample("Receipts only", value={"document_type": "receipt"}, request_only=True),
            OpenApiExample("The one after the task at hand", value={"besides": 412}, request_only=True),
        ],
    )
    def post(self, request: Request, **_: object) -> Response:
        """Take the most important, then oldest task that is free. A task you did not finish comes first again.

        With nothing to give the answer is 200 with `task` null, `reason` why, and the queue as you find it. With
        `besides` the task after the one you work on is kept ready for you, always the same one however often you ask:
        its lease goes on with the heartbeats of the first and ends with them; 409 when you do not hold the first.
        """
        asked = self.validated(LeaseNextSerializer, request)
        slug = asked["document_type"]
        document_type = self.named_document_type(slug) if slug is not None else None
        besides = self.named_task(asked["besides"]) if asked["besides"] is not None else None
        lease = lease_next_task(actor=self.actor, project=self.project, document_type=document_type, besides=besides)
        return given(self, lease, document_type)

    def named_task(self, task_id: int) -> ReviewTask:
        """Return the task that a body names; raise InvalidInputError at /besides when there is none."""
        try:
            return access_review_task(self.actor, self.slug, task_id, self.required_role)
        except NotFoundError:
            raise InvalidInputError.at("/besides", _("This project has no task of this number.")) from None


class TaskView(ProjectView):
    """One task, accessed as `task`."""

    roles: ClassVar = {"GET": Role.REVIEWER}
    task: ReviewTask

    def access(self) -> None:
        """Access the task."""
        self.task = access_review_task(self.actor, self.slug, self.kwargs["id"], self.required_role)
        self._accessed = self.task.project


class TaskDetailView(TaskView):
    """All that one task shows."""

    @extend_schema(
        operation_id="review_tasks_get",
        tags=["Review"],
        summary="Get a task",
        responses=TaskDetailSerializer,
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return the task with its pages, each field's reading, why it is to be looked at, and what was saved.

        Sentences and labels are in the language that `Accept-Language` asks for. A task that somebody else finished
        is shown to managers only: whoever answers the same questions later must not have seen the answers.
        """
        is_others = self.task.state != TaskState.OPEN and self.task.finished_by_id != self.request.user.pk
        if is_others and not self.is_manager:
            raise NotFoundError
        return Response(TaskDetailSerializer(desk_detail(self.task), context=context_of(self)).data)


class LeaseTaskView(TaskView):
    """Taking one particular task."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(
        operation_id="review_tasks_lease",
        tags=["Review"],
        summary="Take this task",
        request=None,
        responses={200: GivenTaskSerializer, **problems(409)},
    )
    def post(self, request: Request, **_: object) -> Response:
        """Take this task, also one you skipped; 409 when somebody else holds it or it is finished."""
        return given(self, lease_task(actor=self.actor, task=self.task), None)


def given(view: ProjectView, lease: Lease | None, document_type: DocumentType | None) -> Response:
    """Answer with the leased task, or with why there is none."""
    answer: dict[str, Any] = {
        "task": None,
        "lease_token": None,
        "lease_expires_at": None,
        "reason": None,
        "queue": None,
    }
    if lease is not None:
        answer |= {
            "task": desk_detail(lease.task),
            "lease_token": lease.token,
            "lease_expires_at": lease.expires_at,
        }
    else:
        queue = queue_summary(view.project, document_type=document_type, reviewer=view.actor.user)
        answer |= {"queue": queue, "reason": why_none(queue)}
    return Response(GivenTaskSerializer(answer, context=context_of(view)).data)


def why_none(queue: QueueSummary) -> str:
    """Return the code of why a queue has nothing for a reviewer."""
    if queue.n_open == 0:
        return "nothing_waits"
    return "skipped_by_you" if 0 < queue.n_skipped >= queue.n_open - queue.n_leased else "held_by_others"


def context_of(view: ProjectView) -> dict[str, Any]:
    """Return what serializers need to make addresses."""
    return {**view.get_serializer_context(), "project": view.slug}
