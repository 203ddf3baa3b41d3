"""The file as it was sent, and the pictures of its pages."""

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from review.api.files import AnyFormat, file_response, media_type_of
from review.api.views.base import ProjectView
from review.api.views.documents import DocumentView
from review.models import Page
from review.selectors.access import access_page

_UNCHANGED = OpenApiResponse(description="You have it: the ETag of If-None-Match is the current one.")


class OriginalView(DocumentView):
    """The file as it was sent."""

    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="documents_original",
        tags=["Documents"],
        summary="Download the original",
        responses={(200, "*/*"): OpenApiTypes.BINARY, 304: _UNCHANGED},
    )
    def get(self, request: Request, **_: object) -> HttpResponseBase:
        """Return the file byte for byte, with its SHA-256 as ETag."""
        document = self.document
        return file_response(
            request,
            document.original,
            etag=document.sha256,
            media_type=document.media_type,
            filename=document.filename,
            is_attachment=True,
        )


class PageImageView(ProjectView):
    """The picture of one page."""

    content_negotiation_class = AnyFormat
    page: Page

    def access(self) -> None:
        """Access the page."""
        self.page = access_page(self.actor, self.slug, self.kwargs["id"], self.kwargs["number"])

    @extend_schema(
        operation_id="documents_page_image",
        tags=["Documents"],
        summary="Get the picture of a page",
        responses={(200, "image/*"): OpenApiTypes.BINARY, 304: _UNCHANGED},
    )
    def get(self, request: Request, **_: object) -> HttpResponseBase:
        """Return the upright picture of the page; boxes are shares of it."""
        page = self.page
        name = page.image.name or ""
        return file_response(
            request,
            page.image,
            etag=page.content_hash,
            media_type=media_type_of(name),
            filename=name,
            is_attachment=False,
        )
