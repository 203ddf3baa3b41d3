"""A real server seen as one that was started for another version, where a test is about something else than that."""

import json

import httpx

MODEL = "tiny-ocr"
"""What the recorded server calls its model; under this name questions are written down, whichever version asked."""


class AliasTransport(httpx.HTTPTransport):
    """Lists `alias`, where there is one, among the models of the server, and hands on what is asked of it to `name`."""

    def __init__(self, alias: str, name: str = MODEL) -> None:
        super().__init__()
        self._alias = alias
        self._name = name

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request = self._renamed(request)
        response = super().handle_request(request)
        if request.url.path != "/v1/models" or not self._alias:
            return response
        response.read()
        models = response.json()
        same = next(model for model in models["data"] if model["id"] == self._name)
        models["data"].append({**same, "id": self._alias})
        return httpx.Response(response.status_code, json=models)

    def _renamed(self, request: httpx.Request) -> httpx.Request:
        request.read()
        asked, given = (f'"model":{json.dumps(name)}'.encode() for name in (self._alias, self._name))
        if asked not in request.content:
            return request
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        content = request.content.replace(asked, given, 1)
        return httpx.Request(
            request.method, request.url, headers=headers, content=content, extensions=request.extensions
        )
