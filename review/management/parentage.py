"""No process outlives the one that started it, not even when that one is killed outright."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(ending: signal.Signals) -> Callable[[], None]:
    """Return what a child calls first of all: from then on the kernel sends it `ending` when its parent dies.

    Only Linux can do this; elsewhere a killed parent may leave children behind.
    """

    def ask_kernel() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, int(ending), 0, 0, 0)

    return ask_kernel


def forked_children_die_with_us() -> None:
    """Hold for every process forked from this one from now on, and for those forked from it in turn."""
    os.register_at_fork(after_in_child=die_with_parent(signal.SIGKILL))
