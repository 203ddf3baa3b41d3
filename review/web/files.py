"""Stored files on their way to a browser, in constant memory under both kinds of server."""

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.core.files.base import File
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse
from django.utils.http import content_disposition_header, quote_etag

CHUNK = 256 * 1024


def send_file(
    request: HttpRequest,
    file: "File[bytes]",
    *,
    media_type: str,
    etag: str,
    filename: str = "",
) -> HttpResponseBase:
    """Answer with a stored file that never changes; with a `filename` it is downloaded instead of shown.

    Http404 when the storage has lost it.
    """
    tag = quote_etag(etag)
    if request.headers.get("If-None-Match") == tag:
        return HttpResponseNotModified()
    try:
        file.open("rb")
    except FileNotFoundError:
        raise Http404 from None
    chunks = _chunks(file) if isinstance(request, ASGIRequest) else file.chunks(CHUNK)
    response = StreamingHttpResponse(chunks, content_type=media_type)
    response["Content-Length"] = str(file.size)
    response["ETag"] = tag
    response["Cache-Control"] = "private, max-age=3600"
    # An uploaded file is somebody else's content on our address: it may do nothing here.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    if disposition := content_disposition_header(bool(filename), filename):
        response["Content-Disposition"] = disposition
    return response


async def _chunks(file: "File[bytes]") -> AsyncIterator[bytes]:
    try:
        while chunk := await sync_to_async(file.read)(CHUNK):
            yield chunk
    finally:
        file.close()
