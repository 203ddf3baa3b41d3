"""Questions as vLLM's chat-completion endpoint takes them, and its answers as raw answers."""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from inference.answers.strict import NotStrictError, read_strictly_at
from inference.errors import AnswerLostError
from inference.serving.closing import BraceScanner
from inference.serving.completions import Generated, Usage, read_completion
from inference.serving.page_images import PreparedImage
from inference.serving.partial_tokens import with_shared_bytes
from inference.serving.questions import Question, Turn
from inference.types import RawAnswer, Token, VlmSpec

STOP_AFTER_OBJECT = ("}\n```", "}\n\n")
"""What stands behind the first object of free text and never within it: the end of its fence, or an empty line.

A brace at the start of a line would be no such thing: without indentation each row of a table ends with one.
"""

FINISH_REASONS = frozenset({"stop", "length", "repetition"})


def request_body(question: Question, spec: VlmSpec, *, model: str = "") -> bytes:
    """Return the request's JSON. `model` is a name under which the server knows a model, as a rule the tied name.

    Images are put in as they are encoded: to escape half a megabyte that needs no escaping costs more than the rest of
    the request. `structured_outputs` is vLLM's own key; `guided_json` would be ignored without a word (0.32). That
    no white space is allowed between tokens, or weak models write it without end, is asked for and not heeded by 0.32
    either: there the server's flag alone decides, and the self-test looks whether it does.
    """
    decoding = spec.decoding
    mark = uuid.uuid4().hex
    images = [part for turn in question.turns for part in turn.parts if isinstance(part, PreparedImage)]
    body: dict[str, Any] = {
        "model": model or spec.tied_name,
        "messages": messages(question.turns, [f"{mark}-{n}" for n in range(len(images))]),
        "temperature": decoding.temperature,
        "seed": decoding.seed,
        "max_tokens": question.max_tokens,
    }
    if decoding.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": decoding.top_logprobs}
    if question.schema is None:
        body |= {"stop": list(STOP_AFTER_OBJECT), "include_stop_str_in_output": True}
    else:
        body["structured_outputs"] = {"json": question.schema, "disable_any_whitespace": True}
    data = msgspec.json.encode(body)
    for n, image in enumerate(images):
        data = data.replace(f"{mark}-{n}".encode(), image.as_data_url(), 1)
    return data


def messages(turns: Sequence[Turn], urls: Sequence[str]) -> list[dict[str, Any]]:
    """Return turns as chat messages; `urls` are those of the images, in their order.

    A turn without an image is plain text: the templates of some models take nothing else from the assistant.
    """
    left = iter(urls)
    return [{"role": turn.role, "content": _content(turn, left)} for turn in turns]


def _content(turn: Turn, urls: Iterator[str]) -> str | list[dict[str, Any]]:
    texts = [part for part in turn.parts if isinstance(part, str)]
    if len(texts) == len(turn.parts):
        return "\n".join(texts)
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": next(urls)}}
        for part in turn.parts
    ]


def raw_answer(response: bytes, *, is_free: bool, seconds: float) -> RawAnswer:
    """Return what a response says; `is_free` when nothing bound the answer.

    Raise AnswerLostError where this is no answer of a chat endpoint, or the server gave the request up.
    """
    try:
        completion = read_completion(response)
    except ValueError:
        raise AnswerLostError(
            "answer_lost", "what answered is no chat-completion endpoint: see STET_VLLM_URL"
        ) from None
    choice, usage = completion.choices[0], completion.usage or Usage()
    if choice.finish_reason not in FINISH_REASONS:
        raise AnswerLostError("answer_lost", "the server gave the request up")
    text = choice.message.content or ""
    finish_reason = finish_of(text, choice.finish_reason, choice.stop_reason, is_free=is_free)
    tokens = _tokens((choice.logprobs and choice.logprobs.content) or ())
    return RawAnswer(text, finish_reason, tokens, usage.prompt_tokens, usage.completion_tokens, seconds)


def finish_of(text: str, finish_reason: str, stop_reason: object, *, is_free: bool) -> str:
    """Return why an answer ended, as far as its object goes, in which alone lies the interest.

    Free text that was stopped inside its object was cut short, by us; free text that ran on to its limit behind its
    object was not. An object that follows another one may be the one that was meant.
    """
    if is_free and finish_reason == "stop" and stop_reason in STOP_AFTER_OBJECT and not BraceScanner().feed(text):
        return "length"
    if is_free and finish_reason == "length" and "{" in text:
        try:
            _, end = read_strictly_at(text, text.index("{"))
        except NotStrictError:
            return finish_reason
        return finish_reason if "{" in text[end:] else "stop"
    return finish_reason


def _tokens(entries: Sequence[Generated]) -> tuple[Token, ...]:
    return with_shared_bytes(
        [
            Token(entry.data, entry.logprob, tuple([(other.data, other.logprob) for other in entry.top_logprobs]))
            for entry in entries
        ]
    )
