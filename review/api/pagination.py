"""Keyset pagination: a page costs the same at the end of a list as at its start."""

from rest_framework.pagination import CursorPagination


class NewestFirstPagination(CursorPagination):
    """By descending id; `page_size` up to 200."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
