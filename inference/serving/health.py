"""Whether a server answers, and what it serves."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import httpx

from inference.errors import AnswerLostError, EngineUnavailableError, VersionNotServedError
from inference.types import VlmSpec

START_POLL_SECONDS = 0.5
READY_POLL_SECONDS = 5.0
REQUEST_SECONDS = 5.0


class Health(Enum):
    """How a server is. LOST: it did not come up in time, or has been silent for too long."""

    STARTING = "starting"
    READY = "ready"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Served:
    """What a server says of itself. `max_model_lens` maps each served name to its bound in tokens, 0 for adapters."""

    vllm_version: str
    max_model_lens: dict[str, int]


def is_healthy(client: httpx.Client) -> bool:
    """Return whether the server says that it can answer; no connection is a no, and so is an answer without end."""
    try:
        return client.get("/health", timeout=REQUEST_SECONDS).status_code == httpx.codes.OK
    except (httpx.TransportError, AnswerLostError):
        return False


def served_by(client: httpx.Client) -> Served:
    """Ask a server what it serves; raise EngineUnavailableError when it does not say."""
    try:
        version = client.get("/version", timeout=REQUEST_SECONDS).raise_for_status().json()
        models = client.get("/v1/models", timeout=REQUEST_SECONDS).raise_for_status().json()
        lengths = {str(model["id"]): int(model["max_model_len"] or 0) for model in models["data"]}
        return Served(str(version["version"]), lengths)
    except httpx.HTTPStatusError as error:
        raise EngineUnavailableError(
            # A password may stand in the address.
            f"the server answers {error.response.status_code} at {error.request.url.copy_with(userinfo=b'')}"
        ) from None
    except httpx.TransportError as error:
        raise EngineUnavailableError(f"the server cannot be reached: {type(error).__name__}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise EngineUnavailableError("what answers there is no vLLM server") from error


def refuse_other(served: Served, spec: VlmSpec) -> None:
    """Return where a server is the one of the version; raise VersionNotServedError, with the remedy, where it is not.

    The name of a model proves nothing: other weights and other flags are served under it too. Only who was started
    for the version knows its tied name.
    """
    if served.vllm_version != spec.vllm_version:
        raise VersionNotServedError(
            f"the server runs vLLM {served.vllm_version}, this engine version was declared for {spec.vllm_version}"
        )
    if spec.tied_name not in served.max_model_lens:
        raise VersionNotServedError(
            f"the server does not serve this engine version ({spec.tied_name}) "
            f"but: {', '.join(sorted(served.max_model_lens)) or 'nothing'}. {restart_remedy(spec)}"
        )


def restart_remedy(spec: VlmSpec) -> str:
    """Return what to do about a server that is not the one of the version."""
    return f"Restart it with manage.py serve_model --engine-version {spec.digest[:16]}"


class HealthWatch:
    """Follows one server process through its life: asks at its own pace, whatever the pace of `look`.

    `start_seconds` bounds how long it may take to come up, `silent_seconds` how long it may then fail to answer: a
    server that ran out of memory may live on without ever answering again.
    """

    def __init__(
        self,
        ask: Callable[[], bool],
        *,
        start_seconds: float,
        silent_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._start_seconds = start_seconds
        self._silent_seconds = silent_seconds
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """Note that a process has just been started."""
        self._is_up = False
        self._heard_at = self._asked_at = self._clock()
        self._health = Health.STARTING

    def look(self) -> Health:
        """Return how the server is, asking it when that is due."""
        now = self._clock()
        if now - self._asked_at >= (READY_POLL_SECONDS if self._is_up else START_POLL_SECONDS):
            is_answering = self._ask()
            self._asked_at = self._clock()
            if is_answering:
                self._is_up, self._heard_at = True, self._asked_at
            bound = self._silent_seconds if self._is_up else self._start_seconds
            if self._asked_at - self._heard_at > bound:
                self._health = Health.LOST
            else:
                self._health = Health.READY if self._is_up else Health.STARTING
        return self._health
