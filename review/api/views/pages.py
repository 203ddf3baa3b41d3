"""One page: its words, and parts of its picture."""

from hashlib import sha256
from math import isfinite

from django.http import HttpResponse, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.api.files import CHECKED_EACH_TIME, AnyFormat, unless_unchanged
from review.api.openapi import problems
from review.api.serializers.pages import PageWordsSerializer
from review.api.views.base import ProjectView
from review.exceptions import InvalidInputError
from review.models import Page
from review.selectors.access import access_page
from review.selectors.crops import Box, page_crop
from review.selectors.page_words import page_words

UNCHANGED = OpenApiResponse(description="You have it: the ETag of If-None-Match is the current one.")
BOX = OpenApiParameter(
    name="bbox",
    location=OpenApiParameter.QUERY,
    required=True,
    type={"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 4, "maxItems": 4},
    style="form",
    explode=False,
    description="x0,y0,x1,y1 as shares of the page, from its top left; above 0 wide and high.",
)


class PageView(ProjectView):
    """One page of a document, accessed as `page`."""

    page: Page

    def access(self) -> None:
        """Access the page."""
        self.page = access_page(self.actor, self.slug, self.kwargs["id"], self.kwargs["number"])


class PageWordsView(PageView):
    """What was read on the page."""

    @extend_schema(
        operation_id="documents_page_words",
        tags=["Documents"],
        summary="Get the words of a page",
        responses={200: PageWordsSerializer, 304: UNCHANGED},
    )
    def get(self, request: Request, **_: object) -> HttpResponseBase:
        """Return the words in reading order, each with its box. Lines are split at white space by letter widths."""
        found = page_words(self.page)
        etag = f"{self.page.content_hash}-{found.reading_id}"
        return unless_unchanged(
            request, etag, lambda: Response(PageWordsSerializer(found).data), cache_control=CHECKED_EACH_TIME
        )


class PageCropView(PageView):
    """A part of the page's picture."""

    content_negotiation_class = AnyFormat
    query_parameters = frozenset({"bbox"})

    @extend_schema(
        operation_id="documents_page_crop",
        tags=["Documents"],
        summary="Get a part of a page's picture",
        parameters=[BOX],
        responses={(200, "image/jpeg"): OpenApiTypes.BINARY, 304: UNCHANGED, **problems(400)},
    )
    def get(self, request: Request, **_: object) -> HttpResponseBase:
        """Return the part within the box, as it stands on the upright page."""
        bbox = box_in(request.query_params.get("bbox", ""))
        etag = sha256(f"{self.page.content_hash} {bbox}".encode()).hexdigest()
        return unless_unchanged(
            request, etag, lambda: HttpResponse(page_crop(self.page, bbox), content_type="image/jpeg")
        )


def box_in(text: str) -> Box:
    """Return the box that a query names; raise InvalidInputError at /bbox."""
    try:
        numbers = [float(part) for part in text.split(",")]
        x0, y0, x1, y1 = numbers
    except ValueError:
        raise _no_box() from None
    if not all(isfinite(number) and 0 <= number <= 1 for number in numbers) or x0 >= x1 or y0 >= y1:
        raise _no_box()
    return x0, y0, x1, y1


def _no_box() -> InvalidInputError:
    message = _("A box is four numbers between 0 and 1: left, top, right and bottom, such as 0.1,0.2,0.5,0.25.")
    return InvalidInputError.at("/bbox", message)
