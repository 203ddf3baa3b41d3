"""Files through the access door: cached by content, streamed, never interpreted by a browser as anything else."""

import mimetypes
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterable

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db.models.fields.files import FieldFile
from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, quote_etag
from django.utils.translation import gettext_lazy as _
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from review.exceptions import NotFoundError

CHUNK_BYTES = 256 * 1024
# A file never changes under its address. `private`: it is somebody's document, no shared cache may keep it.
CACHE_CONTROL = "private, max-age=31536000, immutable"
# What a new reading may change: asked for each time, sent only when it did.
CHECKED_EACH_TIME = "private, no-cache"


class AnyFormat(DefaultContentNegotiation):
    """A file is what it is, whatever the Accept header hopes for; errors are problems in JSON."""

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - the library's signature
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer."""
        first = next(iter(renderers))
        return first, first.media_type


def media_type_of(name: str) -> str:
    """Return the media type of a stored file by its name, which is ours."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def file_response(
    request: Request, file: FieldFile, *, etag: str, media_type: str, filename: str, is_attachment: bool
) -> HttpResponseBase:
    """Stream a stored file, or answer 304 when the client has it; raise NotFoundError when the storage lost it.

    `etag` names the content (a hash).
    """
    response = unless_unchanged(request, etag, lambda: _streamed(request, file, media_type))
    # Whatever the file says, it runs nothing and loads nothing.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    if disposition := content_disposition_header(is_attachment, safe_filename(filename)):
        response["Content-Disposition"] = disposition
    return response


def unless_unchanged(
    request: Request, etag: str, make: Callable[[], HttpResponseBase], *, cache_control: str = CACHE_CONTROL
) -> HttpResponseBase:
    """Answer 304 when the client has what `etag` names, else what `make` makes; say how long it may be kept."""
    quoted = quote_etag(etag)
    response: HttpResponseBase = get_conditional_response(request._request, etag=quoted) or make()
    response["ETag"] = quoted
    response["Cache-Control"] = cache_control
    response["Vary"] = "Authorization, Cookie"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def safe_filename(filename: str) -> str:
    """Return a name without folders, control and direction characters, which might hide what kind of file it is."""
    base = filename.replace("\\", "/").rpartition("/")[2]
    kept = "".join(character for character in base if unicodedata.category(character)[0] != "C")
    return kept.strip(" .")[:200] or "file"


def _streamed(request: Request, file: FieldFile, media_type: str) -> HttpResponseBase:
    if not file or not file.storage.exists(file.name or ""):
        raise NotFoundError(_("The file is no longer in the storage. Tell your administrator."), code="file_missing")
    if not isinstance(request._request, ASGIRequest):
        return FileResponse(file.open("rb"), content_type=media_type)
    # Under ASGI an ordinary iterator would be read into memory as a whole first.
    response: HttpResponseBase = StreamingHttpResponse(_chunks(file), content_type=media_type)
    response["Content-Length"] = str(file.size)
    return response


async def _chunks(file: FieldFile) -> AsyncIterator[bytes]:
    opened = await sync_to_async(file.storage.open, thread_sensitive=False)(file.name or "", "rb")
    try:
        while chunk := await sync_to_async(opened.read, thread_sensitive=False)(CHUNK_BYTES):
            yield chunk
    finally:
        await sync_to_async(opened.close, thread_sensitive=False)()


__all__ = ["CHECKED_EACH_TIME", "AnyFormat", "file_response", "media_type_of", "safe_filename", "unless_unchanged"]
