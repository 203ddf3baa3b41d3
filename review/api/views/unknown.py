"""Paths that are none, and requests that are none."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt

from review.api.problems import plain_problem
from review.exceptions import InvalidInputError, NotFoundError

_WRONG_HOST = _("Stet does not answer under this host name. Whoever runs it can add the name to STET_ALLOWED_HOSTS.")


@csrf_exempt
def unknown_path(request: HttpRequest, **_kwargs: object) -> HttpResponse:
    """Answer 404 as a problem, to everybody alike."""
    detail = NotFoundError.message if request.path.endswith("/") else _("Paths of the API end with a slash.")
    return plain_problem(request, 404, NotFoundError.code, detail)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 to what is no request for this installation: a problem at paths of the API, else one sentence."""
    is_wrong_host = isinstance(exception, DisallowedHost)
    detail = _WRONG_HOST if is_wrong_host else InvalidInputError.message
    if request.path.startswith("/api/"):
        return plain_problem(request, 400, "wrong_host" if is_wrong_host else "bad_request", detail)
    return HttpResponse(str(detail), status=400, content_type="text/plain; charset=utf-8")
