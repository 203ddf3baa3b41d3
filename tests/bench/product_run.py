"""One run of the whole product over a folder of files: `child product_run`, in a data folder of its own."""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from review.models import UNFINISHED_STATUSES, Document, DocumentStatus, PageRead, PageReadState, RoutingDecision
from tests.bench import worlds
from tests.bench.measuring import family_cpu_seconds
from tests.bench.report import write

ROOT = Path(__file__).resolve().parent.parent.parent
POLL_SECONDS = 0.2


def main(arguments: Sequence[str]) -> int:
    """Read the files; print one JSON object, `{"seconds", "cpu_seconds_per_page"}`, or the end of the log."""
    parser = argparse.ArgumentParser(prog="product_run", description=__doc__)
    parser.add_argument("--warm-up", type=Path, nargs="+", required=True)
    parser.add_argument("--files", type=Path, nargs="+", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--patience", type=float, default=280.0, help="seconds after which a run has failed")
    options = parser.parse_args(arguments)
    call_command("migrate", verbosity=0)
    document_type = worlds.make_type(worlds.make_project(), "receipt")
    # The tasks are done in this order: whoever reads a measured file has read one for warming up before.
    warm_up = worlds.receive(document_type, (path.read_bytes() for path in options.warm_up))
    documents = worlds.receive(document_type, (path.read_bytes() for path in options.files))
    log = Path(settings.DATA_DIR) / "serve.log"
    deadline = time.monotonic() + options.patience
    with log.open("wb") as file:
        environment = os.environ | {"STET_LOG_LEVEL": "INFO"}
        command = [sys.executable, str(ROOT / "manage.py"), "serve"]
        command += ["--port", str(_free_port()), "--workers", str(options.workers)]
        served = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
        try:
            _wait_for(warm_up, served, deadline)
            n_begun, cpu_started = _n_routed(documents), family_cpu_seconds(served.pid)
            _wait_for(documents, served, deadline)
            cpu = family_cpu_seconds(served.pid) - cpu_started
            started, ended = _start(warm_up, options.workers), _end(documents)
            _require_read(documents)
        except RuntimeError as failure:
            write(f"{failure}\n{log.read_text(errors='replace')[-2000:]}")
            return 1
        finally:
            served.terminate()
            served.wait()
    write(json.dumps({"seconds": ended - started, "cpu_seconds_per_page": cpu / (len(documents) - n_begun)}))
    return 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(documents: Sequence[Document], served: "subprocess.Popen[bytes]", deadline: float) -> None:
    unfinished = Document.objects.filter(pk__in=[document.pk for document in documents], status__in=UNFINISHED_STATUSES)
    while unfinished.exists():
        if served.poll() is not None:
            raise RuntimeError(f"the product ended with {served.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError("the product is not done in time")
        time.sleep(POLL_SECONDS)


def _n_routed(documents: Sequence[Document]) -> int:
    return RoutingDecision.objects.filter(document__in=documents).count()


def _start(warm_up: Sequence[Document], n_workers: int) -> float:
    """Return when the workers were warm, as a time in seconds: the mean of when each was done with its last file.

    The mean, for a worker that is done sooner goes on to the measured files at once.
    """
    ends: dict[str, float] = {}
    reads = PageRead.objects.filter(run__document__in=warm_up).select_related("run__decision")
    for read in reads:
        # A claim's token begins with the mark of the process that read the page.
        worker = read.claim_token[:16]
        ends[worker] = max(ends.get(worker, 0.0), read.run.decision.created_at.timestamp())
    if len(ends) != n_workers:
        raise RuntimeError(f"{len(ends)} of {n_workers} workers took part in the warm-up; give it more files")
    return sum(ends.values()) / len(ends)


def _end(documents: Sequence[Document]) -> float:
    last = RoutingDecision.objects.filter(document__in=documents).latest("created_at")
    return last.created_at.timestamp()


def _require_read(documents: Sequence[Document]) -> None:
    """Raise RuntimeError where a page was spared the reading: as a copy, from the cache, or by a failure."""
    found = Document.objects.filter(pk__in=[document.pk for document in documents])
    odd = found.exclude(status__in=(DocumentStatus.STORED, DocumentStatus.REVIEW)) | found.exclude(duplicate_of=None)
    read = PageRead.objects.filter(run__document__in=found, state=PageReadState.READ, is_cached=False).count()
    if odd.exists() or read != len(documents):
        raise RuntimeError("a document was not read")
