"""The part of a chat completion that is looked at, as vLLM's OpenAI-compatible server writes it; the rest is skipped.

Read into these shapes straight from the bytes: an answer has hundreds of tokens with their alternatives, and dicts of
all of it cost half of what an answer costs here.
"""

from typing import Annotated

import msgspec

Byte = Annotated[int, msgspec.Meta(ge=0, le=255)]


class Alternative(msgspec.Struct, frozen=True):
    """A token that might have stood here; `numbers` ("bytes") are its bytes, None where only its text is told."""

    token: str
    logprob: float
    numbers: list[Byte] | None = msgspec.field(name="bytes")

    @property
    def data(self) -> bytes:
        """Its bytes; a token may end inside a character."""
        return self.token.encode() if self.numbers is None else bytes(self.numbers)


class Generated(Alternative, frozen=True):
    """A token that was written, with the likeliest at its place (itself among them) where they were asked for."""

    top_logprobs: tuple[Alternative, ...] = ()


class Logprobs(msgspec.Struct, frozen=True):
    """What is known of the tokens; None where the server does not tell."""

    content: tuple[Generated, ...] | None = None


class Message(msgspec.Struct, frozen=True):
    """What the model wrote."""

    content: str | None


class Choice(msgspec.Struct, frozen=True):
    """One answer, and why it ended: `stop_reason` is the text or token it was stopped at, None for its own end."""

    message: Message
    finish_reason: str | None
    logprobs: Logprobs | None = None
    stop_reason: str | int | None = None


class Usage(msgspec.Struct, frozen=True):
    """Tokens counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class ChatCompletion(msgspec.Struct, frozen=True):
    """The whole response."""

    choices: tuple[Choice, ...]
    usage: Usage | None = None


_DECODER = msgspec.json.Decoder(ChatCompletion)


def read_completion(response: bytes) -> ChatCompletion:
    """Return a response; raise ValueError where this is none, or has no answer in it."""
    try:
        completion = _DECODER.decode(response)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None
    if not completion.choices:
        raise ValueError("no choice")
    return completion
