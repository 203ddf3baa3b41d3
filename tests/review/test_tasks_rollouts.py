"""The challenger reads beside the champion, off the record; where they differ it is kept, and some of it is asked."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from review import tasks_rollouts
from review.actions.engines import declare_engine_version, use_engine
from review.actions.reading import rerun_document
from review.actions.recovery import requeue_work
from review.models import (
    AuditEntry,
    Document,
    EngineVersion,
    EvaluationComparison,
    ExtractionRun,
    FieldMonitor,
    FieldReview,
    PageRead,
    Reading,
    Record,
    ReviewTask,
    Rollout,
    RolloutStage,
    RunRole,
    ShadowField,
    ShadowRead,
    TaskKind,
)
from review.routing.sampling import Purpose, draw
from review.selectors.access import SYSTEM
from review.selectors.rollouts import version_for
from review.tasks import sweep
from review.tasks_models import forget_models
from review.tasks_rollouts import compare_rollout, read_shadow, watch_rollouts
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.queueing import queued, work_off
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send, waiting, worse
from tests.review.vlm import SCRIPTED, answering

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _reading(script: Script) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})


@pytest.fixture
def stored(cast: Cast) -> None:
    """Every document is stored unseen."""
    policy = cast.document_type.policies.get()
    policy.rules = policy.rules | {"default": {"auto": 0.0, "review": 0.0}}
    policy.save()


def values(run: ExtractionRun) -> dict[str, object]:
    return dict(run.predictions.values_list("field_path", "value"))


def test_without_a_roll_out_nothing_is_read_twice(cast: Cast) -> None:
    send(cast)
    assert not ShadowRead.objects.exists()


def test_the_challenger_reads_what_the_champion_has_routed_and_the_document_stays_as_it_was(
    cast: Cast, stored: None
) -> None:
    before = send(cast, "before")
    rolled_out(cast, worse(cast), disagreement_share=0.0)
    document = send(cast)
    shadow = ShadowRead.objects.get()
    assert (shadow.document, shadow.state) == (document, "done")
    main, run = document.runs.get(is_current=True), shadow.run
    assert run is not None
    assert (main.role, main.engine_version) == (RunRole.MAIN, champion())
    assert (run.role, run.is_current, run.engine_version) == (RunRole.SHADOW, False, worse(cast))
    assert (values(main)["/total"], values(run)["/total"]) == ("9.00", "10.00")
    assert (document.status, document.band) == (before.status, before.band)
    record = Record.objects.get(document=document)
    assert (record.run, record.values["/total"]) == (main, "9.00")
    assert not ReviewTask.objects.filter(document=document).exists()


def test_what_was_learned_on_the_champions_own_base_reads_no_page_again(cast: Cast) -> None:
    rolled_out(cast, worse(cast))
    send(cast)
    assert Reading.objects.count() == 1
    shadow = ShadowRead.objects.get()
    assert shadow.run is not None
    assert shadow.run.page_reads.get().reading == shadow.champion_run.page_reads.get().reading


def test_agreement_is_kept_field_by_field(cast: Cast) -> None:
    rolled_out(cast, worse(cast))
    send(cast)
    agreed = dict(ShadowField.objects.values_list("field_path", "is_agreed"))
    assert agreed == {"/company": True, "/date": True, "/total": False}


def test_another_reader_reads_the_pages_with_what_the_champion_was_asked(cast: Cast, script: Script) -> None:
    script(default=answering(values={"company": "BOOK TA K", "date": "2018-12-25", "total": "8.00"}))
    version = declare_engine_version(actor=SYSTEM, spec=SCRIPTED)
    rolled_out(cast, version)
    document = send(cast)
    shadow = ShadowRead.objects.get()
    assert shadow.run is not None
    assert shadow.state == "done"
    assert values(shadow.run)["/total"] == "8.00"
    assert set(Reading.objects.values_list("engine_version", flat=True)) == {champion().pk, version.pk}
    n_readings = Reading.objects.count()
    read_shadow(shadow.pk)
    assert Reading.objects.count() == n_readings
    assert ExtractionRun.objects.filter(document=document, role=RunRole.SHADOW).count() == 1


def test_what_the_challenger_read_is_not_read_again_once_it_reads_for_real(cast: Cast, script: Script) -> None:
    """It was asked the same about the same words."""
    script(default=answering())
    version = declare_engine_version(actor=SYSTEM, spec=SCRIPTED)
    rolled_out(cast, version)
    document = send(cast)
    assert Reading.objects.filter(engine_version=version).count() == 1
    use_engine(actor=SYSTEM, project=cast.project, engine_version=version)
    rerun_document(actor=SYSTEM, document=document)
    work_off()
    read = PageRead.objects.select_related("reading", "run").latest("pk")
    assert (read.run.engine_version, read.is_cached) == (version, True)
    assert read.reading is not None
    assert read.reading.request_digest == read.run.request_digest


def test_the_share_read_twice_is_drawn_by_hash(cast: Cast) -> None:
    rollout = rolled_out(cast, as_good(cast), shadow_share=0.5)
    documents = [send(cast, f"receipt {number}") for number in range(30)]
    drawn = {one.pk for one in documents if draw(one.sha256, str(rollout.pk), rollout.salt, Purpose.SHADOW) < 0.5}
    assert 0 < len(drawn) < 30
    assert set(ShadowRead.objects.values_list("document", flat=True)) == drawn


def test_a_document_that_is_read_again_is_not_counted_twice(cast: Cast) -> None:
    rolled_out(cast, as_good(cast))
    document = send(cast)
    tasks_rollouts.read_shadow(ShadowRead.objects.get().pk)
    assert ShadowRead.objects.filter(document=document).count() == 1


def test_a_difference_is_put_before_a_person_who_is_asked_for_that_field_only(cast: Cast, stored: None) -> None:
    rolled_out(cast, worse(cast))
    document = send(cast)
    task = ReviewTask.objects.get(document=document)
    assert (task.kind, task.disputed_paths, task.run) == (
        TaskKind.DISAGREEMENT,
        ["/total"],
        document.runs.get(is_current=True),
    )
    assert set(ShadowField.objects.filter(is_drawn=True).values_list("field_path", flat=True)) == {"/total"}


def test_of_differences_only_the_drawn_share_is_asked(cast: Cast, stored: None) -> None:
    rollout = rolled_out(cast, worse(cast), disagreement_share=0.5)
    documents = [send(cast, f"receipt {number}") for number in range(30)]
    drawn = {one.pk for one in documents if draw(one.sha256, str(rollout.pk), rollout.salt, Purpose.DISAGREEMENT) < 0.5}
    assert 0 < len(drawn) < 30
    assert set(ReviewTask.objects.values_list("document", flat=True)) == drawn


def test_where_both_agree_nobody_is_asked(cast: Cast, stored: None) -> None:
    rolled_out(cast, as_good(cast))
    send(cast)
    assert ShadowField.objects.filter(is_agreed=True).count() == 3
    assert not ReviewTask.objects.exists()


def test_who_is_asked_by_the_router_already_is_not_asked_twice(cast: Cast) -> None:
    policy = cast.document_type.policies.get()
    policy.rules = policy.rules | {"default": {"auto": 1.0, "review": 1.0}}
    policy.save()
    rolled_out(cast, worse(cast))
    document = send(cast)
    assert ReviewTask.objects.get(document=document).kind == TaskKind.REVIEW


def test_confirmed_values_are_never_asked_again_nor_touched(cast: Cast, stored: None) -> None:
    document = send(cast)
    record = Record.objects.get(document=document)
    Record.objects.filter(pk=record.pk).update(
        values=record.values | {"/total": "9.99"},
        provenance=record.provenance | {"/total": {"source": "person", "verdict": "corrected"}},
        reviewer=cast.reviewer,
    )
    rollout = rolled_out(cast, worse(cast))
    shadow = ShadowRead.objects.create(
        rollout=rollout, document=document, champion_run=document.runs.get(is_current=True)
    )
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert shadow.state == "done"
    assert Record.objects.get(document=document).values["/total"] == "9.99"
    assert not ReviewTask.objects.exists()


def test_a_page_that_the_challenger_cannot_read_is_its_failure_alone(cast: Cast, script: Script, stored: None) -> None:
    version = declare_engine_version(actor=SYSTEM, spec=SCRIPTED)
    rolled_out(cast, version)
    script(default=answering(fault="answer_unreadable"))
    document = send(cast)
    shadow = ShadowRead.objects.get()
    assert (shadow.state, shadow.error_code, shadow.run) == ("failed", "answer_unreadable", None)
    assert document.status == "stored"


def test_a_roll_out_that_moved_on_reads_nothing_twice(cast: Cast) -> None:
    shadow = waiting(cast, worse(cast))
    Rollout.objects.update(stage=RolloutStage.RETIRED)
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert (shadow.state, shadow.run) == ("cancelled", None)


def test_a_reader_that_cannot_be_had_is_waited_for_without_counting(cast: Cast, script: Script) -> None:
    shadow = waiting(cast, declare_engine_version(actor=SYSTEM, spec=SCRIPTED))
    script(default=answering(fault="engine_unavailable"))
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert (shadow.state, shadow.n_attempts) == ("queued", 0)


def test_a_challenger_that_breaks_off_each_time_is_given_up(cast: Cast, script: Script) -> None:
    shadow = waiting(cast, declare_engine_version(actor=SYSTEM, spec=SCRIPTED))
    script(default=answering(fault="answer_lost"))
    for n in range(1, 4):
        read_shadow(shadow.pk)
        shadow.refresh_from_db()
        assert (shadow.state, shadow.n_attempts) == ("queued", n)
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert shadow.state == "failed"


def test_a_challenger_that_kills_its_worker_is_given_up_after_three_attempts(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow = waiting(cast, worse(cast))

    def killed(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(tasks_rollouts, "_readings", killed)
    for _ in range(3):
        with pytest.raises(SystemExit):
            read_shadow(shadow.pk)
        # The worker is gone; its claim is of a process that no longer is.
        ShadowRead.objects.update(touched_at=timezone.now() - timedelta(days=1))
        assert requeue_work() == {"shadowread": 1}
        assert queued()[-1] == ("read_shadow", shadow.pk)
    read_shadow(shadow.pk)
    shadow.refresh_from_db()
    assert (shadow.state, shadow.error_code) == ("failed", "engine_failed")


def test_the_sweep_brings_back_what_no_queue_holds(cast: Cast) -> None:
    shadow = waiting(cast, worse(cast))
    sweep()
    assert ("read_shadow", shadow.pk) not in queued()
    ShadowRead.objects.update(touched_at=timezone.now() - timedelta(days=1))
    sweep()
    work_off()
    shadow.refresh_from_db()
    assert shadow.state == "done"


def test_a_claim_of_a_living_worker_is_left_to_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    shadow = waiting(cast, worse(cast))
    inside: list[int] = []
    readings = tasks_rollouts._readings

    def twice(*args: object) -> object:
        if not inside:
            inside.append(1)
            read_shadow(shadow.pk)
        return readings(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(tasks_rollouts, "_readings", twice)
    read_shadow(shadow.pk)
    assert ExtractionRun.objects.filter(role=RunRole.SHADOW).count() == 1
    shadow.refresh_from_db()
    assert shadow.n_attempts == 1


def test_a_reader_of_the_document_is_told_nothing_of_the_second_value(cast: Cast, stored: None) -> None:
    rolled_out(cast, worse(cast))
    document = send(cast)
    acts = AuditEntry.objects.filter(object_type="document", object_id=str(document.pk)).values_list(
        "action", flat=True
    )
    assert not [act for act in acts if "shadow" in act]
    entry = AuditEntry.objects.get(action="rollout.shadow_read")
    assert entry.detail["n_differing"] == 1


def test_a_canary_reads_its_share_for_real_and_the_same_documents_whenever_they_are_read(cast: Cast) -> None:
    canary = rolled_out(cast, worse(cast), RolloutStage.CANARY, canary_share=0.4)
    documents = [send(cast, f"receipt {number}") for number in range(30)]
    chosen = {one.pk for one in documents if draw(one.sha256, str(canary.pk), canary.salt, Purpose.CANARY) < 0.4}
    assert 0 < len(chosen) < 30
    for document in documents:
        run = document.runs.get(is_current=True)
        assert (run.engine_version == worse(cast)) == (document.pk in chosen)
        assert values(run)["/total"] == ("10.00" if document.pk in chosen else "9.00")
    assert not ShadowRead.objects.exists()


def test_both_are_compared_by_a_task_and_once_measured_not_again(cast: Cast, tmp_path: Path) -> None:
    send(cast)
    freeze(cast, tmp_path / "set", n=3)
    rollout = rolled_out(cast, worse(cast))
    compare_rollout(rollout.pk)
    found = EvaluationComparison.objects.get()
    assert (found.run_a.engine_version, found.run_b.engine_version) == (champion(), worse(cast))
    assert (found.is_whole, found.is_blocked, found.results["fallen"]) == (True, True, ["/total"])


@pytest.mark.parametrize("lacking", ["a set", "a champion", "a roll-out"])
def test_without_both_or_a_set_there_is_nothing_to_compare(cast: Cast, tmp_path: Path, lacking: str) -> None:
    if lacking != "a champion":
        send(cast)
    if lacking != "a set":
        freeze(cast, tmp_path / "set")
    stage = RolloutStage.RETIRED if lacking == "a roll-out" else RolloutStage.SHADOW
    compare_rollout(rolled_out(cast, worse(cast), stage).pk)
    assert not EvaluationComparison.objects.exists()
    assert not FieldReview.objects.exists()
    assert Document.objects.count() == (0 if lacking == "a champion" else 1)


def trip(cast: Cast, version: EngineVersion, path: str = "/total", **values: object) -> FieldMonitor:
    given = {"state": {}, "engine_version": version, "tripped_at": timezone.now()} | values
    return FieldMonitor.objects.create(document_type=cast.document_type, field_path=path, **given)


@pytest.mark.parametrize("stage", [RolloutStage.CANARY, RolloutStage.LIVE])
def test_what_reads_for_real_and_trips_a_monitor_is_rolled_back_by_itself(cast: Cast, stage: RolloutStage) -> None:
    rollout = rolled_out(cast, worse(cast), stage)
    before = rolled_out(cast, as_good(cast), RolloutStage.RETIRED)
    if stage == RolloutStage.LIVE:
        Rollout.objects.filter(pk=rollout.pk).update(replaced=before)
    trip(cast, worse(cast))
    watch_rollouts()
    rollout.refresh_from_db()
    assert rollout.stage == RolloutStage.RETIRED
    assert "/total" in rollout.ended_because
    entry = AuditEntry.objects.get(action="rollout.rolled_back")
    assert (entry.actor, entry.detail["from_stage"]) == (None, stage)
    expected = as_good(cast) if stage == RolloutStage.LIVE else None
    assert version_for(send(cast)) == expected
    watch_rollouts()
    assert AuditEntry.objects.filter(action="rollout.rolled_back").count() == 1


@pytest.mark.parametrize("why", ["another version's", "not tripped", "turned on again", "in shadow", "another type's"])
def test_a_monitor_that_says_nothing_of_it_leaves_it_alone(cast: Cast, why: str) -> None:
    rollout = rolled_out(cast, worse(cast), RolloutStage.SHADOW if why == "in shadow" else RolloutStage.LIVE)
    monitor = trip(cast, champion() if why == "another version's" else worse(cast))
    if why == "not tripped":
        FieldMonitor.objects.update(tripped_at=None)
    elif why == "turned on again":
        FieldMonitor.objects.update(ended_at=timezone.now())
    elif why == "another type's":
        FieldMonitor.objects.filter(pk=monitor.pk).update(document_type=cast.other_document_type)
    watch_rollouts()
    stage = rollout.stage
    rollout.refresh_from_db()
    assert rollout.stage == stage
