"""Trainings, snapshots, shadow reads and comparisons are killed half-way: the next worker ends each of them, once."""

import pytest

from tests.faults.house import House
from tests.review.conftest import picture
from tests.review.scripted import WORDS

KILL = """
import os
import signal
from types import SimpleNamespace
from review.models import Document, DocumentType, ModelKind, ShadowRead, User
from review.selectors.access import SYSTEM
from tests import factories
document_type = DocumentType.objects.get(slug="receipt")

def killing(module, name, is_it):
    real = getattr(module, name)

    def called(*args, **values):
        if is_it(*args, **values):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **values)

    setattr(module, name, called)
"""

TRAIN = """
from review import tasks_training
from review.actions.training import request_training
from tests.review.taught import teach

def ask():
    return request_training(
        actor=SYSTEM, project=document_type.project, document_type=document_type, kind=ModelKind.LOCATOR)

base = factories.make_engine_version("rapidocr")
for number in range(30):
    teach(document_type, User.objects.get(username="u"), number, base=base)
undisturbed = ask()
tasks_training.train(undisturbed.pk)
run = ask()
killing(tasks_training, "note_training_step", lambda claim, n_done: n_done == 3)
tasks_training.train(run.pk)
"""

TEACH_MORE = """
from review.models import DocumentType, EngineVersion, User
from tests.review.taught import teach
base = EngineVersion.objects.get(name="rapidocr", base=None)
teach(DocumentType.objects.get(slug="receipt"), User.objects.get(username="u"), 99, base=base)
"""

SNAPSHOT = """
from review import tasks_snapshots
from review.actions.snapshots import request_snapshot
from review.selectors.snapshots import candidates_of
from tests.review.snapshots import add_reviewed

for number in range(8):
    add_reviewed(document_type, f"paper {number}")
undisturbed = request_snapshot(actor=SYSTEM, project=document_type.project)
tasks_snapshots.take_snapshot(undisturbed.pk)
candidates_of.__kwdefaults__["batch_size"] = 2
killing(tasks_snapshots, "add_to_snapshot", lambda claim, items, n_done: claim.items.count() == 4)
tasks_snapshots.take_snapshot(request_snapshot(actor=SYSTEM, project=document_type.project).pk)
"""

SHADOW = """
from review import tasks_rollouts
from review.actions import shadows
from tests.review.rollout_room import rolled_out, worse

cast = SimpleNamespace(document_type=document_type)
document = Document.objects.get()
shadow = ShadowRead.objects.create(
    rollout=rolled_out(cast, worse(cast)), document=document, champion_run=document.runs.get())
# In the middle of the transaction that keeps what the challenger read.
killing(shadows, "record_audit", lambda *args, **values: True)
tasks_rollouts.read_shadow(shadow.pk)
"""

ROLL_OUT = """
from pathlib import Path
from review.actions.rollouts import start_rollout
from tests.review.rollout_room import as_good, freeze

cast = SimpleNamespace(document_type=document_type, project=document_type.project)
freeze(cast, Path(os.environ["STET_DATA_DIR"]) / "set", n=3)
start_rollout(actor=SYSTEM, document_type=document_type, engine_version=as_good(cast))
"""


@pytest.fixture
def house(house: House) -> House:
    # Nothing is trained by itself here.
    house.settings["STET_TRAIN_EVERY"] = "0"
    return house


def do(house: House, script: str, returncode: int = 0) -> None:
    done = house.run("shell", "-v", "0", "-c", KILL + script)
    assert done.returncode == returncode, done.stderr


def go_on(house: House, table: str) -> None:
    """Start a worker, and wait until all of it has ended and nothing is queued."""
    house.start("work")
    house.wait_for(
        lambda: not house.rows(f"SELECT 1 FROM review_{table} WHERE state IN ('queued', 'running')"), "all has ended"
    )
    runs_dry(house)


def runs_dry(house: House) -> None:
    house.wait_for(lambda: house.rows("SELECT count(*) FROM django_q_ormq")[0][0] == 0, "the queue runs dry")


