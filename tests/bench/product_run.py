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
from django.db.models import Max
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from review.models import UNFINISHED_STATUSES, Document, DocumentStatus, PageRead, PageReadState, RoutingDecision
from tests.bench import worlds
from tests.bench.measuring import family_cpu_seconds
from tests.bench.report import write

ROOT = Path(__file__).resolve().parent.parent.parent
POLL_SECONDS = 0.2
HELD_BACK = "held back by the benchmark"


def main(arguments: Sequence[str]) -> int:
    """Read the files; print one JSON object, `{"seconds", "cpu_seconds", "n_pages"}`, or the end of the log."""
    parser = argparse.ArgumentParser(prog="product_run", description=__doc__)
    parser.add_argument("--warm-up", type=Path, nargs="+", required=True)
    parser.add_argument("--files", type=Path, nargs="+", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--patience", type=float, default=280.0, help="seconds after which a run has failed")
    options = parser.parse_args(arguments)
    call_command("migrate", verbosity=0)
    document_type = worlds.make_type(worlds.make_project(), "receipt")
    warm_up = worlds.receive(document_type, (path.read_bytes() for path in options.warm_up))
    n_warm_up = OrmQ.objects.count()
    documents = worlds.receive(document_type, (path.read_bytes() for path in options.files))
    # Files come first, the clock later: the worker sees the queue's other name only when its engines are warm.
    measured = [message.pk for message in OrmQ.objects.order_by("pk")[n_warm_up:]]
    OrmQ.objects.filter(pk__in=measured).update(key=HELD_BACK)
    log = Path(settings.DATA_DIR) / "serve.log"
    deadline = time.monotonic() + options.patience
    with log.open("wb") as file:
        environment = os.environ | {"STET_LOG_LEVEL": "INFO"}
        command = [sys.executable, str(ROOT / "manage.py"), "serve"]
        command += ["--port", str(_free_port()), "--workers", str(options.workers)]
        served = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
        try:
            _wait_for(warm_up, served, deadline)
            _require_warm(options.workers)
            started, cpu_started = timezone.now(), family_cpu_seconds(served.pid)
            OrmQ.objects.filter(pk__in=measured).update(key=Conf.CLUSTER_NAME)
            _wait_for(documents, served, deadline)
            cpu = family_cpu_seconds(served.pid) - cpu_started
        except RuntimeError as failure:
            write(f"{failure}\n{log.read_text(errors='replace')[-2000:]}")
            return 1
        finally:
            served.terminate()
            served.wait()
    routed = RoutingDecision.objects.filter(document__in=documents).aggregate(last=Max("created_at"))["last"]
    write(
        json.dumps({"seconds": (routed - started).total_seconds(), "cpu_seconds": cpu, "n_pages": _n_read(documents)})
    )
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


def _require_warm(n_workers: int) -> None:
    # A claim's token begins with the mark of the process that read the page.
    tokens = PageRead.objects.filter(state=PageReadState.READ).values_list("claim_token", flat=True)
    n_warm = len({token[:16] for token in tokens})
    if n_warm < n_workers:
        raise RuntimeError(f"only {n_warm} of {n_workers} workers took part in the warm-up; give it more files")


def _n_read(documents: Sequence[Document]) -> int:
    """Return how many pages were read; none of them may have been spared by a copy or a failure."""
    found = Document.objects.filter(pk__in=[document.pk for document in documents])
    odd = found.exclude(status__in=(DocumentStatus.STORED, DocumentStatus.REVIEW)) | found.exclude(duplicate_of=None)
    read = PageRead.objects.filter(run__document__in=found, state=PageReadState.READ, is_cached=False).count()
    if odd.exists() or read != len(documents):
        raise RuntimeError("a document was not read")
    return read
