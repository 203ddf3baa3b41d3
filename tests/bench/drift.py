"""A version that turns bad in production: how many documents pass before it is stopped, through the product's own path.

Receipts are taken in, read, routed and stored unseen; a share is audited by a scripted reviewer who knows what is
printed. A challenger that chooses as the champion does goes from shadow to canary to live by the product's actions,
past the gate (a comparison on a regression set), or stays a canary. Then it turns bad: on the drawn share of the
documents that *it* reads, the total that it found is wrong. Counted are the documents and audits from then on until the
monitor stops it, and what follows: a live version's field goes to people and the version is rolled back, a canary is
rolled back and the field goes on.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from review.actions.leasing import lease_next_task
from review.actions.regression_sets import LabelledFile, import_regression_set
from review.actions.rollouts import promote_rollout, start_rollout
from review.actions.submitting import FieldVerdict, submit_task
from review.actions.targets import set_target
from review.models import DocumentType, FieldMonitor, Record, Role, Rollout, RolloutStage, ShadowField, User
from review.routing.policy import PolicyRules, Thresholds
from review.selectors.access import Actor
from review.selectors.rollouts import champion_of
from review.selectors.targets import stopped_paths
from review.tasks_rollouts import watch_rollouts
from tests.bench import worlds
from tests.bench.databases import databases
from tests.bench.report import Budget, finish, write
from tests.review.rollout_room import a_learned_version

TARGET, FIELD = 0.01, "/total"
BEFORE = 0.003
HEADER = (
    "stage",
    "wrong after",
    "audited",
    "audits before",
    "audits until then",
    "documents",
    "of the challenger",
    "wrong stored",
    "field stopped",
)


@dataclass(frozen=True, slots=True)
class Drift:
    """What is simulated: the stage in which it turns bad, the share wrong from then on, the shares drawn."""

    stage: RolloutStage
    wrong_share: float
    audit_share: float = 0.5
    canary_share: float = 0.2
    n_before: int = 10
    n_shadow: int = 20
    most: int = 5_000


@dataclass(frozen=True, slots=True)
class Stopped:
    """What passed from the turn to the stop: documents of the type, those that the challenger read, audits that the
    monitor saw, and wrong totals that stand stored. `is_stopped` false: not within the most that were tried.
    """

    drift: Drift
    is_stopped: bool
    n_audits_before: int
    n_audits: int
    n_documents: int
    n_of_challenger: int
    n_wrong_stored: int
    ended_because: str
    stopped: frozenset[str]

    def row(self) -> tuple[object, ...]:
        """Return a row of the table."""
        drift = self.drift
        return (
            str(drift.stage), f"{drift.wrong_share:.0%}", f"{drift.audit_share:.0%}", self.n_audits_before,
            self.n_audits if self.is_stopped else "not stopped", self.n_documents, self.n_of_challenger,
            self.n_wrong_stored, "yes" if self.stopped else "no",
        )  # fmt: skip


class House:
    """A project whose receipts all show one total; what is wrong is decided by chance, and known to the reviewer."""

    def __init__(self, slug: str, drift: Drift, seed: int) -> None:
        self.drift = drift
        # Each house has chances of its own: what happens in one before the turn says nothing of the next.
        self.salt = f"{seed} {slug}"
        self.random = random.Random(self.salt)
        project = worlds.make_project(slug)
        rules = PolicyRules(
            default=Thresholds(auto=None, review=0.0),
            audit_sampled_share=drift.audit_share,
            full_examination_share=drift.audit_share,
        )
        self.document_type: DocumentType = worlds.make_type(project, "receipt", rules)
        self.reviewer = Actor(worlds.make_member(project, f"{slug}-reviewer", Role.REVIEWER))
        self.manager: User = worlds.make_member(project, f"{slug}-manager", Role.MANAGER)
        self.pictures: Iterator[bytes] = map(worlds.receipt_image, range(1, 1_000_000))
        self.challenger: int | None = None
        self.is_bad = False
        self.n_documents = self.n_of_challenger = self.n_wrong_stored = 0

    def send(self) -> None:
        """Take one receipt in, have it read and routed, and have its audit done where it was drawn for one."""
        (document,) = worlds.receive(self.document_type, [next(self.pictures)])
        worlds.work_off_queue()
        run = document.runs.get(is_current=True)
        is_challengers = run.engine_version_id == self.challenger
        share = self.drift.wrong_share if self.is_bad and is_challengers else BEFORE
        is_wrong = self.random.random() < share
        lease = lease_next_task(actor=self.reviewer, project=self.document_type.project)
        if lease is not None:
            fields = run.predictions.values_list("field_path", flat=True)
            verdicts = [
                FieldVerdict(path, "corrected", "7.77")
                if path == FIELD and is_wrong
                else FieldVerdict(path, "confirmed")
                for path in fields
            ]
            submit_task(actor=self.reviewer, task=lease.task, lease_token=lease.token, verdicts=verdicts)
        stands = Record.objects.filter(document=document, is_current=True, reviewer=None).exists()
        self.n_documents += 1
        self.n_of_challenger += is_challengers
        self.n_wrong_stored += is_wrong and stands

    def forget(self) -> None:
        """Count from here on."""
        self.n_documents = self.n_of_challenger = self.n_wrong_stored = 0


def through_a_roll_out(slug: str, drift: Drift, seed: int, folder: Path) -> Stopped:
    """Roll a version out to a stage, let it turn bad there, and return when it was stopped."""
    house = House(slug, drift, seed)
    set_target(actor=Actor(house.manager), document_type=house.document_type, field_path=FIELD, wrong_share=TARGET)
    house.send()
    rollout = _brought_to(house, folder)
    while _seen(house, rollout) < drift.n_before and not _is_tripped(house, rollout):
        house.send()
    n_before = _seen(house, rollout)
    assert not _is_tripped(house, rollout), "stopped before anything turned bad"
    house.forget()
    house.is_bad = True
    while not _is_tripped(house, rollout) and house.n_documents < drift.most:
        house.send()
    is_stopped, n_audits = _is_tripped(house, rollout), _seen(house, rollout) - n_before
    watch_rollouts()
    rollout.refresh_from_db()
    return Stopped(
        drift, is_stopped, n_before, n_audits, house.n_documents, house.n_of_challenger, house.n_wrong_stored,
        rollout.ended_because, stopped_paths(house.document_type),
    )  # fmt: skip


def _brought_to(house: House, folder: Path) -> Rollout:
    """Bring a challenger that is as good as the champion to the stage, past the gate."""
    actor, drift = Actor(house.manager), house.drift
    _freeze_set(house, folder)
    champion = champion_of(house.document_type)
    assert champion is not None
    # Another weight above 0 is another version that chooses alike: each type has one of its own.
    version = a_learned_version(house.document_type, champion, 1 + 0.001 * house.document_type.pk)
    rollout = start_rollout(
        actor=actor,
        document_type=house.document_type,
        engine_version=version,
        shadow_share=1.0,
        disagreement_share=1.0,
        canary_share=drift.canary_share,
    )
    # Which documents it reads is drawn with a salt that nobody can guess: a run with it could not be repeated.
    Rollout.objects.filter(pk=rollout.pk).update(salt=house.salt)
    house.challenger = version.pk
    for _ in range(drift.n_shadow):
        house.send()
    agreed = ShadowField.objects.filter(shadow_read__rollout=rollout, field_path=FIELD)
    assert agreed.count() == drift.n_shadow
    assert not agreed.filter(is_agreed=False).exists()
    while rollout.stage != drift.stage:
        rollout = promote_rollout(actor=actor, rollout=rollout)
    return rollout


def _freeze_set(house: House, folder: Path) -> None:
    files = []
    for number in range(5):
        path = folder / f"{number}.jpg"
        path.write_bytes(next(house.pictures))
        files.append(LabelledFile(path.name, path, {"/total": "9.00", "/date": "25/12/2018"}))
    import_regression_set(
        actor=Actor(house.manager),
        project=house.document_type.project,
        document_type=house.document_type,
        name="test",
        files=files,
    )


def _state(house: House, rollout: Rollout) -> dict[str, object]:
    """Return the monitor that must stop it: the field's for a live version, the canary's own for a canary."""
    if house.drift.stage == RolloutStage.LIVE:
        return dict(FieldMonitor.objects.get(document_type=house.document_type, ended_at=None).state)
    return dict(Rollout.objects.get(pk=rollout.pk).monitors.get(FIELD, {}))


def _seen(house: House, rollout: Rollout) -> int:
    return int(str(_state(house, rollout).get("n_documents", 0)))


def _is_tripped(house: House, rollout: Rollout) -> bool:
    return _state(house, rollout).get("tripped_at") is not None


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="drift", description=__doc__)
    parser.add_argument("--wrong", type=float, nargs="+", default=[0.1, 0.3], help="shares wrong after the drift")
    parser.add_argument("--before", type=int, default=10, help="audits before it turns bad")
    parser.add_argument("--most", type=int, default=3_000, help="documents after which a drift counts as not stopped")
    parser.add_argument("--audited", type=float, default=0.5, help="share of the stored documents that is audited")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args(arguments)
    worlds.use_scripted_engine()
    found = []
    with databases("sqlite"):
        for stage in (RolloutStage.LIVE, RolloutStage.CANARY):
            for number, share in enumerate(options.wrong):
                folder = Path(settings.DATA_DIR) / f"{stage}-{number}"
                folder.mkdir()
                drift = Drift(stage, share, options.audited, n_before=options.before, most=options.most)
                found.append(through_a_roll_out(f"{stage}-{number}", drift, options.seed, folder))
                write(str(found[-1].row()))
    rows = [one.row() for one in found]
    worst = [one for one in found if one.drift.wrong_share >= 0.1]
    budgets = [
        Budget(
            f"{one.drift.stage}, {one.drift.wrong_share:.0%} wrong: stopped", float(one.is_stopped), 1.0, is_floor=True
        )
        for one in worst
    ]
    budgets += [
        Budget(f"{one.drift.stage}: rolled back by itself", float(bool(one.ended_because)), 1.0, is_floor=True)
        for one in worst
    ]
    return finish("drift", HEADER, rows, budgets, {"rows": rows, "target": TARGET, "wrong_before": BEFORE})
