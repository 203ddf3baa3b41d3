"""Checks of a server by itself: what it serves, which requests it ignores, whether its flags have an effect."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from inference.errors import EngineUnavailableError
from inference.serving.health import served_by
from inference.serving.retry import ConnectionLostError, with_retries
from inference.serving.self_test.answer_checks import is_compact, keeps_to_schema
from inference.serving.self_test.pages import near_identical_pages
from inference.serving.self_test.report import Check
from inference.serving.self_test.signatures import distance
from inference.serving.self_test.subject import CHOICE_SCHEMA, Subject, choice_question, free_question
from inference.serving.wire import raw_answer, request_body
from inference.types import RawAnswer, VlmSpec

SECONDS = 180.0
"""The first requests of a server may have it compile."""

WHITE_SPACE = (" ", "  ", "\n", "\n\n", "\t", "\n\t", " \n")
STRONGEST_BIAS = 100

JSON_SCHEMA_FORMAT = {"type": "json_schema", "json_schema": {"name": "probe", "schema": CHOICE_SCHEMA, "strict": True}}


class ProbedServer:
    """Sends requests that no engine would send. Made for one self-test."""

    def __init__(self, spec: VlmSpec, client: httpx.Client) -> None:
        self.spec = spec
        self.client = client

    def chat(self, body: Mapping[str, Any]) -> RawAnswer | None:
        """Return the answer to a request, None where the server refuses it (4xx); raise EngineUnavailableError."""
        response = self.post("/v1/chat/completions", body)
        if response.is_client_error:
            return None
        if not response.is_success:
            raise EngineUnavailableError(f"the server failed ({response.status_code})")
        return raw_answer(response.content, is_free=False, seconds=0.0)

    def post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """Return whatever the server answers; raise EngineUnavailableError where it cannot be reached."""

        def attempt() -> httpx.Response:
            try:
                return self.client.post(path, json=body, timeout=SECONDS)
            except httpx.TransportError as broken:
                raise ConnectionLostError(f"no connection to the server: {type(broken).__name__}") from None

        return with_retries(attempt)


def check_served(server: ProbedServer) -> Check:
    """See that the server was started for this version: vLLM's version, the tied name, the bare name, the context."""
    served, spec = served_by(server.client), server.spec
    found = {
        "vllm_version": served.vllm_version,
        "tied_name": spec.tied_name,
        "models": sorted(served.max_model_lens),
        # Of the bare weights: an adapter is listed without a bound of its own.
        "max_model_len": served.max_model_lens.get(spec.served_model_name, 0),
    }
    declared = spec.server_flags.get("max-model-len", found["max_model_len"])
    is_passed = (
        served.vllm_version == spec.vllm_version
        and {spec.tied_name, spec.served_model_name} <= set(served.max_model_lens)
        and found["max_model_len"] == declared
    )
    return Check("served_as_declared", is_passed, found)


def check_white_space(server: ProbedServer, subject: Subject) -> Check:
    """See that white space between the tokens of constrained JSON cannot go on until the limit.

    A well-trained model writes none and proves nothing, so tokens of white space are made as likely as the server
    allows: where the grammar permits one, it is written again and again. Whether the server's flag alone would do, for
    requests in OpenAI's form, is told beside it.
    """
    body = _body(server, subject, with_schema=True)
    bias = dict.fromkeys(_white_space_tokens(server), STRONGEST_BIAS)
    answer = server.chat(body | {"logit_bias": bias})
    openai_body = {key: value for key, value in body.items() if key != "structured_outputs"}
    by_flag = server.chat(openai_body | {"logit_bias": bias, "response_format": JSON_SCHEMA_FORMAT})
    found = {
        "n_biased_tokens": len(bias),
        "finish_reason": answer.finish_reason if answer else "refused",
        "is_held_by_flag": by_flag is not None and by_flag.finish_reason == "stop" and is_compact(by_flag.text),
    }
    is_passed = answer is not None and keeps_to_schema(answer) and is_compact(answer.text)
    return Check("no_white_space_loop", is_passed, found, is_required=server.spec.decoding.is_constrained)


