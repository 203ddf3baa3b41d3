"""A server that takes one request and answers it byte by byte, or takes it in as slowly; it notes how far it came."""

import gzip
import socket
import threading
from collections.abc import Callable
from types import TracebackType

PAUSE_SECONDS = 0.05
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n"
BODY = b"{" + b" " * 398 + b"}"
SLOW_READ = 2**16
Manner = Callable[["Trickling", socket.socket], None]


class Trickling:
    """Serves in a thread; `n_sent` and `n_taken` are bytes. At its pace an exchange takes 20 seconds or more."""

    def __init__(self, manner: Manner) -> None:
        self.n_sent = self.n_taken = 0
        self.was_left = False
        self._manner = manner
        self._is_over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> "Trickling":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.join(30)
        self._is_over.set()
        self._listening.close()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            try:
                self._manner(self, connection)
            except OSError:
                self.was_left = True

    def pause(self) -> None:
        self._is_over.wait(PAUSE_SECONDS)

    def take_quickly(self, connection: socket.socket) -> None:
        """Take in the request's headers and whatever came along with them."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(2**16)

    def trickle(self, connection: socket.socket, data: bytes) -> None:
        for n in range(len(data)):
            connection.sendall(data[n : n + 1])
            self.n_sent += 1
            self.pause()


def body_trickles(server: Trickling, connection: socket.socket) -> None:
    server.take_quickly(connection)
    connection.sendall(HEADERS)
    server.trickle(connection, BODY)


def headers_trickle(server: Trickling, connection: socket.socket) -> None:
    server.take_quickly(connection)
    server.trickle(connection, b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 400)


def request_is_taken_slowly(server: Trickling, connection: socket.socket) -> None:
    while taken := connection.recv(SLOW_READ):
        server.n_taken += len(taken)
        server.pause()
    server.was_left = True


def answer_never_ends(server: Trickling, connection: socket.socket) -> None:
    server.take_quickly(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        connection.sendall(b" " * 2**16)
        server.n_sent += 2**16


def answer_is_compressed(server: Trickling, connection: socket.socket) -> None:
    body = gzip.compress(bytes(20_000_000))
    server.take_quickly(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body))
    connection.sendall(body)