def n_audited(house: House, action: str) -> int:
    return int(house.rows("SELECT count(*) FROM review_auditentry WHERE action = ?", action)[0][0])


def test_a_training_killed_between_its_steps_makes_the_same_bytes(house: House) -> None:
    do(house, TRAIN, -9)
    assert house.rows("SELECT state, n_done FROM review_trainingrun ORDER BY id") == [("done", 5), ("running", 2)]
    # What comes meanwhile is not what it learns from.
    do(house, TEACH_MORE)
    go_on(house, "trainingrun")
    assert house.rows("SELECT state, n_attempts FROM review_trainingrun ORDER BY id") == [("done", 1), ("done", 2)]
    models = house.rows("SELECT sha256, payload FROM review_trainedmodel")
    assert len(models) == 2
    assert len(set(models)) == 1
    assert n_audited(house, "training.done") == 2


def test_a_snapshot_killed_half_way_holds_every_record_once(house: House) -> None:
    do(house, SNAPSHOT, -9)
    first, second = (row[0] for row in house.rows("SELECT id FROM review_snapshot ORDER BY id"))
    assert house.rows("SELECT count(*) FROM review_snapshotitem WHERE snapshot_id = ?", second) == [(4,)]
    go_on(house, "snapshot")
    assert house.rows("SELECT state, n_attempts, n_records FROM review_snapshot ORDER BY id") == [
        ("done", 1, 8),
        ("done", 2, 8),
    ]
    held = [
        house.rows(
            'SELECT record_id, split, "group", row FROM review_snapshotitem WHERE snapshot_id = ? ORDER BY id', one
        )
        for one in (first, second)
    ]
    assert held[0] == held[1]
    assert len(held[0]) == 8
    assert n_audited(house, "snapshot.done") == 2


def test_a_shadow_read_killed_while_it_is_kept_is_kept_once(house: House) -> None:
    house.send(one=picture("one"))
    work = house.start("work")
    house.wait_until_finished(1)
    work.terminate()
    work.wait()
    do(house, SHADOW, -9)
    assert house.rows("SELECT state, n_attempts FROM review_shadowread") == [("running", 1)]
    assert house.rows("SELECT count(*) FROM review_extractionrun WHERE role = 'shadow'") == [(0,)]
    go_on(house, "shadowread")
    assert house.rows("SELECT state, n_attempts FROM review_shadowread") == [("done", 2)]
    assert house.rows("SELECT count(*) FROM review_extractionrun WHERE role = 'shadow'") == [(1,)]
    assert house.rows("SELECT count(*), count(DISTINCT field_path) FROM review_shadowfield") == [(3, 3)]
    assert n_audited(house, "rollout.shadow_read") == 1


def test_a_comparison_killed_while_it_reads_is_made_once_and_keeps_what_was_read(house: House) -> None:
    # The same answers all the way: with others it is another version.
    house.script({"words": WORDS, "sleep_seconds": 1})
    house.send(one=picture("one"))
    work = house.start("work")
    house.wait_until_finished(1)
    do(house, ROLL_OUT)
    house.wait_for(lambda: house.count("reading") == 2, "the first document of the set is read")
    work.kill()
    work.wait()
    house.wait_for(lambda: house.alive() == [], "children end with their parent")
    read = house.rows("SELECT id FROM review_reading")
    assert (house.count("evaluationrun"), len(read) < 4) == (0, True)
    house.start("work")
    house.wait_for(lambda: house.count("evaluationcomparison") == 1, "both are compared")
    runs_dry(house)
    assert house.count("evaluationcomparison") == 1
    assert house.rows("SELECT count(*), count(DISTINCT engine_version_id) FROM review_evaluationrun") == [(2, 2)]
    assert n_audited(house, "evaluation.compared") == 1
    # The document that was sent, and three of the set: each was read once.
    assert house.rows("SELECT id FROM review_reading")[: len(read)] == read
    assert house.count("reading") == 4
