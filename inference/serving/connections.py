"""Connections to a model server on which one deadline and one bound on the size hold for a whole exchange.

What httpx bounds is the wait for the next bytes: a server that sends one now and then would hold a page for ever.
"""

import ssl
import threading
import time
from collections.abc import Callable, Iterable

import httpcore
import httpx

from inference.errors import AnswerLostError

MAX_ANSWER_BYTES = 64 * 2**20
"""An answer of 8,192 tokens with twenty alternatives each has a quarter of it."""

KEEP_ALIVE_SECONDS = 4.0
"""The server closes an idle connection after five; the client should be the first."""

_AS_HTTPX: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
}


class WholeExchanges(httpx.BaseTransport):
    """Sends a request and reads all of its answer; the request's read timeout bounds both together, in seconds.

    Threads may share it. What it raises are httpx's own errors, and AnswerLostError for an answer of more than
    `max_bytes`. A compressed answer is refused: it could be of any size.
    """

    def __init__(
        self,
        ssl_context: ssl.SSLContext | None = None,
        *,
        max_bytes: int = MAX_ANSWER_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_bytes = max_bytes
        self._deadline = _Deadline(clock)
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context,
            max_connections=None,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=_Network(self._deadline),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the whole response."""
        self._deadline.begin(request.extensions.get("timeout", {}).get("read"))
        url = request.url
        sent = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            response = self._pool.handle_request(sent)
            try:
                _refuse_compressed(response)
                data = self._whole(response)
            finally:
                response.close()
        except tuple(_AS_HTTPX) as failure:
            raise _AS_HTTPX[type(failure)](str(failure)) from failure
        return httpx.Response(response.status, headers=response.headers, content=data)

    def _whole(self, response: httpcore.Response) -> bytes:
        pieces, n_bytes = [], 0
        for piece in response.iter_stream():
            pieces.append(piece)
            n_bytes += len(piece)
            if n_bytes > self._max_bytes:
                raise AnswerLostError("answer_lost", f"the server's answer is longer than {self._max_bytes} bytes")
        return b"".join(pieces)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def _refuse_compressed(response: httpcore.Response) -> None:
    encodings = [value.lower() for name, value in response.headers if name.lower() == b"content-encoding"]
    if any(encoding != b"identity" for encoding in encodings):
        raise httpx.RemoteProtocolError("the answer is compressed, which was not asked for")


class _Deadline(threading.local):
    """Until when the exchange of this thread may go on; a connection serves one thread at a time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: float | None = None

    def begin(self, seconds: float | None) -> None:
        self._until = None if seconds is None else self._clock() + seconds

    def left(self, timeout: float | None, late: type[Exception]) -> float | None:
        """Return how long the next step may take, at most `timeout`; raise `late` where nothing is left."""
        if self._until is None:
            return timeout
        left = self._until - self._clock()
        if left <= 0:
            raise late("the time for the exchange is over")
        return left if timeout is None else min(left, timeout)


class _Network(httpcore.NetworkBackend):
    """Makes connections whose every step looks at the deadline."""

    def __init__(self, deadline: _Deadline) -> None:
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._sockets.connect_tcp(host, port, left, local_address, socket_options), self._deadline)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._socket = stream.get_extra_info("socket")
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # httpcore's own would give each piece that the socket takes the whole time anew.
        rest = memoryview(buffer)
        while rest:
            self._socket.settimeout(self._deadline.left(timeout, httpcore.WriteTimeout))
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError as late:
                raise httpcore.WriteTimeout(str(late)) from late
            except OSError as broken:
                raise httpcore.WriteError(str(broken)) from broken

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            left = self._deadline.left(timeout, httpcore.ConnectTimeout)
        except httpcore.ConnectTimeout:
            # Whoever asked does not know the connection yet: nobody else would close it.
            self.close()
            raise
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
