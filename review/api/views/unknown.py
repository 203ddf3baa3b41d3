"""Paths that are none."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt

from review.api.problems import plain_problem
from review.exceptions import NotFoundError


@csrf_exempt
def unknown_path(request: HttpRequest, **_kwargs: object) -> HttpResponse:
    """Answer 404 as a problem, to everybody alike."""
    detail = NotFoundError.message if request.path.endswith("/") else _("Paths of the API end with a slash.")
    return plain_problem(request, 404, NotFoundError.code, detail)
