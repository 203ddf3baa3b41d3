"""The separate process that opens PDFs: `pdf_process PATH MAX_PAGES MAX_PIXELS LONG_SIDE MEMORY_BYTES SECONDS [PAGE]`.

A long side of 0 counts the pages and draws none; a page number above 0 draws that page alone. It writes `pdf_protocol`
messages to its standard output and obeys its limits itself, so that it also ends when the parent was killed: memory by
RLIMIT_AS, a hanging page by RLIMIT_CPU, a vanished reader by the broken pipe.
"""

import math
import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from inference.imaging.pdf_protocol import FAILURES, HEADER, Message

_PICTURE_DEPTH = 3
_ENCRYPTED_ERRORS = (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY)


class _RefusedError(Exception):
    """The document cannot be taken; the argument is one of `FAILURES`."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    max_pages: int
    max_pixels: int
    long_side: int
    seconds: float
    only: int = 0


def main(arguments: list[str]) -> None:
    """Serve one PDF and return."""
    path = Path(arguments[0])
    max_pages, max_pixels, long_side, memory_bytes = (int(argument) for argument in arguments[1:5])
    only = int(arguments[6]) if len(arguments) > 6 else 0
    bounds = _Bounds(max_pages, max_pixels, long_side, float(arguments[5]), only)
    with _private_output() as out:
        _limit_memory(memory_bytes)
        _send(out, Message.READY)
        try:
            _serve(out, path, bounds)
            _send(out, Message.DONE)
        except _RefusedError as refusal:
            _send(out, Message.FAILED, FAILURES.index(str(refusal)))
        except MemoryError:
            _send(out, Message.FAILED, FAILURES.index("memory_limit"))
        except (pdfium.PdfiumError, ValueError):
            _send(out, Message.FAILED, FAILURES.index("damaged"))


def _private_output() -> BinaryIO:
    """Return the standard output, and give everyone else in this process a null device in its place."""
    out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    return out


def _limit_memory(memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    in_use = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + memory_bytes, in_use + memory_bytes))


def _grant_cpu(seconds: float) -> None:
    """Allow that much CPU time from now on; the kernel ends the process (SIGXCPU) when it takes more."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(usage.ru_utime + usage.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _send(out: BinaryIO, message: Message, first: int = 0, second: int = 0, third: int = 0) -> None:
    out.write(HEADER.pack(message, first, second, third))
    out.flush()


def _serve(out: BinaryIO, path: Path, bounds: _Bounds) -> None:
    _grant_cpu(bounds.seconds)
    with _open(path) as document:
        document.init_forms()
        n_pages = len(document)
        if n_pages == 0:
            raise _RefusedError("no_pages")
        if n_pages > bounds.max_pages:
            raise _RefusedError("too_many_pages")
        _send(out, Message.COUNT, n_pages)
        for index in range(n_pages) if not bounds.only else range(bounds.only - 1, min(bounds.only, n_pages)):
            if bounds.long_side:
                _grant_cpu(bounds.seconds)
                _draw(out, document, index, bounds)
            elif min(document.get_page_size(index)) <= 0:
                raise _RefusedError("damaged")


def _open(path: Path) -> pdfium.PdfDocument:
    try:
        # PDFium tries the empty password by itself.
        return pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        if error.err_code in _ENCRYPTED_ERRORS:
            raise _RefusedError("encrypted") from error
        # "Success, but no document" is how PDFium says that there are no pages in it.
        raise _RefusedError("no_pages" if error.err_code == pdfium_c.FPDF_ERR_SUCCESS else "damaged") from error


def _draw(out: BinaryIO, document: pdfium.PdfDocument, index: int, bounds: _Bounds) -> None:
    page = document[index]
    width, height = page.get_size()
    if not (0 < width < math.inf and 0 < height < math.inf):
        raise _RefusedError("damaged")
    _check_pictures(page, bounds.max_pixels)
    # A hair less than the long side, since the size is rounded up.
    scale = (bounds.long_side - 0.01) / max(width, height)
    bitmap = page.render(
        scale=scale, force_bitmap_format=pdfium_c.FPDFBitmap_BGR, rev_byteorder=True, limit_image_cache=True
    )
    _send(out, Message.PAGE, index + 1, bitmap.width, bitmap.height)
    rows = memoryview(bitmap.buffer).cast("B")
    for row in range(bitmap.height):
        start = row * bitmap.stride
        out.write(rows[start : start + bitmap.width * 3])
    out.flush()
    rows.release()
    bitmap.close()
    page.close()


def _check_pictures(page: pdfium.PdfPage, max_pixels: int) -> None:
    """Refuse pictures too large to unpack: PDFium would leave them out, and the page would look empty."""
    for picture in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=_PICTURE_DEPTH):
        width, height = picture.get_px_size()
        if width * height > max_pixels:
            raise _RefusedError("too_many_pixels")


if __name__ == "__main__":
    main(sys.argv[1:])
