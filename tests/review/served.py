"""A stand-in for the server behind a language model, in the place of every connection to one."""

import httpx
import pytest

from inference.engines import vllm_server
from inference.serving.chat import chat_client
from review import tasks_self_test
from tests.inference.serving.self_test.fake_vllm import FakeVllm


def put_behind(server: FakeVllm, monkeypatch: pytest.MonkeyPatch, asked: list[str] | None = None) -> None:
    """Have every client talk to this server, whatever its address; `asked` gets the addresses."""

    def client(url: str, api_key: str = "") -> httpx.Client:
        if asked is not None:
            asked.append(url)
        return chat_client(url, api_key, transport=httpx.MockTransport(server))

    monkeypatch.setenv("STET_VLLM_URL", "http://vllm")
    monkeypatch.setattr(tasks_self_test, "chat_client", client)
    monkeypatch.setattr(vllm_server, "chat_client", client)
