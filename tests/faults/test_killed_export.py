"""The process that writes an export is killed half-way; another one writes it, whole, from the beginning."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BEGIN = """
import os
import signal
import django
django.setup()
from django.core.management import call_command
from review import tasks_exports
from review.actions.exports import request_export
from review.selectors.access import SYSTEM
from review.selectors.exports import items_to_export
from tests import factories
from tests.review.labels import add_record
call_command("migrate", verbosity=0)
document_type = factories.make_document_type(factories.make_project("receipts"))
for number in range(8):
    add_record(document_type, filename=f"{number}.jpg")
export = request_export(actor=SYSTEM, project=document_type.project, format="jsonl")
items_to_export.__kwdefaults__["batch_size"] = 2
write = tasks_exports.write_records

def write_half(target, *args, **kwargs):
    for written in write(target, *args, **kwargs):
        yield written
        if written.n_records == 4:
            target.flush()
            os.kill(os.getpid(), signal.SIGKILL)

tasks_exports.write_records = write_half
tasks_exports.PROGRESS_SECONDS = 0.0
tasks_exports.write_export(export.pk)
"""
GO_ON = """
import json
import django
django.setup()
from django_q.models import OrmQ
from review.actions.recovery import requeue_work
from review.models import DatasetExport
from review.tasks_exports import write_export
left = DatasetExport.objects.get()
before = [left.state, left.n_written, left.n_attempts]
OrmQ.objects.all().delete()
queued = requeue_work()
write_export(left.pk)
write_export(left.pk)
done = DatasetExport.objects.get()
print(json.dumps({"before": before, "queued": queued, "n_tasks": OrmQ.objects.count(), "state": done.state,
    "n_attempts": done.n_attempts, "n_written": done.n_written, "path": done.file.path, "sha256": done.sha256}))
"""


def python(script: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    env |= {"STET_DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "ocrsite.settings"}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


def test_an_export_whose_writer_is_killed_is_finished_by_another(tmp_path: Path) -> None:
    killed = python(BEGIN, tmp_path)
    assert killed.returncode == -9, killed.stderr
    half = next((tmp_path / "incoming").glob("export-*.part"))
    assert len(half.read_text().splitlines()) == 4
    assert not list((tmp_path / "media").glob("projects/*/exports/*"))

    done = python(GO_ON, tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    # That its writer is dead is seen at once; a second delivery of the task does nothing.
    assert result["before"][0] == "running"
    assert result["before"][2] == 1
    assert (result["queued"], result["n_tasks"]) == ({"datasetexport": 1}, 1)
    assert (result["state"], result["n_attempts"], result["n_written"]) == ("done", 2, 8)
    rows = [json.loads(line) for line in Path(result["path"]).read_text().splitlines()]
    assert [row["document"]["filename"] for row in rows] == [f"{number}.jpg" for number in range(8)]
    assert list((tmp_path / "incoming").glob("export-*")) == []
