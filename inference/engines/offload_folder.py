"""Where weights lie that neither graphics card nor memory has room for: gigabytes, and no longer than needed."""

import os
import shutil
import tempfile
from multiprocessing import util
from pathlib import Path

PREFIX = "stet-offload-"


class OffloadFolder:
    """A new folder at `path`, removed by `close`, with the object, or at the end of the process, whichever is first.

    Workers are forked and leave by a way of their own, past Python's `atexit`: multiprocessing's finalisers run there
    too. What a killed process leaves behind is removed by the next one that makes such a folder.
    """

    def __init__(self) -> None:
        remove_leftovers()
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self._remove = util.Finalize(self, shutil.rmtree, (self.path,), {"ignore_errors": True}, exitpriority=0)

    def close(self) -> None:
        """Remove the folder; what was loaded from it cannot be used any longer."""
        self._remove()


def remove_leftovers() -> int:
    """Remove folders of processes of this host that are gone; return how many."""
    n_removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
            n_removed += not folder.exists()
    return n_removed
