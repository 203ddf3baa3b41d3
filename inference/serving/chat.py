"""A chat request to a vLLM server over HTTP: one function is one attempt; what each refusal means."""

import json
import re

import httpx

from inference.errors import AnswerLostError, EngineError, EngineUnavailableError, InferenceError
from inference.serving.connections import WholeExchanges
from inference.serving.retry import ConnectionLostError, NotConnectedError, ServerFailedError

CONNECT_SECONDS = 5.0

_LATER = frozenset({408, 425, 429})
_BROKE_OFF = {502: "answer_lost", 504: "answer_late"}
"""What a proxy says whose server broke off, or took too long. Were it simply away, it would have been so before."""

_NOT_THE_PAGES_FAULT = {
    401: "the server refuses the key: see STET_VLLM_API_KEY",
    403: "the server refuses the key: see STET_VLLM_API_KEY",
    404: "the server does not serve this engine version, or is no such server: restart it with manage.py serve_model, "
    "and see STET_VLLM_URL",
    405: "the server is no chat-completion server: see STET_VLLM_URL",
}
_REMEDIES = {
    "input_tokens": "prompt and page are longer than the model's context: lower max_pixels or raise max-model-len",
    "max_tokens": "the answer's limit is above the model's context: lower x-output-limit or raise max-model-len",
    "image": "more images than the server takes a prompt: see limit-mm-per-prompt",
}


class ServerClient(httpx.Client):
    """A client of one model server that keeps its connections; threads may share it, a forked child needs its own."""

    def __init__(self, url: str, api_key: str, transport: httpx.BaseTransport) -> None:
        # `WholeExchanges` takes no compressed answers.
        asking = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
        # The environment's proxies (HTTP_PROXY and its like, often set for the whole machine) would be handed the
        # images of documents; a model server is reached straight.
        super().__init__(
            base_url=url.rstrip("/").removesuffix("/v1"), trust_env=False, headers=asking, transport=transport
        )
        base = self.base_url
        self._chat_url = base.copy_with(path=f"{base.path.rstrip('/')}/v1/chat/completions")
        self._chat_headers = {"Content-Type": "application/json", **asking, **_named_in(base)}
        self._straight = transport

    def chat(self, body: bytes, timeout: httpx.Timeout) -> httpx.Response:
        """Send a chat request, as JSON in bytes, and return the whole response; raise what the transport raises.

        Past cookies, redirects and hooks, which no such server has: a fifth of what asking it costs here.
        """
        extensions = {"timeout": timeout.as_dict()}
        request = httpx.Request("POST", self._chat_url, headers=self._chat_headers, content=body, extensions=extensions)
        response = self._straight.handle_request(request)
        response.read()
        return response


def _named_in(url: httpx.URL) -> dict[str, str]:
    """Return the header for a user and password that stand in an address; httpx itself adds it to other requests."""
    if not url.userinfo:
        return {}
    basic = httpx.BasicAuth(url.username, url.password).auth_flow(httpx.Request("GET", url))
    return {"Authorization": next(basic).headers["Authorization"]}


def chat_client(url: str, api_key: str = "", *, transport: httpx.BaseTransport | None = None) -> ServerClient:
    """Return a client of the server at this address, however it is written."""
    if transport is None:
        # Certificates of one's own are the one thing that httpx takes from the environment.
        transport = WholeExchanges(httpx.create_ssl_context() if url.startswith("https:") else None)
    return ServerClient(url, api_key, transport)


def attempt(client: ServerClient, body: bytes, seconds: float | None = None) -> bytes:
    """Send one chat request once and return the answer's bytes; `seconds` bounds all of it, however it trickles in.

    Raise NotConnectedError, ConnectionLostError and ServerFailedError where another attempt may help at once,
    AnswerLostError where no answer came of it, EngineUnavailableError where the server took nothing in hand,
    EngineError where this request is refused for what it is.
    """
    timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS if seconds is None else min(seconds, CONNECT_SECONDS))
    try:
        response = client.chat(body, timeout)
    except (httpx.ConnectTimeout, httpx.PoolTimeout):
        raise EngineUnavailableError("the server does not answer: see STET_VLLM_URL") from None
    except httpx.TimeoutException:
        raise AnswerLostError("answer_late", "the server did not answer in time") from None
    except httpx.ConnectError as refused:
        raise NotConnectedError(f"no connection to the server: {type(refused).__name__}") from None
    except httpx.TransportError as broken:
        raise ConnectionLostError(f"the connection to the server broke: {type(broken).__name__}") from None
    if response.is_success:
        return response.content
    raise refusal(response.status_code, response.content)


def refusal(status: int, body: bytes) -> InferenceError:
    """Return the error that an HTTP status stands for. The server's own words stay out: they may quote the prompt.

    What is not the page's fault (a wrong key, a model that is not served) makes the engine unavailable: pages wait
    until it is put right, instead of failing one after the other.
    """
    if status == 500:
        return ServerFailedError("the server failed on a request")
    if status in _BROKE_OFF:
        return AnswerLostError(_BROKE_OFF[status], f"the server broke off ({status})")
    if status > 500 or status in _LATER:
        return EngineUnavailableError(f"the server cannot answer now ({status})")
    if status in _NOT_THE_PAGES_FAULT:
        return EngineUnavailableError(_NOT_THE_PAGES_FAULT[status])
    parameter = _parameter(body)
    remedy = _REMEDIES.get(parameter)
    named = f", parameter {parameter}" if parameter else ""
    return EngineError(f"the server refuses the request ({status}{named}){f': {remedy}' if remedy else ''}")


def _parameter(body: bytes) -> str:
    """Return which parameter the server complains of, if it says so in a form that cannot be text of a document."""
    try:
        name = json.loads(body)["error"]["param"]
    except (ValueError, LookupError, TypeError):
        return ""
    return name if isinstance(name, str) and re.fullmatch(r"[a-z_.]{1,40}", name) else ""
