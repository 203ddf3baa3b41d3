"""A model server that dies of red pages and answers others: `python -m tests.faults.choosy_server PORT MODEL FOLDER`.

Where FOLDER/together says a number, it waits until it has so many pages in hand and dies of them all. FOLDER/asked gets
a line for each page: how many it had in hand then.
"""

import base64
import io
import json
import os
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
from PIL import Image

from tests.faults.dying_server import PORT, Handler

VALUES = {"company": "BOOK TA K SDN BHD", "date": "25/12/2018", "total": "9.00"}
FOLDER = Path(sys.argv[3])
TOGETHER = int((FOLDER / "together").read_text()) if (FOLDER / "together").exists() else 0
in_hand = threading.Condition()
pages: set[int] = set()


class ChoosyHandler(Handler):
    """Dies of what it should, and answers else."""

    def do_POST(self) -> None:  # noqa: N802 - the name that the library calls
        """Take a page in hand."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with in_hand:
            pages.add(id(self))
            with (FOLDER / "asked").open("a") as asked:
                asked.write(f"{len(pages)}\n")
            in_hand.notify_all()
            if TOGETHER:
                in_hand.wait_for(lambda: len(pages) == TOGETHER, 60)
        if TOGETHER or is_red(body):
            os._exit(137)
        message = {"role": "assistant", "content": json.dumps(VALUES)}
        answer = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        with in_hand:
            pages.discard(id(self))
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def is_red(body: bytes) -> bool:
    """Whether the page in a chat request is red."""
    parts = json.loads(body)["messages"][-1]["content"]
    [url] = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))), dtype=float)
    return bool(pixels[..., 0].mean() - pixels[..., 2].mean() > 40)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), ChoosyHandler).serve_forever()
