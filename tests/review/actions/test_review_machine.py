"""Several reviewers lease, save, skip, release and submit in any order while leases lapse: what must always hold."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from review.actions.leasing import (
    Lease,
    lease_next_task,
    lease_task,
    release_task,
    release_task_for_manager,
    renew_lease,
)
from review.actions.saving import save_field
from review.actions.submitting import FieldVerdict, mark_unusable, skip_task, submit_task
from review.exceptions import ConflictError, InvalidInputError, LeaseLostError
from review.models import FieldEdit, FieldReview, Record, ReviewTask, Role, TaskSkip, TaskState, User
from tests import factories
from tests.review.actions.review_room import actor, let_lease_lapse, make_open_task

N_REVIEWERS, N_TASKS = 3, 4
PATHS = ["/company", "/date", "/total"]
REVIEWERS = st.integers(0, N_REVIEWERS - 1)
TASKS = st.integers(0, N_TASKS - 1)
ANSWERS = st.one_of(
    st.tuples(st.just("corrected"), st.sampled_from(["9.00", "8.00", "7.00", "A shop"])),
    st.tuples(st.sampled_from(["confirmed", "spurious", "illegible", None]), st.none()),
)


@dataclass
class Desk:
    """What the model believes of one task."""

    task: ReviewTask
    token: str = ""
    holder: int | None = None
    has_lapsed: bool = False
    state: TaskState = TaskState.OPEN

    def is_held_by(self, reviewer: int, token: str) -> bool:
        return self.state == TaskState.OPEN and token != "" and (self.holder, self.token) == (reviewer, token)

    def is_free(self) -> bool:
        return self.state == TaskState.OPEN and (self.holder is None or self.has_lapsed)

    def free(self) -> None:
        self.token, self.holder, self.has_lapsed = "", None, False


class ReviewMachine(RuleBasedStateMachine):
    @initialize()
    def open_the_room(self) -> None:
        self.project = factories.make_project()
        document_type = factories.make_document_type(self.project)
        self.reviewers: list[User] = [factories.make_member(self.project, Role.REVIEWER) for _ in range(N_REVIEWERS)]
        self.desks = [Desk(make_open_task(document_type, priority=number % 2)) for number in range(N_TASKS)]
        self.skipped: set[tuple[int, int]] = set()
        # Every token that a reviewer ever saw: stale ones are tried as well.
        self.tokens: dict[tuple[int, int], list[str]] = defaultdict(lambda: [""])
        self.acknowledged: dict[tuple[int, str], list[tuple[int, str, str | None]]] = defaultdict(list)
        self.submitted: dict[int, Record] = {}

    def token(self, data: st.DataObject, reviewer: int, number: int) -> str:
        """Mostly the newest token that the reviewer saw of the task, at times an old one or none."""
        return data.draw(st.sampled_from(self.tokens[reviewer, number][::-1]))

    def took(self, reviewer: int, number: int, lease: Lease) -> None:
        desk = self.desks[number]
        desk.token, desk.holder, desk.has_lapsed = lease.token, reviewer, False
        self.tokens[reviewer, number].append(lease.token)

    @rule(reviewer=REVIEWERS)
    def lease_next(self, reviewer: int) -> None:
        lease = lease_next_task(actor=actor(self.reviewers[reviewer]), project=self.project)
        held = [number for number, desk in enumerate(self.desks) if desk.state == "open" and desk.holder == reviewer]
        free = [
            number
            for number, desk in enumerate(self.desks)
            if desk.is_free() and (reviewer, number) not in self.skipped
        ]
        if lease is None:
            assert not held
            assert not free
            return
        number = next(number for number, desk in enumerate(self.desks) if desk.task == lease.task)
        if held:
            assert number in held
            assert lease.token == self.desks[number].token
        else:
            assert number == min(free, key=lambda one: (-self.desks[one].task.priority, one))
        self.took(reviewer, number, lease)

    @rule(reviewer=REVIEWERS, number=TASKS)
    def lease_one(self, reviewer: int, number: int) -> None:
        desk = self.desks[number]
        may = desk.is_free() or (desk.state == TaskState.OPEN and desk.holder == reviewer)
        try:
            lease = lease_task(actor=actor(self.reviewers[reviewer]), task=desk.task)
        except ConflictError:
            assert not may
        else:
            assert may
            self.took(reviewer, number, lease)

    @rule(number=TASKS)
    def time_passes(self, number: int) -> None:
        if self.desks[number].holder is not None and self.desks[number].state == TaskState.OPEN:
            let_lease_lapse(self.desks[number].task)
            self.desks[number].has_lapsed = True

    @rule(data=st.data(), reviewer=REVIEWERS, number=TASKS)
    def renew(self, data: st.DataObject, reviewer: int, number: int) -> None:
        desk, token = self.desks[number], self.token(data, reviewer, number)
        try:
            renew_lease(actor=actor(self.reviewers[reviewer]), task=desk.task, lease_token=token)
        except LeaseLostError:
            assert not desk.is_held_by(reviewer, token)
        else:
            assert desk.is_held_by(reviewer, token)
            desk.has_lapsed = False

    @rule(
        data=st.data(),
        reviewer=REVIEWERS,
        number=TASKS,
        path=st.sampled_from(PATHS),
        answer=ANSWERS,
        is_current=st.sampled_from([True, True, True, False]),
    )
    def save(
        self, data: st.DataObject, reviewer: int, number: int, path: str, answer: tuple[str, Any], is_current: bool
    ) -> None:
        desk, token = self.desks[number], self.token(data, reviewer, number)
        saved = self.acknowledged[number, path]
        standing = saved[-1][0] if saved else 0
        try:
            edit = save_field(
                actor=actor(self.reviewers[reviewer]),
                task=desk.task,
                lease_token=token,
                field_path=path,
                verdict=answer[0],
                value=answer[1],
                base_version=standing if is_current else standing + 1,
            )
        except ConflictError as error:
            self.handed_back(error, standing, answer, is_lost=not desk.is_held_by(reviewer, token))
            assert isinstance(error, LeaseLostError) or not is_current  # noqa: PT017 - either way is right
        except InvalidInputError:
            # A date or an amount that is none is refused, and nothing of it is kept.
            assert desk.is_held_by(reviewer, token)
            assert path == "/date" or (path, answer[1]) == ("/total", "A shop")
        else:
            assert desk.is_held_by(reviewer, token)
            desk.has_lapsed = False
            if edit.version > standing:
                saved.append((edit.version, edit.verdict, edit.value))
            else:
                assert saved[-1] == (edit.version, edit.verdict, edit.value)

    def decided(self, number: int, path: str) -> tuple[str, str | None] | None:
        """The verdict and the value that stand, None where nobody decided or somebody took it back."""
        saved = self.acknowledged[number, path]
        return saved[-1][1:] if saved and saved[-1][1] else None

    def handed_back(self, error: ConflictError, standing: int, answer: tuple[str, Any], *, is_lost: bool) -> None:
        assert isinstance(error, LeaseLostError) == is_lost
        assert error.details["yours"] == {"verdict": answer[0], "value": answer[1]}
        assert error.details["current"]["version"] == standing

    @rule(data=st.data(), reviewer=REVIEWERS, number=TASKS)
    def release(self, data: st.DataObject, reviewer: int, number: int) -> None:
        desk, token = self.desks[number], self.token(data, reviewer, number)
        try:
            release_task(actor=actor(self.reviewers[reviewer]), task=desk.task, lease_token=token)
        except LeaseLostError:
            assert not desk.is_held_by(reviewer, token)
        else:
            assert desk.is_held_by(reviewer, token)
            desk.free()

    @rule(number=TASKS)
    def a_manager_frees(self, number: int) -> None:
        desk = self.desks[number]
        try:
            release_task_for_manager(actor=actor(self.reviewers[0]), task=desk.task)
        except ConflictError:
            assert desk.state != TaskState.OPEN
        else:
            desk.free()

    @rule(data=st.data(), reviewer=REVIEWERS, number=TASKS)
    def skip(self, data: st.DataObject, reviewer: int, number: int) -> None:
        desk, token = self.desks[number], self.token(data, reviewer, number)
        is_held = desk.is_held_by(reviewer, token)
        try:
            skip_task(actor=actor(self.reviewers[reviewer]), task=desk.task, lease_token=token, reason="no idea")
        except LeaseLostError:
            assert not is_held
            assert (reviewer, number) not in self.skipped
        else:
            assert is_held or (reviewer, number) in self.skipped
            self.skipped.add((reviewer, number))
            if is_held:
                desk.free()

    @rule(data=st.data(), reviewer=REVIEWERS, number=TASKS, total=st.none() | ANSWERS)
    def submit(self, data: st.DataObject, reviewer: int, number: int, total: tuple[str, Any] | None) -> None:
        desk, token = self.desks[number], self.token(data, reviewer, number)
        is_done = desk.state == TaskState.DONE and (desk.holder, desk.token) == (reviewer, token)
        verdicts = [FieldVerdict("/total", *total)] if total else []
        try:
            record = submit_task(
                actor=actor(self.reviewers[reviewer]), task=desk.task, lease_token=token, verdicts=verdicts
            )
        except LeaseLostError:
            assert not is_done
            assert not desk.is_held_by(reviewer, token)
        except InvalidInputError:
            # Nothing is decided of the total, or something was said that is no amount.
            is_decided = total[0] is not None if total else bool(self.decided(number, "/total"))
            assert total == ("corrected", "A shop") or not is_decided
        else:
            assert is_done or desk.is_held_by(reviewer, token)
            if is_done:
                assert record == self.submitted[number]
            desk.state = TaskState.DONE
            self.submitted[number] = record

    # Now and then only: a finished document is of no more use to the other rules.
    @precondition(lambda self: len(self.submitted) > 1)
    @rule(data=st.data(), reviewer=REVIEWERS, number=TASKS)
    def give_up(self, data: st.DataObject, reviewer: int, number: int) -> None:
        desk, token = self.desks[number], self.token(data, reviewer, number)
        is_done = desk.state == TaskState.UNUSABLE and (desk.holder, desk.token) == (reviewer, token)
        try:
            mark_unusable(actor=actor(self.reviewers[reviewer]), task=desk.task, lease_token=token, reason="blank")
        except LeaseLostError:
            assert not is_done
            assert not desk.is_held_by(reviewer, token)
        else:
            assert is_done or desk.is_held_by(reviewer, token)
            desk.state = TaskState.UNUSABLE

    @invariant()
    def each_task_stands_as_believed_with_at_most_one_holder(self) -> None:
        for desk in self.desks:
            row = ReviewTask.objects.get(pk=desk.task.pk)
            holder = None if desk.holder is None else self.reviewers[desk.holder].pk
            assert (row.state, row.lease_token, row.lease_holder_id) == (desk.state, desk.token, holder)
            assert (row.state == TaskState.OPEN) == (row.finished_at is None)
        assert TaskSkip.objects.filter(task__project=self.project).count() == len(self.skipped)

    @invariant()
    def every_acknowledged_save_is_there_and_versions_have_no_gap(self) -> None:
        rows = FieldEdit.objects.filter(task__project=self.project).order_by("version")
        kept = defaultdict(list)
        for edit in rows:
            kept[edit.task_id, edit.field_path].append((edit.version, edit.verdict, edit.value))
        believed = {(self.desks[number].task.pk, path): saved for (number, path), saved in self.acknowledged.items()}
        assert dict(kept) == {key: saved for key, saved in believed.items() if saved}
        for versions in kept.values():
            assert [version for version, *_ in versions] == list(range(1, len(versions) + 1))

    @invariant()
    def a_done_task_has_one_current_record_that_holds_what_was_saved_and_an_open_one_none(self) -> None:
        for number, desk in enumerate(self.desks):
            records = list(Record.objects.filter(document_id=desk.task.document_id))
            labels = {label.field_path: label for label in FieldReview.objects.filter(task=desk.task)}
            if desk.state != TaskState.DONE:
                assert (records, labels) == ([], {})
                continue
            assert records == [self.submitted[number]]
            assert records[0].is_current
            assert "/total" in labels
            for path in PATHS:
                if decided := self.decided(number, path):
                    # The submit itself may have said something else of the total.
                    assert path == "/total" or (labels[path].verdict, labels[path].value) == decided
                    assert records[0].provenance[path]["source"] == "person"
                    assert records[0].values[path] == labels[path].value
                elif path not in labels:
                    assert records[0].provenance[path]["source"] == "model"


# On PostgreSQL each of the thousands of statements is a round trip; a busy machine takes minutes.
@pytest.mark.timeout(1200)
@pytest.mark.django_db
def test_no_order_of_events_loses_a_save_or_finishes_a_task_twice() -> None:
    run_state_machine_as_test(
        ReviewMachine,
        settings=settings(
            max_examples=25,
            stateful_step_count=35,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
