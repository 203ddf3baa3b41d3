"""Many callers at once, each with a database connection of its own, started together."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connections


def all_at_once(calls: Sequence[Callable[[], object]]) -> list[object]:
    """Run every call in a thread of its own, let them loose together, and return results or errors in order."""
    results: list[object] = [RuntimeError("never ran")] * len(calls)
    gate = threading.Barrier(len(calls))

    def run(number: int, call: Callable[[], object]) -> None:
        try:
            connections["default"].ensure_connection()
            gate.wait(timeout=60)
            results[number] = call()
        except Exception as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads), "a call hangs"
    return results


class Halfway:
    """Holds one call in the middle of its transaction while another one is let loose, for as long as that may take."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, is_it: Callable[[Any], bool] = lambda _: True
    ) -> None:
        self._inside, self._over = threading.Event(), threading.Event()
        real = getattr(module, name)

        def held(*args: Any, **values: Any) -> Any:
            if is_it(args):
                self._inside.set()
                # A call that waits for this transaction is not over before it.
                self._over.wait(1.0)
            return real(*args, **values)

        monkeypatch.setattr(module, name, held)

    def then(self, call: Callable[[], object]) -> Callable[[], object]:
        """Return the call, to be made once the other one is in the middle."""

        def wait() -> object:
            assert self._inside.wait(60)
            try:
                return call()
            finally:
                self._over.set()

        return wait
