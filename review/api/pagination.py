"""Keyset pagination: a page costs the same at the end of a list as at its start."""

import base64
import binascii
import re
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from review.exceptions import InvalidInputError
from review.models import ReviewTask

MAX_PAGE_SIZE = 200
# Offset, direction and position, as CursorPagination writes them; ours are ids.
_CURSOR = re.compile(r"(?=.)(o=[0-9]{1,4})?&?(r=1)?&?(p=[0-9]{1,18})?")
_EXAMPLE = "https://stet.example.org/api/v1/projects/receipts/documents/?cursor=cD0xNw%3D%3D"
_QUEUE_POSITION = re.compile(r"(-?[0-9]{1,5}):([0-9]{1,18})")


class NewestFirstPagination(CursorPagination):
    """By descending id; `page_size` up to 200. A cursor that is none of ours is refused, not guessed at."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = MAX_PAGE_SIZE
    cursor_query_description = "Where to go on: follow `next` and `previous`."
    page_size_query_description = f"Results a page, from 1 to {MAX_PAGE_SIZE}."

    def get_page_size(self, request: Request) -> int:
        """Return the size asked for or the usual one; raise InvalidInputError for one that cannot be."""
        text = request.query_params.get("page_size")
        if text is None:
            return 50
        if not (re.fullmatch(r"[0-9]{1,4}", text) and 1 <= int(text) <= MAX_PAGE_SIZE):
            message = _("A page has from 1 to %(most)d results.") % {"most": MAX_PAGE_SIZE}
            raise InvalidInputError.at("/page_size", message)
        return int(text)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the OpenAPI schema of a page."""
        link = {"type": "string", "format": "uri", "nullable": True, "example": _EXAMPLE}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {
                "next": {**link, "description": "Where the list goes on; null at its end."},
                "previous": {**link, "description": "Where it came from; null at its start."},
                "results": schema,
            },
        }

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor of the request or None; raise InvalidInputError for one that cannot be ours."""
        token = request.query_params.get(self.cursor_query_param)
        if token is not None and not _CURSOR.fullmatch(_decoded(token)):
            raise _bad_cursor()
        return super().decode_cursor(request)


class QueuePagination(NewestFirstPagination):
    """The review queue, most important and then oldest first; goes forward only.

    The position is the pair (priority, id) of the last row, so that rows of one priority are not counted through.
    """

    def paginate_queryset(  # type: ignore[override]
        self,
        queryset: QuerySet[ReviewTask],
        request: Request,
        view: APIView | None = None,  # noqa: ARG002 - the library's signature
    ) -> list[Any]:
        """Return one page and remember whether more follows."""
        self.request = request
        size = self.get_page_size(request)
        if (position := self._position(request)) is not None:
            priority, last_id = position
            queryset = queryset.filter(Q(priority__lt=priority) | Q(priority=priority, id__gt=last_id))
        rows = list(queryset.order_by("-priority", "id")[: size + 1])
        self._rows, self.has_next = rows[:size], len(rows) > size
        return self._rows

    def get_next_link(self) -> str | None:
        """Return where the next page is."""
        if not self.has_next:
            return None
        last = self._rows[-1]
        token = base64.b64encode(f"{last.priority}:{last.pk}".encode()).decode()
        return replace_query_param(self.request.build_absolute_uri(), "cursor", token)

    def get_previous_link(self) -> None:
        """Return null: a queue is walked forward."""

    def _position(self, request: Request) -> tuple[int, int] | None:
        token = request.query_params.get("cursor")
        if token is None:
            return None
        found = _QUEUE_POSITION.fullmatch(_decoded(token))
        if found is None:
            raise _bad_cursor()
        return int(found[1]), int(found[2])


def _decoded(token: str) -> str:
    """Return what a cursor says, "" for one that says nothing."""
    try:
        return base64.b64decode(token.encode(), validate=True).decode("ascii")
    except (binascii.Error, UnicodeError):
        return ""


def _bad_cursor() -> InvalidInputError:
    return InvalidInputError.at("/cursor", _("This is no cursor of this list. Start again without one."))
