"""Workers die (kill -9, native crashes); nothing is lost, nothing is double, the document says what happened."""

import io
import json
import os
import signal
import time

from PIL import Image

from ocrsite.settings import Q_CLUSTER, STET_CLAIM_SECONDS
from tests.faults.house import House, children_of
from tests.faults.hurried_settings import TASK_SECONDS
from tests.review.conftest import picture
from tests.review.scripted import WORDS, hash_of
from tests.review.vlm import answering


def workers_of(pid: int) -> set[int]:
    """The processes that the guards of `work` have started."""
    return {child for guard in children_of(pid) for child in children_of(guard)}


def nothing_is_double(house: House, n: int) -> None:
    assert house.count("routingdecision") == n
    assert house.count("extractionrun") == n
    assert house.rows("SELECT max(c) FROM (SELECT count(*) c FROM review_record GROUP BY document_id)")[0][0] in (
        1,
        None,
    )
    assert house.count("fieldprediction") == 3 * n


def test_a_worker_killed_in_the_middle_of_a_page_loses_nothing(house: House) -> None:
    house.script({"words": WORDS, "sleep_seconds": 2})
    house.send(one=picture("one"))
    house.start("work")
    os.kill(house.claimed_by(), signal.SIGKILL)
    house.wait_until_finished(1)
    assert house.statuses() == {"one": "stored"}
    assert house.rows("SELECT state, n_attempts FROM review_pageread") == [("read", 2)]
    nothing_is_double(house, 1)


def test_a_worker_killed_while_it_opens_a_file_loses_nothing_and_the_next_takes_over_at_once(house: House) -> None:
    house.send(many=many_pages(16))
    house.start("work")
    [(token,)] = house.wait_for(
        lambda: house.rows("SELECT claim_token FROM review_document WHERE claim_token != ''"), "the file is opened"
    )
    os.kill(int(token[8:16], 16), signal.SIGKILL)
    # Sooner than the queue hands a task out again, or than anybody takes the attempt for silent.
    assert house.patience_seconds < min(float(str(Q_CLUSTER["retry"])), STET_CLAIM_SECONDS)
    house.wait_until_finished(1)
    assert house.rows("SELECT n_attempts, n_pages, claim_token FROM review_document") == [(2, 16, "")]
    assert house.rows("SELECT DISTINCT state, n_attempts FROM review_pageread") == [("read", 1)]
    nothing_is_double(house, 1)


def many_pages(n: int) -> bytes:
    """A file whose opening takes seconds: a TIFF of this many large pages."""
    shades = Image.linear_gradient("L").resize((1600, 2200)).convert("RGB")
    first, *rest = (shades.rotate(number) for number in range(n))
    buffer = io.BytesIO()
    first.save(buffer, "TIFF", save_all=True, append_images=rest, compression="jpeg")
    return buffer.getvalue()


def test_a_page_that_crashes_the_engine_goes_to_a_person_and_the_others_go_on(house: House) -> None:
    bad = picture("bad")
    house.script(pages={hash_of(bad): {"fault": "abort"}})
    house.send(a_good=picture("a"), b_bad=bad, c_good=picture("c"), d_good=picture("d"))
    house.start("work")
    house.wait_until_finished(4)
    assert house.statuses() == {"a_good": "stored", "b_bad": "review", "c_good": "stored", "d_good": "stored"}
    reasons, task_state = house.rows(
        "SELECT d.reasons, t.state FROM review_document d JOIN review_reviewtask t ON t.document_id = d.id"
        " WHERE d.filename = 'b_bad'"
    )[0]
    assert reasons.startswith('["engine_failed"')
    assert task_state == "open"
    attempts = dict(house.rows("SELECT n_attempts, count(*) FROM review_pageread GROUP BY n_attempts"))
    # Three times it took the worker with it; the fourth claim only says so.
    assert attempts == {1: 3, 4: 1}
    nothing_is_double(house, 4)


def test_all_of_work_killed_at_once_leaves_no_orphan_and_a_new_one_goes_on_at_once(house: House) -> None:
    house.script({"words": WORDS, "sleep_seconds": 2})
    house.send(one=picture("one"), two=picture("two"), three=picture("three"))
    work = house.start("work")
    house.claimed_by()
    work.kill()
    work.wait()
    house.wait_for(lambda: house.alive() == [], "children end with their parent")
    house.script({"words": WORDS, "sleep_seconds": 2})
    started = time.monotonic()
    house.start("work")
    house.wait_until_finished(3)
    # Not after django-q2's 150 seconds or the claim's 130: those would be the other ways to go on.
    assert time.monotonic() - started < 100
    assert set(house.statuses().values()) == {"stored"}
    nothing_is_double(house, 3)


def test_a_worker_killed_while_it_waits_does_not_stop_the_others(house: House) -> None:
    """It takes the lock of the queue with it; the guard has to notice."""
    work = house.start("work")
    house.send(first=picture("first"))
    house.wait_until_finished(1)
    guard = house.wait_for(lambda: children_of(work.pid), "the guard is there")[0]
    for child in children_of(guard):
        os.kill(child, signal.SIGKILL)
    house.send(second=picture("second"))
    house.wait_until_finished(2)
    assert set(house.statuses().values()) == {"stored"}


def test_the_same_task_delivered_many_times_at_once_is_done_once(house: House) -> None:
    house.settings["STET_WORKERS"] = "2"
    house.script({"words": WORDS, "sleep_seconds": 0.3})
    house.send(one=picture("one"), many=picture("many", kind="TIFF", n_pages=2))
    house.deliver_again(3)
    house.start("work")
    house.wait_until_finished(2)
    # Whatever is still queued comes to nothing.
    house.wait_for(lambda: house.rows("SELECT count(*) FROM django_q_ormq")[0][0] == 0, "the queue runs dry")
    assert set(house.statuses().values()) == {"stored"}
    assert house.rows("SELECT n_attempts, count(*) FROM review_pageread GROUP BY n_attempts") == [(1, 3)]
    nothing_is_double(house, 2)


def test_no_success_leaves_a_row_in_the_queues_tables(house: House) -> None:
    house.send(one=picture("one"))
    house.start("work")
    house.wait_until_finished(1)
    house.wait_for(lambda: house.rows("SELECT count(*) FROM django_q_ormq")[0][0] == 0, "the queue runs dry")
    assert house.rows("SELECT count(*) FROM django_q_task") == [(0,)]


def test_work_stops_cleanly_and_finishes_what_it_has_in_hand(house: House) -> None:
    house.script({"words": WORDS, "sleep_seconds": 1})
    house.send(one=picture("one"))
    work = house.start("work")
    house.claimed_by()
    work.send_signal(signal.SIGTERM)
    assert work.wait(60) == 0
    assert house.alive() == []
    assert house.statuses() == {"one": "stored"}
    assert house.count("workerheartbeat") == 0


QUEUE_AGAIN = """
from review.actions._enqueue import enqueue_opening
from review.models import Document
enqueue_opening(Document.objects.get(filename="second").pk, 1)
"""

DECLARE = """
from review.models import Project
from tests.review.vlm import read_with_vlm
read_with_vlm(Project.objects.get(slug="p"))
"""


def test_a_worker_killed_between_the_two_readers_asks_the_model_once(house: House) -> None:
    declared = house.run("shell", "-c", DECLARE)
    assert declared.returncode == 0, declared.stderr
    house.script(answering(sleep_seconds=3))
    house.send(one=picture("one"))
    house.start("work")
    # The words are kept: from now on it waits for the language model.
    house.wait_for(lambda: house.count("reading") == 1, "the words are kept")
    os.kill(house.claimed_by(), signal.SIGKILL)
    house.wait_until_finished(1)
    assert house.rows("SELECT state, n_attempts FROM review_pageread") == [("read", 2)]
    assert (house.count("reading"), house.count("rawanswer")) == (2, 1)
    nothing_is_double(house, 1)


def test_a_model_that_loads_for_longer_than_a_task_may_take_is_loaded_before_any_page(house: House) -> None:
    """Loaded within the task of its first page, it would be ended with it, each time anew."""
    declared = house.run("shell", "-c", DECLARE)
    assert declared.returncode == 0, declared.stderr
    house.settings["DJANGO_SETTINGS_MODULE"] = "tests.faults.hurried_settings"
    house.script(answering())
    script = json.loads((house.folder / "answers.json").read_text())
    # Longer than the task's time and the guard's grace of three seconds together.
    slow = TASK_SECONDS + 6
    (house.folder / "answers.json").write_text(json.dumps(script | {"load_seconds": slow}))
    house.send(one=picture("one"))
    house.start("work")
    house.wait_until_finished(1)
    assert house.rows("SELECT state, n_attempts FROM review_pageread") == [("read", 1)]
    assert house.rows("SELECT n_attempts FROM review_document") == [(1,)]
    assert house.rows("SELECT count(*) FROM django_q_task WHERE NOT success") == [(0,)]


def test_a_model_that_its_project_was_given_later_is_loaded_by_a_worker_that_takes_this_ones_place(
    house: House,
) -> None:
    house.script(answering())
    house.send(first=picture("first"))
    work = house.start("work")
    house.wait_until_finished(1)
    before = workers_of(work.pid)
    declared = house.run("shell", "-c", DECLARE)
    assert declared.returncode == 0, declared.stderr
    house.send(second=picture("second"))
    house.wait_for(lambda: before - workers_of(work.pid), "a worker is replaced")
    waiting = house.rows("SELECT status, reasons, n_attempts FROM review_document WHERE filename = 'second'")
    assert waiting == [("received", '["engine_unavailable"]', 0)]
    # What the sweep would do within a minute or two.
    queued = house.run("shell", "-c", QUEUE_AGAIN)
    assert queued.returncode == 0, queued.stderr
    house.wait_until_finished(2)
    assert house.rows("SELECT max(n_attempts) FROM review_pageread") == [(1,)]
