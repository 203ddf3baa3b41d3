"""How far the relay has come in the event table, late commits included."""

from collections.abc import Iterable

from review.selectors.events import COMMIT_LAG, EventRow

MAX_MISSING = 2_000


class Cursor:
    """Remembers the highest id seen and the ids below it that no row had yet.

    PostgreSQL draws an id when a row is written and shows the row when its transaction commits: 12 may be visible
    before 11. A missing id is asked for again until it shows up or has been missing for longer than any transaction
    takes (it was rolled back).
    """

    def __init__(self, highest: int, missing: Iterable[int], now: float) -> None:
        self.highest = highest
        self._missing = dict.fromkeys(sorted(missing), now)

    @property
    def missing(self) -> list[int]:
        """The ids that may still show up, lowest first."""
        return list(self._missing)

    def advance(self, rows: Iterable[EventRow], now: float) -> list[EventRow]:
        """Take what was found, by id; return what had not been seen before."""
        fresh = []
        for row in rows:
            if row.id > self.highest:
                skipped = range(max(self.highest + 1, row.id - MAX_MISSING), row.id)
                self._missing.update(dict.fromkeys(skipped, now))
                self.highest = row.id
            elif self._missing.pop(row.id, None) is None:
                continue
            fresh.append(row)
        self._forget(now)
        return fresh

    def _forget(self, now: float) -> None:
        oldest = now - COMMIT_LAG.total_seconds()
        kept = [(missing, since) for missing, since in self._missing.items() if since > oldest]
        self._missing = dict(kept[-MAX_MISSING:])