def _white_space_tokens(server: ProbedServer) -> list[str]:
    """Return the ids of the tokens that are nothing but white space, as far as the server tells them."""
    found: dict[str, None] = {}
    for text in WHITE_SPACE:
        asked = {"model": server.spec.served_model_name, "prompt": text, "add_special_tokens": False}
        response = server.post("/tokenize", asked)
        tokens = response.json().get("tokens", []) if response.is_success else []
        if len(tokens) == 1:
            found[str(tokens[0])] = None
    return list(found)


def check_forms_of_constraint(server: ProbedServer, subject: Subject) -> Check:
    """Tell which other ways of asking for constrained JSON have an effect; `guided_json` is ignored without a word.

    It decides nothing, since engines ask by `structured_outputs`; who asks otherwise should know.
    """
    free = _body(server, subject, with_schema=False)
    forms = {"response_format": JSON_SCHEMA_FORMAT, "guided_json": CHOICE_SCHEMA}
    found = {}
    for name, value in forms.items():
        answer = server.chat(free | {name: value})
        found[name] = "refused" if answer is None else "obeyed" if keeps_to_schema(answer) else "ignored"
    return Check("forms_of_constraint", found["response_format"] == "obeyed", found, is_required=False)


def check_image_limit(server: ProbedServer, subject: Subject) -> Check:
    """See that one image more than the version's flags allow is refused, so that none is left out unseen."""
    limit = server.spec.server_flags.get("limit-mm-per-prompt", {"image": 1})
    n_images = int((json.loads(limit) if isinstance(limit, str) else limit).get("image", 1))
    body = _body(server, subject, with_schema=False)
    [message] = body["messages"]
    pictures = [part for part in message["content"] if part["type"] == "image_url"]
    texts = [part for part in message["content"] if part["type"] == "text"]
    crowded = [{"role": "user", "content": [*pictures * (n_images + 1), *texts]}]
    return Check("image_limit", server.chat(body | {"messages": crowded}) is None, {"limit": n_images})


def check_adapter(server: ProbedServer, subject: Subject) -> Check:
    """Tell whether LoRA can load; see that the version's adapter answers otherwise than the bare weights."""
    unloadable = server.post("/v1/load_lora_adapter", {"lora_name": "stet-probe", "lora_path": "/nowhere"})
    served = served_by(server.client).max_model_lens
    found: dict[str, Any] = {
        "is_enabled": bool(server.spec.server_flags.get("enable-lora", False)),
        # Where the server has no such path the answer is the framework's, not vLLM's.
        "can_load_at_run_time": unloadable.status_code != httpx.codes.NOT_FOUND or "error" in _object(unloadable),
        # As they are listed: the version's own by its tied name.
        "adapters": sorted(name for name, length in served.items() if not length),
    }
    if not server.spec.adapter:
        return Check("adapter", True, found, is_required=False)
    with_adapter, bare = (
        server.chat(_body(server, subject, with_schema=False, model=name))
        for name in (server.spec.tied_name, server.spec.served_model_name)
    )
    found["shift"] = round(distance(with_adapter, bare), 6) if with_adapter and bare else 0.0
    return Check("adapter", found["shift"] > 0, found)


def _object(response: httpx.Response) -> Mapping[str, Any]:
    try:
        data = response.json()
    except ValueError:
        return {}
    return data if isinstance(data, Mapping) else {}


def _body(server: ProbedServer, subject: Subject, *, with_schema: bool, model: str = "") -> dict[str, Any]:
    """Return a request as this version's engine would send it, or to another model of the server, to be changed."""
    image = subject.prepared(near_identical_pages()[0])
    question = choice_question(image) if with_schema else free_question(image)
    body: dict[str, Any] = json.loads(request_body(question, server.spec, model=model))
    if not with_schema:
        # An answer that ends at its first brace would hide what the server itself does.
        body.pop("stop", None)
        body.pop("include_stop_str_in_output", None)
    return body


ServerCheck = Callable[[ProbedServer, Subject], Check]
SERVER_CHECKS: tuple[ServerCheck, ...] = (
    check_white_space,
    check_forms_of_constraint,
    check_image_limit,
    check_adapter,
)
