"""A model server that dies of the page it is asked about: `python -m tests.faults.dying_server PORT MODEL`.

Stands for a vLLM whose card runs out of memory: it says that it is well, takes the request, and is gone.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, MODEL = sys.argv[1:3] if len(sys.argv) > 2 else ("0", "")


class Handler(BaseHTTPRequestHandler):
    """Answers what a client asks before its first page, and dies of that page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say what a vLLM 0.32 says."""
        answers = {
            "/health": "",
            "/version": json.dumps({"version": "0.32.0"}),
            "/v1/models": json.dumps({"object": "list", "data": [{"id": MODEL, "max_model_len": 4096}]}),
        }
        body = answers.get(self.path, "{}").encode()
        self.send_response(200 if self.path in answers else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Take the request whole and die."""
        self.rfile.read(int(self.headers["Content-Length"]))
        os._exit(137)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
