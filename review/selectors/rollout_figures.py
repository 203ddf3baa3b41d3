"""What a roll-out has shown so far: on which fields champion and challenger agree, and who was right where not."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from review.accuracy.intervals import AccuracyEstimate, wilson
from review.models import (
    Document,
    EngineVersion,
    ExtractionRun,
    FieldPrediction,
    FieldReview,
    Rollout,
    RolloutStage,
    RunRole,
    ShadowField,
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
    """One field on which the two differ: what each read and where, and whether a person settled it.

    `truth` is what the person said, None for nothing there.
    """

    document: Document
    field_path: str
    champion: FieldPrediction | None
    challenger: FieldPrediction | None
    is_settled: bool
    truth: Any

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
    """A roll-out with what it has shown so far; `gate` is None for one that is live or has ended.

    `differences` are the newest fields on which the two differ, `older_than` the id after which older ones follow, None
    where none do.
    """

    rollout: Rollout
    counts: RolloutCounts
    agreement: list[FieldAgreement]
    gate: Gate | None
    differences: list[DifferingField]
    older_than: int | None


def rollout_detail(rollout: Rollout, *, champion: EngineVersion | None = None, before: int = 0) -> RolloutDetail:
    """Return a roll-out with its figures, differences from `before` on (0: the newest); a constant number of queries.

    `champion`, who reads the type now, spares a query where it is at hand.
    """
    is_on_its_way = rollout.stage in (RolloutStage.SHADOW, RolloutStage.CANARY)
    gate = gate_of(rollout, champion) if is_on_its_way else None
    newest, settled = _differing(rollout, before)
    shown = newest[:DIFFERENCES_SHOWN]
    return RolloutDetail(
        rollout=rollout,
        counts=counts_of(rollout),
        agreement=_agreement_of(rollout, [one for _pk, one in settled]),
        gate=gate,
        differences=[one for _pk, one in shown],
        older_than=shown[-1][0] if len(newest) > DIFFERENCES_SHOWN else None,
    )


def counts_of(rollout: Rollout) -> RolloutCounts:
    """Return how many documents a roll-out has touched. One query."""
    for_real = ExtractionRun.objects.filter(
        document__document_type=rollout.document_type_id,
        engine_version=rollout.engine_version_id,
        role=RunRole.MAIN,
        started_at__gte=rollout.created_at,
    )
    found = Rollout.objects.filter(pk=rollout.pk).annotate(
        n_compared=_n_reads(WorkState.DONE),
        n_waiting=_n_reads(WorkState.QUEUED, WorkState.RUNNING),
        n_failed=_n_reads(WorkState.FAILED),
        n_for_real=Coalesce(Subquery(for_real.order_by().values("role").annotate(n=Count("pk")).values("n")), 0),
    )
    return RolloutCounts(**found.values("n_compared", "n_waiting", "n_failed", "n_for_real").get())


def _n_reads(*states: WorkState) -> Count:
    return Count("shadow_reads", filter=Q(shadow_reads__state__in=states))


def _agreement_of(rollout: Rollout, settled: Iterable[DifferingField]) -> list[FieldAgreement]:
    """Return the agreement of each field, by path, and who was right where a person settled it. One query."""
    rows = ShadowField.objects.filter(shadow_read__rollout=rollout).values("field_path")
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in rows.annotate(n=Count("pk"), n_agreed=Count("pk", filter=Q(is_agreed=True))).order_by("field_path"):
        column = column_path(row["field_path"])
        sums[column][0] += row["n"]
        sums[column][1] += row["n_agreed"]
    right = _who_were_right(settled)
    return [
        FieldAgreement(path, n, wilson(n_agreed, n), *(right[path][who] for who in ("a", "b", "")))
        for path, (n, n_agreed) in sums.items()
    ]


def column_of(field_path: str) -> str:
    """Return a field's path with `*` for the row of a table."""
    return column_path(field_path)


def _who_were_right(settled: Iterable[DifferingField]) -> defaultdict[str, dict[str, int]]:
    """Count by field who was right: "a" the champion, "b" the challenger, "" neither."""
    counts: defaultdict[str, dict[str, int]] = defaultdict(lambda: {"a": 0, "b": 0, "": 0})
    for one in settled:
        counts[column_path(one.field_path)][_who_is_right(one)] += 1
    return counts


def _who_is_right(one: DifferingField) -> str:
    if _as_text(one.champion) == _folded(one.truth):
        return "a"
    return "b" if _as_text(one.challenger) == _folded(one.truth) else ""


def _as_text(prediction: FieldPrediction | None) -> str:
    return _folded(prediction.value if prediction is not None else None)


def _folded(value: Any) -> str:  # noqa: ANN401 - what a JSON column holds
    """Return a value as it is compared: letter case and spaces make no difference between readers."""
    return "" if value is None else "".join(str(value).casefold().split())


def _differing(
    rollout: Rollout, before: int
) -> tuple[list[tuple[int, DifferingField]], list[tuple[int, DifferingField]]]:
    """Return, by id and newest first, the fields to show from `before` on and one more, and those that were settled.

    Two queries for both, however many there are: a field that is shown is often settled too.
    """
    reviewed = FieldReview.objects.filter(
        document=OuterRef("shadow_read__document"), field_path=OuterRef("field_path"), is_correct__isnull=False
    ).order_by("-pk")
    differing = ShadowField.objects.filter(shadow_read__rollout=rollout, is_agreed=False).order_by("-pk")
    newest = differing.filter(pk__lt=before) if before else differing
    settled = differing.filter(Exists(reviewed))
    wanted = Q(pk__in=newest.values("pk")[: DIFFERENCES_SHOWN + 1]) | Q(pk__in=settled.values("pk")[:MAX_EXAMINED])
    said = differing.annotate(is_settled=Exists(reviewed), truth=Subquery(reviewed.values("value")[:1]))
    found = _with_what_was_read(said.filter(wanted).select_related("shadow_read__document__project"))
    return (
        [one for one in found if not before or one[0] < before][: DIFFERENCES_SHOWN + 1],
        [one for one in found if one[1].is_settled][:MAX_EXAMINED],
    )


def _with_what_was_read(fields: Iterable[Any]) -> list[tuple[int, DifferingField]]:
    """Return the annotated fields, by id, with what both versions read."""
    rows = list(fields)
    reads = [row.shadow_read for row in rows]
    runs = {run_id for read in reads for run_id in (read.champion_run_id, read.run_id) if run_id is not None}
    predictions = {
        (one.run_id, one.field_path): one
        for one in FieldPrediction.objects.filter(run__in=runs, field_path__in={row.field_path for row in rows}).defer(
            "evidence", "findings"
        )
    }
    return [
        (
            row.pk,
            DifferingField(
                document=row.shadow_read.document,
                field_path=row.field_path,
                champion=predictions.get((row.shadow_read.champion_run_id, row.field_path)),
                challenger=predictions.get((row.shadow_read.run_id or 0, row.field_path)),
                is_settled=row.is_settled,
                truth=row.truth,
            ),
        )
        for row in rows
    ]
