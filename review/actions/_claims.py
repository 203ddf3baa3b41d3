"""Claims on work: a token that also tells which process holds it, so that the claim of a dead one is seen at once."""

import hashlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_PID_NAMESPACE = Path("/proc/self/ns/pid")


@cache
def _place() -> str:
    """Return eight letters for "where a process id means the same process": this host and container."""
    namespace = str(_PID_NAMESPACE.readlink()) if _PID_NAMESPACE.is_symlink() else ""
    return hashlib.sha256(f"{socket.gethostname()}\n{namespace}".encode()).hexdigest()[:8]


def process_mark(pid: int | None = None) -> str:
    """Return 16 letters that name a process of this host (this one, if none is given) among those of all hosts."""
    return f"{_place()}{os.getpid() if pid is None else pid:08x}"


def new_claim_token() -> str:
    """Return 32 letters, never twice the same, that name this process."""
    return process_mark() + secrets.token_hex(8)


def is_of_dead_process(token: str) -> bool:
    """Whether the process that the token names is known to be gone; of another host's process nothing is known."""
    if not token.startswith(_place()):
        return False
    try:
        os.kill(int(token[8:16], 16), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def is_of_living_process(token: str) -> bool:
    """Whether the process that the token names is known to be there."""
    return token.startswith(_place()) and not is_of_dead_process(token)
