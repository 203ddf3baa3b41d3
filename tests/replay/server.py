"""A server that answers as a real vLLM server did: over HTTP, from recorded exchanges, and only the same questions.

`python -m tests.replay.server NAME` answers for ever with one recording, for benches; its first line is its address.
"""

import json
import socket
import struct
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.replay.alias import MODEL
from tests.replay.exchanges import Exchange, is_same_question, recorded, without_images
from tests.replay.scenarios import SCENARIOS

CHAT = "/v1/chat/completions"


class ReplayServer:
    """Answers chat requests in the order of `exchanges`, others by their path.

    A request that differs from the recorded one is answered with 418 and makes the `with` block fail at its end, as
    do exchanges that nobody asked for: record them again (`python -m tests.replay.record URL`). `faults` maps the
    number of a chat request (from 0) to "reset": its connection breaks, and the exchange stays for the next request;
    or to "die": nothing listens any more after that. `serves` are the tied names of the versions for which it was
    started; the recorded name of its model, under which the questions are written down, is not asked by any engine.
    """

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        *,
        serves: Sequence[str] = (),
        faults: dict[int, str] | None = None,
        is_endless: bool = False,
    ) -> None:
        self.pages = {one.path: one for one in (*recorded("server"), *exchanges) if one.path != CHAT}
        self.serves = tuple(serves)
        self._list(self.serves)
        self.left = [one for one in exchanges if one.path == CHAT]
        self.faults = dict(faults or {})
        self.is_endless = is_endless
        self.requests: list[Any] = []
        self.n_chats = 0
        self.n_connections = 0
        self.differences: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "ReplayServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if kind is None:
            assert self.differences == []
            assert [one.request for one in self.left] == [], "recorded questions that were not asked"

    def stop_listening(self) -> None:
        """Take no connection any more."""
        self._server.socket.close()

    def serve_forever(self) -> None:
        self._server.serve_forever()

    def _list(self, names: Sequence[str]) -> None:
        """Have it say that it serves these names too."""
        page = self.pages["/v1/models"]
        models = page.response["data"]
        more = [{**models[0], "id": name} for name in names]
        self.pages["/v1/models"] = replace(page, response={**page.response, "data": [*models, *more]})

    def answer_to(self, body: bytes) -> Exchange:
        """Return the exchange that this request is the next of."""
        if self.is_endless:
            return self.left[0]
        request = without_images(json.loads(body))
        if request["model"] in self.serves:
            request["model"] = MODEL
        self.requests.append(request)
        if not self.left:
            self.differences.append("more was asked than recorded")
        elif not is_same_question(request, self.left[0].request):
            self.differences.append(f"asked {request!r}, recorded {self.left[0].request!r}")
        else:
            return self.left.pop(0)
        return Exchange(CHAT, None, 418, {"error": {"message": "differs from the recording", "param": None}})


def _handler_of(replay: ReplayServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            replay.n_connections += 1

        def do_GET(self) -> None:
            known = replay.pages.get(self.path, Exchange(self.path, None, 404, {"detail": "Not Found"}))
            self._send(known)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            number, replay.n_chats = replay.n_chats, replay.n_chats + 1
            fault = replay.faults.get(number)
            if fault == "die":
                replay.stop_listening()
            if fault in ("reset", "die"):
                # A zero linger makes the close a reset, as a server does that gave a connection up.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            self._send(replay.answer_to(body))

        def _send(self, exchange: Exchange) -> None:
            text = exchange.response if isinstance(exchange.response, str) else json.dumps(exchange.response)
            data = text.encode()
            self.send_response(exchange.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    return Handler


def main(name: str) -> None:
    """Answer for ever with the first exchange of a recording."""
    replay = ReplayServer(recorded(name), serves=[SCENARIOS[name].spec.tied_name], is_endless=True)
    sys.stdout.write(f"{replay.url}\n")
    sys.stdout.flush()
    replay.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
