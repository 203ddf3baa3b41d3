"""What a roll-out has shown so far: on which fields champion and challenger agree, and who was right where not."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from review.accuracy.intervals import AccuracyEstimate, wilson
from review.models import (
    Document,
    ExtractionRun,
    FieldPrediction,
    FieldReview,
    Rollout,
    RolloutStage,
    RunRole,
    ShadowField,
    ShadowRead,
    WorkState,
)
from review.routing.paths import column_path
from review.selectors.gate import Gate, gate_of

DIFFERENCES_SHOWN = 50
MAX_EXAMINED = 5_000


@dataclass(frozen=True, slots=True)
class FieldAgreement:
    """One field, columns of tables with `*` for the row: how often both gave the same value.

    Of the differences that a person has settled, `n_champion` are those where the champion was right, `n_challenger`
    those where the challenger was, `n_neither` the rest.
    """

    field_path: str
    n: int
    agreement: AccuracyEstimate
    n_champion: int
    n_challenger: int
    n_neither: int

    @property
    def n_examined(self) -> int:
        """The differences that a person has settled."""
        return self.n_champion + self.n_challenger + self.n_neither

    @property
    def challenger_right(self) -> AccuracyEstimate:
        """Of the settled differences, the share in which the challenger was right."""
        return wilson(self.n_challenger, self.n_examined)


@dataclass(frozen=True, slots=True)
class DifferingField:
    """One field on which the two differ: what each read and where, and what a person said, if one did."""

    document: Document
    field_path: str
    champion: FieldPrediction | None
    challenger: FieldPrediction | None
    review: FieldReview | None

    @property
    def place(self) -> FieldPrediction | None:
        """Where on the page to look: where the challenger read, else where the champion did."""
        found = (one for one in (self.challenger, self.champion) if one is not None and one.bbox)
        return next(found, None)


@dataclass(frozen=True, slots=True)
class RolloutCounts:
    """Documents of a roll-out: read twice, still to be read twice, not readable by it, and read for real."""

    n_compared: int
    n_waiting: int
    n_failed: int
    n_for_real: int


@dataclass(frozen=True, slots=True)
class RolloutDetail:
    """A roll-out with what it has shown so far; `gate` is None for one that is live or has ended."""

    rollout: Rollout
    counts: RolloutCounts
    agreement: list[FieldAgreement]
    gate: Gate | None


def rollout_detail(rollout: Rollout) -> RolloutDetail:
    """Return a roll-out with its figures, in a constant number of queries."""
    is_on_its_way = rollout.stage in (RolloutStage.SHADOW, RolloutStage.CANARY)
    gate = gate_of(rollout) if is_on_its_way else None
    return RolloutDetail(rollout, counts_of(rollout), agreement_of(rollout), gate)


def counts_of(rollout: Rollout) -> RolloutCounts:
    """Return how many documents a roll-out has touched. Two queries."""
    by_state = dict(ShadowRead.objects.filter(rollout=rollout).values_list("state").annotate(Count("pk")))
    for_real = ExtractionRun.objects.filter(
        document__document_type=rollout.document_type_id,
        engine_version=rollout.engine_version_id,
        role=RunRole.MAIN,
        started_at__gte=rollout.created_at,
    )
    return RolloutCounts(
        n_compared=by_state.get(WorkState.DONE, 0),
        n_waiting=by_state.get(WorkState.QUEUED, 0) + by_state.get(WorkState.RUNNING, 0),
        n_failed=by_state.get(WorkState.FAILED, 0),
        n_for_real=for_real.count(),
    )


def agreement_of(rollout: Rollout) -> list[FieldAgreement]:
    """Return the agreement of each field, by path, and who was right where a person settled it. Three queries."""
    rows = ShadowField.objects.filter(shadow_read__rollout=rollout).values("field_path")
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows.annotate(n=Count("pk"), n_agreed=Count("pk", filter=Q(is_agreed=True))).order_by("field_path"):
        column = column_path(row["field_path"])
        sums[column][0] += row["n"]
        sums[column][1] += row["n_agreed"]
    settled = _settled(rollout)
    return [
        FieldAgreement(path, n, wilson(n_agreed, n), *(settled[path][who] for who in ("a", "b", "")))
        for path, (n, n_agreed) in sums.items()
    ]


def column_of(field_path: str) -> str:
    """Return a field's path with `*` for the row of a table."""
    return column_path(field_path)


def _settled(rollout: Rollout) -> defaultdict[str, dict[str, int]]:
    """Count by field who was right ("a" the champion, "b" the challenger, "" neither) among the newest verdicts."""
    counts: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"a": 0, "b": 0, "": 0})
    reviewed = FieldReview.objects.filter(
        document=OuterRef("shadow_read__document"), field_path=OuterRef("field_path"), is_correct__isnull=False
    )
    differing = ShadowField.objects.filter(Exists(reviewed), shadow_read__rollout=rollout, is_agreed=False)
    for one in _shown(differing.order_by("-pk")[:MAX_EXAMINED]):
        if one.review is not None:
            counts[column_path(one.field_path)][_who_is_right(one)] += 1
    return counts


def _who_is_right(one: DifferingField) -> str:
    truth = one.review.value if one.review is not None else None
    if _as_text(one.champion) == _folded(truth):
        return "a"
    return "b" if _as_text(one.challenger) == _folded(truth) else ""


def _as_text(prediction: FieldPrediction | None) -> str:
    return _folded(prediction.value if prediction is not None else None)


def _folded(value: Any) -> str:  # noqa: ANN401 - what a JSON column holds
    """Return a value as it is compared: letter case and spaces make no difference between readers."""
    return "" if value is None else "".join(str(value).casefold().split())


def differences_of(rollout: Rollout, *, before: int = 0) -> tuple[list[DifferingField], int | None]:
    """Return the newest fields on which the two differ, and the id after which older ones follow, if any do."""
    differing = ShadowField.objects.filter(shadow_read__rollout=rollout, is_agreed=False).order_by("-pk")
    if before:
        differing = differing.filter(pk__lt=before)
    found = list(differing.values_list("pk", flat=True)[: DIFFERENCES_SHOWN + 1])
    page = found[:DIFFERENCES_SHOWN]
    shown = _shown(ShadowField.objects.filter(pk__in=page).order_by("-pk"))
    return shown, page[-1] if len(found) > DIFFERENCES_SHOWN else None


def _shown(fields: Any) -> list[DifferingField]:  # noqa: ANN401 - a queryset, sliced or not
    """Return the fields with what both read and what was said of them; four queries, however many there are."""
    rows: Sequence[ShadowField] = list(fields.select_related("shadow_read__document__project"))
    reads = [row.shadow_read for row in rows]
    runs = {run_id for read in reads for run_id in (read.champion_run_id, read.run_id) if run_id is not None}
    paths = {row.field_path for row in rows}
    predictions = {
        (one.run_id, one.field_path): one
        for one in FieldPrediction.objects.filter(run__in=runs, field_path__in=paths).defer("evidence", "findings")
    }
    reviews = FieldReview.objects.filter(
        document__in={read.document_id for read in reads}, field_path__in=paths, is_correct__isnull=False
    )
    said = {(one.document_id, one.field_path): one for one in reviews.order_by("pk")}
    return [
        DifferingField(
            document=row.shadow_read.document,
            field_path=row.field_path,
            champion=predictions.get((row.shadow_read.champion_run_id, row.field_path)),
            challenger=predictions.get((row.shadow_read.run_id or 0, row.field_path)),
            review=said.get((row.shadow_read.document_id, row.field_path)),
        )
        for row in rows
    ]
