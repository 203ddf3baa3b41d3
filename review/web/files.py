"""Stored files on their way to a browser, in constant memory under both kinds of server."""

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db.models.fields.files import FieldFile
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse
from django.utils.http import content_disposition_header, quote_etag

CHUNK = 256 * 1024


def send_file(
    request: HttpRequest,
    file: FieldFile,
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
    if not file.name or not file.storage.exists(file.name):
        raise Http404
    # Opened when the first byte is asked for: an answer that is never sent leaves no file open.
    chunks = _chunks_async(file) if isinstance(request, ASGIRequest) else _chunks(file)
    response = StreamingHttpResponse(chunks, content_type=media_type)
    response["Content-Length"] = str(file.size)
    response["ETag"] = tag
    response["Cache-Control"] = "private, max-age=3600"
    # An uploaded file is somebody else's content on our address: it may do nothing here.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    if disposition := content_disposition_header(bool(filename), filename):
        response["Content-Disposition"] = disposition
    return response


def _chunks(file: FieldFile) -> Iterator[bytes]:
    with file.open("rb") as opened:
        yield from opened.chunks(CHUNK)


async def _chunks_async(file: FieldFile) -> AsyncIterator[bytes]:
    opened = await sync_to_async(file.open)("rb")
    try:
        while chunk := await sync_to_async(opened.read)(CHUNK):
            yield chunk
    finally:
        opened.close()
