"""`python -m tests.replay.record URL [NAME …]`: ask a real server the scenarios' questions and keep what it answered.

The server is the tiny model of tests/vllm, served as "tiny-ocr" without a key.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import httpx

from inference.engines.vllm_server import ServedModel
from inference.engines.vlm import VlmEngine
from inference.errors import EngineError
from inference.serving.chat import attempt, chat_client
from inference.serving.page_images import prepare_page
from inference.serving.prompts import load_prompt, turns_for
from inference.serving.questions import Question
from inference.serving.wire import request_body
from inference.types import Decoding
from tests.inference.serving.asking import SCHEMA, a_page, a_spec
from tests.replay.alias import MODEL, AliasTransport
from tests.replay.exchanges import Exchange, keep, without_images
from tests.replay.scenarios import SCENARIOS
from tests.replay.server import CHAT


class RecordingTransport(AliasTransport):
    """Passes requests on and keeps what came back; `alias` is the tied name of the version that asks."""

    def __init__(self, alias: str = "") -> None:
        super().__init__(alias)
        self.exchanges: list[Exchange] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        response.read()
        request = self._renamed(request)
        body = without_images(json.loads(request.content)) if request.content else None
        self.exchanges.append(Exchange(request.url.path, body, response.status_code, _content(response)))
        return response


def _content(response: httpx.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return response.text


def record_scenario(url: str, name: str) -> list[Exchange]:
    """Read the scenario's page; an answer that cannot be used is a recording as good as any."""
    scenario = SCENARIOS[name]
    transport = RecordingTransport(scenario.spec.tied_name)
    with chat_client(url, transport=transport) as client:
        engine = VlmEngine(scenario.spec, ServedModel(scenario.spec, client))
        try:
            engine.read_page(scenario.page(), scenario.request())
        except EngineError as failure:
            sys.stdout.write(f"{name}: {failure.code}\n")
    return [one for one in transport.exchanges if one.path == CHAT]


def record_server(url: str) -> list[Exchange]:
    """Ask the server what it is."""
    transport = RecordingTransport()
    with chat_client(url, transport=transport) as client:
        for path in ("/version", "/v1/models", "/health"):
            client.get(path)
    return transport.exchanges


def record_refusals(url: str) -> list[Exchange]:
    """Send what a server refuses."""
    image = prepare_page(a_page(), a_spec().imaging)
    turns = turns_for(load_prompt("v1"), SCHEMA, image)
    question = Question(turns, 64)
    data = image.as_data_url()

    def asking(asked: Question) -> bytes:
        return request_body(asked, a_spec(), model=MODEL)

    requests = [
        request_body(question, a_spec(), model="nope"),
        asking(Question((turns[0],), 100_000)),
        asking(question).replace(data, data + b'"}},{"type":"image_url","image_url":{"url":"' + data),
        asking(question).replace(data, b"data:image/jpeg;base64,AAAA"),
        asking(Question(turns, 64, {"type": "nonsense"})),
        asking(Question(turns, 64, {"type": "number", "multipleOf": 0.01})),
        # No version can be declared so; a server must refuse it all the same.
        request_body(question, replace(a_spec(), decoding=Decoding(top_logprobs=25)), model=MODEL),
    ]
    transport = RecordingTransport()
    with chat_client(url, transport=transport) as client:
        for body in requests:
            try:
                attempt(client, body, 60)
            except Exception as refused:
                sys.stdout.write(f"{type(refused).__name__}: {refused}\n")
    return transport.exchanges


def main(url: str, names: list[str]) -> None:
    """Record what is named, or everything."""
    others: dict[str, Callable[[str], list[Exchange]]] = {"server": record_server, "refusals": record_refusals}
    for name in names or [*others, *SCENARIOS]:
        exchanges = others[name](url) if name in others else record_scenario(url, name)
        path = keep(name, exchanges)
        sys.stdout.write(f"{path.name}: {len(exchanges)} exchanges, {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
