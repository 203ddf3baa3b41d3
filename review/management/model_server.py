"""One model server under supervision: refused when it does not come up, started again when it dies or falls silent."""

import time
from collections.abc import Callable

import httpx
import structlog
from django.core.management.base import CommandError

from inference.errors import EngineUnavailableError, VersionNotServedError
from inference.serving.health import Health, HealthWatch, refuse_other, served_by
from inference.types import VlmSpec
from review.management.supervision import Child

log = structlog.get_logger(__name__)


class ModelServer:
    """Acts on the health of `child`, which `client` talks to and `watch` follows; `look` is for a supervisor's tick.

    `spec` is the version that it serves. `tell_ready` hears, each time that the server can answer after a start, how
    many seconds the start took.
    """

    def __init__(
        self,
        child: Child,
        client: httpx.Client,
        watch: HealthWatch,
        spec: VlmSpec,
        tell_ready: Callable[[float], None],
    ) -> None:
        self.child = child
        self._client = client
        self._watch = watch
        self._spec = spec
        self._tell_ready = tell_ready
        self._followed_since = 0.0
        self._was_ready = self._is_told = False
        child.on_death = self._died

    def look(self) -> None:
        """Ask how the server is and act on it; raise CommandError where it never came up or is another vLLM."""
        if self.child.process is None:
            return
        if self.child.started_at != self._followed_since:
            self._followed_since, self._is_told = self.child.started_at, False
            self._watch.begin()
        health = self._watch.look()
        if health is Health.READY and not self._is_told:
            self._refuse_other()
            self._was_ready = self._is_told = True
            self._tell_ready(time.monotonic() - self.child.started_at)
        elif health is Health.LOST and not self._was_ready:
            raise CommandError("The server did not come up in time. Give it longer: --start-seconds.")
        elif health is Health.LOST:
            log.error("the server does not answer and is started again")
            self.child.bury()

    def _died(self, code: int) -> None:
        if not self._was_ready:
            raise CommandError(f"The server ended with exit code {code} before it could answer. What it said is above.")

    def _refuse_other(self) -> None:
        try:
            refuse_other(served_by(self._client), self._spec)
        except VersionNotServedError as other:
            raise CommandError(
                f"What came up is not this engine version: {other}. See which vLLM is installed there "
                "(--python, STET_VLLM_VENV) and whether something else answers on the port; else add another version."
            ) from None
        except EngineUnavailableError as error:
            raise CommandError(f"What came up cannot be asked what it is: {error}.") from None
