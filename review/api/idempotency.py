"""`Idempotency-Key` on POSTs that create: the same key and body give the same answer, once done.

Only an answer that something was created (2xx) is kept; after an error nothing was, and the key is free again. The
digest covers the parsed body, for uploads the bytes of each file, so that another boundary or key order is no other
request. A secret is never kept: a repeated answer carries null in its place.
"""

import functools
import hashlib
import json
import re
from collections.abc import Callable

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from review.actions.idempotency import KeptAnswer, claim_key, free_key, keep_answer
from review.api.views.base import ApiView
from review.exceptions import InvalidInputError

HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
_WELL_FORMED = re.compile(r"[\x21-\x7e]{1,100}")

Handler = Callable[..., Response]


def idempotent(*secrets: str) -> Callable[[Handler], Handler]:
    """Decorate a view's `post`; `secrets` names members of its answer that are never kept."""

    def decorate(handler: Handler) -> Handler:
        @functools.wraps(handler)
        def answer(view: ApiView, request: Request, *args: object, **kwargs: object) -> Response:
            key = request.headers.get(HEADER)
            if key is None:
                return handler(view, request, *args, **kwargs)
            if not _WELL_FORMED.fullmatch(key):
                raise InvalidInputError.at(
                    f"/{HEADER}", _("An Idempotency-Key is 1 to 100 printable ASCII characters without spaces.")
                )
            claim = claim_key(actor=view.actor, key=key, path=request.path, request_digest=request_digest(request))
            if isinstance(claim, KeptAnswer):
                return Response(claim.body, status=claim.status, headers={REPLAYED_HEADER: "true"})
            try:
                response = handler(view, request, *args, **kwargs)
            except Exception:
                free_key(claim=claim)
                raise
            body = json.loads(JSONRenderer().render(response.data))
            keep_answer(claim=claim, status=response.status_code, body=body | dict.fromkeys(secrets))
            return response

        return answer

    return decorate


def request_digest(request: Request) -> str:
    """Return the SHA-256 of what a request says, whatever its encoding; files by their names and bytes."""
    if not isinstance(request.data, QueryDict):
        return hashlib.sha256(json.dumps(request.data, sort_keys=True).encode()).hexdigest()
    parts: list[tuple[str, list[str]]] = []
    for name, values in sorted(request.data.lists()):
        parts.append((name, [_part(value) for value in values]))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _part(value: object) -> str:
    if not isinstance(value, UploadedFile):
        return f"text:{value}"
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return f"file:{value.name}:{digest.hexdigest()}"
