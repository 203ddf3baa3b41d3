"""Files to take in: found in folders, and taken only once nobody writes to them any more."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path


def files_under(path: Path) -> list[Path]:
    """Return the file itself, or all files below a folder by name; hidden ones are passed over."""
    if path.is_file():
        return [path]
    found = (candidate for candidate in path.rglob("*") if candidate.is_file())
    return sorted(file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts))


def settled_files(paths: Sequence[Path], settle_seconds: float, patience_seconds: float) -> Iterator[tuple[Path, bool]]:
    """Yield each file once its size and time are the same in two looks `settle_seconds` apart, with True.

    A file that is still being written when `patience_seconds` are over, or that has gone, is yielded with False.
    """
    until = time.monotonic() + patience_seconds
    seen = {path: _look(path) for path in paths}
    while seen:
        time.sleep(settle_seconds)
        now = {path: _look(path) for path in seen}
        still = [path for path in seen if now[path] is not None and now[path] == seen[path]]
        yield from ((path, True) for path in still)
        gone = [path for path in seen if now[path] is None]
        yield from ((path, False) for path in gone)
        seen = {path: look for path, look in now.items() if path not in {*still, *gone}}
        if time.monotonic() >= until:
            yield from ((path, False) for path in seen)
            return


def _look(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns
