"""What stands still goes on; what moves, or merely waits in a long queue, is left alone."""

import os
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Task
from pytest_django import Settings

from review.actions._claims import new_claim_token
from review.actions.opening import begin_opening
from review.actions.recovery import (
    beat,
    end_beat,
    free_claims,
    heartbeat_name,
    note_engine,
    note_model,
    note_models,
    prune,
    prune_incoming,
    requeue_stalled,
    requeue_work,
    take_over,
)
from review.models import (
    DatasetExport,
    Document,
    Event,
    ExtractionRun,
    IdempotencyKey,
    Page,
    PageRead,
    RawAnswer,
    WorkerHeartbeat,
)
from review.selectors.access import SYSTEM
from review.selectors.workers import is_worker_alive, worker_summary
from tests import factories
from tests.conftest import Cast
from tests.review.queueing import queued

OTHER_HOST = "0" * 8 + "00000001"


@pytest.fixture
def long_ago(settings: Settings) -> datetime:
    return timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 60)


def received(cast: Cast, touched_at: datetime, n_attempts: int = 0) -> Document:
    document = factories.make_document(cast.document_type, n_attempts=n_attempts)
    Document.objects.filter(pk=document.pk).update(touched_at=touched_at)
    document.refresh_from_db()
    return document


def processing(cast: Cast, touched_at: datetime, *states: str) -> tuple[Document, list[PageRead]]:
    document = factories.make_document(cast.document_type, status="processing", n_pages=len(states))
    assert cast.document_type.active_version is not None
    Document.objects.filter(pk=document.pk).update(touched_at=touched_at)
    run = ExtractionRun.objects.create(
        document=document,
        engine_version=factories.make_engine_version(),
        schema_version=cast.document_type.active_version,
    )
    reads = []
    for number, state in enumerate(states, 1):
        page = Page.objects.create(document=document, page_number=number, image="x", width=1, height=1)
        reads.append(PageRead.objects.create(run=run, page=page, state=state))
    return document, reads


def claimed(cast: Cast, token: str, claimed_at: datetime) -> PageRead:
    _, (page_read,) = processing(cast, timezone.now(), "claimed")
    PageRead.objects.filter(pk=page_read.pk).update(claim_token=token, claimed_at=claimed_at)
    return page_read


# --- claims -------------------------------------------------------------------------------------------------------


def test_a_page_of_a_dead_process_is_free_at_once(cast: Cast, dead_mark: str) -> None:
    page_read = claimed(cast, dead_mark + "0" * 16, timezone.now())
    assert free_claims() == 1
    page_read.refresh_from_db()
    assert (page_read.state, page_read.claim_token) == ("pending", "")
    assert queued() == [("read_page", page_read.pk)]


def test_a_page_in_living_hands_is_left_there(cast: Cast) -> None:
    claimed(cast, new_claim_token(), timezone.now())
    claimed(cast, OTHER_HOST + "1" * 16, timezone.now())
    assert free_claims() == 0
    assert queued() == []


def test_a_page_that_was_held_too_long_is_free(cast: Cast, long_ago: datetime) -> None:
    claimed(cast, OTHER_HOST + "1" * 16, long_ago)
    claimed(cast, new_claim_token(), long_ago)
    assert free_claims() == 2


def test_an_only_worker_respects_none_but_living_processes(cast: Cast) -> None:
    foreign = claimed(cast, OTHER_HOST + "1" * 16, timezone.now())
    ours = claimed(cast, new_claim_token(), timezone.now())
    assert free_claims(is_alone=True) == 1
    assert queued() == [("read_page", foreign.pk)]
    ours.refresh_from_db()
    assert ours.state == "claimed"


def test_freeing_twice_queues_once(cast: Cast, dead_mark: str) -> None:
    claimed(cast, dead_mark + "0" * 16, timezone.now())
    being_opened(cast, dead_mark + "1" * 16)
    assert [free_claims(), free_claims()] == [2, 0]
    assert len(queued()) == 2


def being_opened(cast: Cast, token: str) -> Document:
    document = received(cast, timezone.now(), n_attempts=1)
    Document.objects.filter(pk=document.pk).update(claim_token=token)
    return document


def test_what_a_dead_process_was_opening_is_queued_at_once_and_opened_by_the_next(cast: Cast, dead_mark: str) -> None:
    left = being_opened(cast, dead_mark + "0" * 16)
    assert free_claims() == 1
    assert queued() == [("open_document", left.pk)]
    begun = begin_opening(actor=SYSTEM, document_id=left.pk)
    assert begun is not None
    assert begun.n_attempts == 2


def test_what_is_opened_by_living_hands_is_left_there(cast: Cast) -> None:
    ours, foreign = being_opened(cast, new_claim_token()), being_opened(cast, OTHER_HOST + "1" * 16)
    received(cast, timezone.now(), n_attempts=1)
    assert free_claims() == 0
    assert queued() == []
    assert free_claims(is_alone=True) == 1
    assert queued() == [("open_document", foreign.pk)]
    assert begin_opening(actor=SYSTEM, document_id=ours.pk) is None


# --- documents ----------------------------------------------------------------------------------------------------


def test_a_document_that_nobody_opens_is_queued_again(cast: Cast, long_ago: datetime) -> None:
    document = received(cast, long_ago)
    assert requeue_stalled() == 1
    assert queued() == [("open_document", document.pk)]


def test_a_document_that_moved_lately_is_left_alone(cast: Cast) -> None:
    received(cast, timezone.now())
    processing(cast, timezone.now(), "pending")
    assert requeue_stalled() == 0


def test_a_document_is_queued_again_once_not_every_minute(cast: Cast, long_ago: datetime) -> None:
    received(cast, long_ago)
    processing(cast, long_ago, "pending")
    assert [requeue_stalled(), requeue_stalled()] == [2, 0]


def test_a_failed_attempt_keeps_the_time_at_which_it_began(cast: Cast, long_ago: datetime) -> None:
    document = received(cast, long_ago, n_attempts=1)
    Document.objects.filter(pk=document.pk).update(claim_token=OTHER_HOST + "1" * 16)
    assert requeue_stalled() == 1
    before = document.touched_at
    document.refresh_from_db()
    assert document.touched_at == before


def test_a_document_that_nobody_opens_any_more_is_queued_once(cast: Cast, long_ago: datetime, dead_mark: str) -> None:
    freed, postponed = (received(cast, long_ago, n_attempts=1) for _ in range(2))
    Document.objects.filter(pk=freed.pk).update(claim_token=dead_mark + "0" * 16)
    assert free_claims() == 1
    assert [requeue_stalled(), requeue_stalled()] == [1, 0]
    assert queued() == [("open_document", freed.pk), ("open_document", postponed.pk)]


def test_only_unread_pages_are_queued_again(cast: Cast, long_ago: datetime) -> None:
    _, reads = processing(cast, long_ago, "read", "pending", "claimed", "failed", "pending")
    requeue_stalled()
    assert queued() == [("read_page", reads[1].pk), ("read_page", reads[4].pk)]


def test_a_run_whose_router_died_is_routed(cast: Cast, long_ago: datetime) -> None:
    document, _ = processing(cast, long_ago, "read", "failed")
    requeue_stalled()
    assert queued() == [("route_run", ExtractionRun.objects.get(document=document).pk)]


@pytest.mark.parametrize("status", ["review", "stored", "unreadable"])
def test_a_finished_document_is_never_queued(cast: Cast, long_ago: datetime, status: str) -> None:
    document = received(cast, long_ago)
    Document.objects.filter(pk=document.pk).update(status=status)
    assert requeue_stalled() == 0


def test_a_copy_is_never_queued(cast: Cast, long_ago: datetime) -> None:
    first = received(cast, timezone.now())
    copy = received(cast, long_ago)
    Document.objects.filter(pk=copy.pk).update(duplicate_of=first)
    assert requeue_stalled() == 0


def waiting(since: datetime) -> None:
    OrmQ.objects.create(key="stet", payload="x", lock=since)


def test_documents_in_a_long_queue_are_not_queued_twice(cast: Cast, long_ago: datetime) -> None:
    """The oldest task has waited since before these documents came: theirs are behind it, not lost."""
    waiting(long_ago - timedelta(hours=1))
    for _ in range(5):
        received(cast, long_ago)
    assert requeue_stalled() == 0


def test_a_document_older_than_the_whole_queue_has_lost_its_task(cast: Cast, long_ago: datetime) -> None:
    waiting(timezone.now() - timedelta(minutes=1))
    received(cast, long_ago)
    assert requeue_stalled() == 1


def test_a_task_in_a_workers_hands_does_not_count_as_waiting(cast: Cast, long_ago: datetime) -> None:
    waiting(timezone.now() + timedelta(seconds=100))
    received(cast, long_ago)
    assert requeue_stalled() == 1


def test_an_export_that_stands_still_is_queued_again(cast: Cast) -> None:
    old = timezone.now() - timedelta(days=1)
    for state, touched_at in [("running", old), ("queued", old), ("running", timezone.now()), ("done", old)]:
        export = DatasetExport.objects.create(project=cast.project, format="jsonl", state=state)
        DatasetExport.objects.filter(pk=export.pk).update(touched_at=touched_at)
    assert requeue_work() == {"datasetexport": 2}
    assert requeue_work() == {}
    assert {name for name, _ in queued()} == {"write_export"}


# --- workers ------------------------------------------------------------------------------------------------------


def say(name: str, seen_at: datetime | None = None) -> None:
    beat(name=name, n_workers=2, engine_name="scripted", started_at=timezone.now())
    if seen_at is not None:
        WorkerHeartbeat.objects.filter(name=name).update(seen_at=seen_at)


