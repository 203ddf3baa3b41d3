"""Many callers at once, each with a database connection of its own, started together."""

import threading
from collections.abc import Callable, Sequence

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
