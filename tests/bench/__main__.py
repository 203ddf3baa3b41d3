"""`python -m tests.bench [NAME …]`, or `python -m tests.bench NAME --option …`: see docs/benchmarks.md.

Each benchmark runs in a process and a data folder of its own, which goes when it is done.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.report import write

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = (
    "throughput",
    "overhead",
    "queue",
    "accuracy",
    "engine",
    "client",
    "planted",
    "recorded",
    "region",
    "targets",
    "drift",
    "answers",
    "export",
)
# Need folders of pages of which it is known what they show: run only when they are named.
NAMED_ONLY = ("text", "learning", "classifier")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def environment(data_dir: Path) -> dict[str, str]:
    """Return the environment of a child: nothing of this installation's but the path to its programs."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("STET_", "DATABASE_", "REDIS_"))}
    return (
        own
        | ONE_THREAD
        | {
            "STET_DATA_DIR": str(data_dir),
            "STET_LOG_LEVEL": "ERROR",
            "STET_NEAR_DUPLICATE_PAGES": "0",
            "DJANGO_SETTINGS_MODULE": "ocrsite.settings",
        }
        # Measured beside a bare loop, which does not stand back either.
        | {"STET_BULK_NICENESS": "0"}
    )


def run(name: str, options: Sequence[str] = ()) -> int:
    """Run one benchmark; return its exit status."""
    with tempfile.TemporaryDirectory(prefix=f"stet-bench-{name}-") as folder:
        command = [sys.executable, "-m", "tests.bench.child", name, *options]
        return subprocess.run(command, cwd=ROOT, env=environment(Path(folder)), check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks named, or all; options go to the one that is named before them."""
    first_option = next((n for n, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    names, options = arguments[:first_option] or NAMES, arguments[first_option:]
    unknown = set(names) - {*NAMES, *NAMED_ONLY}
    if unknown or (options and len(names) != 1):
        known = " | ".join((*NAMES, *NAMED_ONLY))
        sys.stderr.write(f"usage: python -m tests.bench [{known} …], or one of them with its options\n")
        return 2
    missed = [name for name in names if run(name, options) != 0]
    if missed:
        write(f"missed or failed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