def test_a_beat_is_one_row_that_is_renewed(db: None) -> None:
    say("a", timezone.now() - timedelta(days=1))
    assert not is_worker_alive()
    say("a")
    assert is_worker_alive()
    assert WorkerHeartbeat.objects.count() == 1
    end_beat(name="a")
    assert not is_worker_alive()


def test_a_beat_leaves_the_engines_state_alone(db: None) -> None:
    say("a")
    note_engine(name="a", engine_error="engine_unavailable")
    say("a")
    assert worker_summary().engine_error == "engine_unavailable"
    note_engine(name="a", engine_error="")
    assert worker_summary().is_engine_ready


def test_a_beat_leaves_what_is_said_of_language_models_alone(db: None) -> None:
    say("a")
    note_models(name="a", errors={7: "engine_unavailable", 8: "version_not_served"})
    say("a")
    assert worker_summary().model_errors == {7: "engine_unavailable", 8: "version_not_served"}
    note_models(name="a", errors={8: "version_not_served"})
    assert worker_summary().model_errors == {8: "version_not_served"}


def test_one_language_model_that_is_met_away_is_added_to_the_others(db: None) -> None:
    say("a")
    note_models(name="a", errors={8: "version_not_served"})
    for error in ("engine_unavailable", "engine_unavailable", "version_not_served"):
        note_model(name="a", engine_version_id=7, error=error)
        assert worker_summary().model_errors == {7: error, 8: "version_not_served"}
    note_model(name="nobody", engine_version_id=7, error="engine_unavailable")
    assert WorkerHeartbeat.objects.count() == 1


def test_the_only_worker_frees_what_dead_ones_had_in_hand(cast: Cast, dead_mark: str) -> None:
    say(dead_mark)
    waiting(timezone.now() + timedelta(seconds=140))
    tried = being_opened(cast, OTHER_HOST + "1" * 16)
    assert take_over(name=heartbeat_name())
    assert not WorkerHeartbeat.objects.exists()
    assert all(one.lock is not None and one.lock <= timezone.now() for one in OrmQ.objects.all())
    assert begin_opening(actor=SYSTEM, document_id=tried.pk) is not None


def test_a_further_worker_leaves_the_others_tasks_alone(cast: Cast) -> None:
    say(OTHER_HOST)
    locked_until = timezone.now() + timedelta(seconds=140)
    waiting(locked_until)
    claimed(cast, OTHER_HOST + "1" * 16, timezone.now())
    assert not take_over(name=heartbeat_name())
    assert OrmQ.objects.get().lock == locked_until
    assert PageRead.objects.get().state == "claimed"


def test_a_worker_with_our_own_number_is_our_dead_predecessor(db: None) -> None:
    """In a container every worker is process 1."""
    say(heartbeat_name())
    assert take_over(name=heartbeat_name())


# --- pruning ------------------------------------------------------------------------------------------------------


def test_old_events_go_and_new_ones_stay(cast: Cast, settings: Settings) -> None:
    old = timezone.now() - timedelta(days=settings.STET_EVENT_DAYS, seconds=1)
    for created_at in (old, old, timezone.now()):
        event = Event.objects.create(project=cast.project, name="x")
        Event.objects.filter(pk=event.pk).update(created_at=created_at)
    assert prune() == 2
    assert Event.objects.get().created_at > old


def test_old_keys_beats_and_failures_go(cast: Cast) -> None:
    now, old = timezone.now(), timezone.now() - timedelta(days=30)
    for created_at in (now, old):
        key = IdempotencyKey.objects.create(user=cast.admin, key=str(created_at), path="/", request_digest="")
        IdempotencyKey.objects.filter(pk=key.pk).update(created_at=created_at)
        say(str(created_at), created_at)
        Task.objects.create(
            id=str(created_at.timestamp()), name="x", func="x", started=created_at, stopped=created_at, success=False
        )
    assert prune() == 3
    assert (IdempotencyKey.objects.count(), WorkerHeartbeat.objects.count(), Task.objects.count()) == (1, 1, 1)


def test_raw_answers_go_when_they_are_old_enough(cast: Cast, settings: Settings) -> None:
    settings.STET_RAW_ANSWER_DAYS = 30
    version = factories.make_engine_version()
    for days in (31, 29):
        answer = RawAnswer.objects.create(
            project=cast.project,
            engine_version=version,
            content_hash="c",
            request_digest="r",
            attempt=1,
            text_gzip=b"",
            finish_reason="stop",
            n_prompt_tokens=1,
            n_tokens=1,
            seconds=0.1,
        )
        RawAnswer.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(days=days))
    assert prune() == 1
    assert RawAnswer.objects.get().created_at > timezone.now() - timedelta(days=30)


def test_pruning_nothing_is_nothing(db: None) -> None:
    assert prune() == 0


def test_what_a_killed_upload_left_goes_after_a_day(settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    old, new = tmp_path / "old", tmp_path / "new"
    for path, age_seconds in ((old, 90_000), (new, 3_600)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age_seconds,) * 2)
    assert prune_incoming() == 1
    assert not old.exists()
    assert new.exists()
