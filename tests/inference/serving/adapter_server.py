"""A server of language models that takes adapters while it runs, behind httpx's mock transport."""

from collections.abc import Callable

import httpx

Answer = Callable[[httpx.Request], httpx.Response]


class Server:
    """Serves `names`; answers a request to load with `answer`, and keeps what it was asked."""

    def __init__(self, *names: str, answer: Answer = lambda _: httpx.Response(200, text="Success")) -> None:
        self.names, self.answer = names, answer
        self.asked: list[bytes] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/version":
            return httpx.Response(200, json={"version": "0.32.0"})
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": name, "max_model_len": 8192} for name in self.names]})
        assert request.url.path == "/v1/load_lora_adapter"
        self.asked.append(request.content)
        return self.answer(request)
