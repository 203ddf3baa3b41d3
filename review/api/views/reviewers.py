"""How well reviewers work, and how often somebody looks again."""

from typing import ClassVar

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.second_looks import set_second_look_shares
from review.api.openapi import problems
from review.api.serializers.reviewers import ReviewersSerializer, SecondLookSharesSerializer
from review.api.views.base import ProjectView
from review.models import Project, Role
from review.selectors.reviewers import reviewers_page


class ReviewersView(ProjectView):
    """Reviewers of a project."""

    roles: ClassVar = {"GET": Role.MANAGER, "PATCH": Role.MANAGER}

    @extend_schema(
        operation_id="reviewers_get",
        tags=["Reviewers"],
        summary="Get reviewers' quality",
        responses=ReviewersSerializer,
    )
    def get(self, request: Request, **_: object) -> Response:
        """Return how often each reviewer errs and agrees, with intervals, and what waits for a second look."""
        return _answer(self.project)

    @extend_schema(
        operation_id="reviewers_set_shares",
        tags=["Reviewers"],
        summary="Set how often somebody looks again",
        request=SecondLookSharesSerializer,
        responses={200: ReviewersSerializer, **problems(400)},
        examples=[
            OpenApiExample("Five in a hundred", value={"second_review_share": 0.05}, request_only=True),
        ],
    )
    def patch(self, request: Request, **_: object) -> Response:
        """Set the share of second reviews and of seeded tasks, from now on; 0 ends them."""
        asked = self.validated(SecondLookSharesSerializer, request)
        project = set_second_look_shares(
            actor=self.actor,
            project=self.project,
            second_review_share=asked.get("second_review_share", self.project.second_review_share),
            seeded_share=asked.get("seeded_share", self.project.seeded_share),
        )
        return _answer(project)


def _answer(project: Project) -> Response:
    shares = {"second_review_share": project.second_review_share, "seeded_share": project.seeded_share}
    return Response(ReviewersSerializer({**shares, "page": reviewers_page(project)}).data)
