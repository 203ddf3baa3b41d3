"""The parent's side of the PDF process: starts it, listens with a deadline, and always buries it."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from inference.errors import EngineUnavailableError, UnreadableFileError
from inference.imaging.limits import Limits
from inference.imaging.pdf_protocol import FAILURES, HEADER, Message
from inference.types import PageImage

_ROOT = Path(__file__).resolve().parents[2]
_MODULE = "inference.imaging.pdf_process"
_START_SECONDS = 60.0
_PASSED_ON = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH")
# PDFium and the C++ library abort when they get no memory; the system kills when it has none.
_REASON_BY_SIGNAL: dict[int, str] = {
    signal.SIGABRT: "memory_limit",
    signal.SIGKILL: "memory_limit",
    signal.SIGXCPU: "time_limit",
}
_PATIENCE_SECONDS = 2.0


def count_pdf_pages(path: Path, limits: Limits) -> int:
    """Return the number of pages of the PDF at `path`; raise UnreadableFileError."""
    with _PdfProcess(path, limits, long_side=0) as process:
        n_pages = process.page_count()
        # Only the end of the list shows that every page's size could be had.
        process.expect(Message.DONE)
        return n_pages


def draw_pdf_pages(path: Path, limits: Limits) -> Iterator[PageImage]:
    """Yield each page of the PDF, upright and drawn with `limits.long_side`; raise UnreadableFileError.

    One page is in memory at a time. Closing the iterator early ends the process.
    """
    with _PdfProcess(path, limits, long_side=limits.long_side) as process:
        for page_number in range(1, process.page_count() + 1):
            yield process.next_page(page_number)
        process.expect(Message.DONE)


def draw_pdf_page(path: Path, page_number: int, limits: Limits) -> PageImage | None:
    """Return one page of the PDF as `draw_pdf_pages` draws it, None when it has no such page; no other is drawn."""
    with _PdfProcess(path, limits, long_side=limits.long_side, only=page_number) as process:
        if process.page_count() < page_number:
            return None
        return process.next_page(page_number)


class _PdfProcess:
    """One run of `pdf_process` over one file."""

    def __init__(self, path: Path, limits: Limits, *, long_side: int, only: int = 0) -> None:
        self._limits = limits
        self._long_side = long_side
        arguments = [limits.max_pages, limits.max_pixels, long_side, limits.pdf_memory_bytes, limits.pdf_seconds, only]
        self._child = subprocess.Popen(  # noqa: S603 (our own module, no shell)
            [sys.executable, "-m", _MODULE, str(path.resolve()), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            # What a hostile document may reach holds none of the service's secrets.
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        )
        if self._child.stdout is None:
            raise EngineUnavailableError("the PDF process has no output")
        self._pipe = self._child.stdout
        self._output = self._pipe.fileno()

    def __enter__(self) -> Self:
        try:
            self._hear(Message.READY, _START_SECONDS)
        except UnreadableFileError as error:
            # Before it is ready it has not touched the file: the fault is ours, not the document's.
            self._bury()
            raise EngineUnavailableError("the PDF process did not start") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bury()

    def page_count(self) -> int:
        """Return how many pages follow."""
        return self.expect(Message.COUNT)[0]

    def expect(self, message: Message) -> tuple[int, int, int]:
        """Return the numbers of the next message, which must be `message`."""
        return self._hear(message, self._limits.pdf_seconds)

    def next_page(self, page_number: int) -> PageImage:
        """Return the next raster."""
        number, width, height = self.expect(Message.PAGE)
        if number != page_number or not (0 < width <= self._long_side and 0 < height <= self._long_side):
            raise UnreadableFileError("damaged", "the PDF process answered nonsense")
        pixels = np.empty((height, width, 3), dtype=np.uint8)
        self._fill(pixels.data.cast("B"), self._limits.pdf_seconds)
        return PageImage(pixels, page_number)

    def _hear(self, expected: Message, seconds: float) -> tuple[int, int, int]:
        header = bytearray(HEADER.size)
        self._fill(memoryview(header), seconds)
        message, first, second, third = HEADER.unpack(header)
        if message == Message.FAILED and first < len(FAILURES):
            raise UnreadableFileError(FAILURES[first])
        if message != expected:
            raise UnreadableFileError("damaged", "the PDF process answered nonsense")
        return first, second, third

    def _fill(self, target: memoryview, seconds: float) -> None:
        """Read until `target` is full; only the time spent waiting here counts, not the caller's own."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        filled = 0
        while filled < len(target):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not poll.poll(remaining * 1000):
                raise UnreadableFileError("time_limit")
            n_read = os.readv(self._output, [target[filled:]])
            if n_read == 0:
                raise UnreadableFileError(self._cause_of_death())
            filled += n_read

    def _cause_of_death(self) -> str:
        """Return the reason for a process that ended without saying one."""
        self._bury(patience_seconds=_PATIENCE_SECONDS)
        return _REASON_BY_SIGNAL.get(-self._child.returncode, "damaged")

    def _bury(self, *, patience_seconds: float = 0.0) -> None:
        """Make sure that the process is gone and waited for; it may end by itself for `patience_seconds`."""
        self._pipe.close()
        try:
            self._child.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
