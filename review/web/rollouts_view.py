"""The roll-out page's rows: champion and challenger side by side, by field, and what differed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from review.exceptions import InvalidInputError
from review.models import DocumentType, EngineVersion, Rollout, RolloutStage
from review.selectors.gate import Gate
from review.selectors.rollout_figures import (
    DifferingField,
    FieldAgreement,
    RolloutCounts,
    column_of,
    rollout_detail,
)
from review.web.crops import crop_address
from review.web.policy_view import field_paths

SHARES = ("shadow_share", "disagreement_share", "canary_share")
DEFAULT_SHARES = dict(zip(SHARES, ("20", "2", "5"), strict=True))


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field: agreement in shadow, who was right where a person settled it, and the comparison on the set."""

    path: str
    label: str
    agreement: FieldAgreement | None
    compared: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One difference: what each read, what a person said, and the address of the crop ("" without a place)."""

    label: str
    champion: str
    challenger: str
    truth: str | None
    crop: str
    document_id: int
    filename: str


@dataclass(frozen=True, slots=True)
class RolloutPage:
    """All that the page shows of one roll-out. `older_than` leads to older differences, None where there are none."""

    rollout: Rollout
    gate: Gate | None
    counts: RolloutCounts
    fields: list[FieldRow]
    differences: list[DifferenceRow]
    older_than: int | None

    @property
    def is_on_its_way(self) -> bool:
        """Whether it may be promoted."""
        return self.rollout.stage in (RolloutStage.SHADOW, RolloutStage.CANARY)

    @property
    def has_ended(self) -> bool:
        """Whether nothing can be done with it any more."""
        return self.rollout.stage == RolloutStage.RETIRED


def rollout_page(
    rollout: Rollout, document_type: DocumentType, champion: EngineVersion | None, *, before: int = 0
) -> RolloutPage:
    """Return what the page shows of a roll-out, differences from `before` on (0: the newest).

    `champion` reads the type now, which is given with its active version.
    """
    detail = rollout_detail(rollout, champion=champion, before=before)
    gate = detail.gate
    agreement = {one.field_path: one for one in detail.agreement}
    compared = gate.comparison.results["fields"] if gate is not None and gate.comparison is not None else {}
    labels = {path: label for path, label, _cost in field_paths(document_type)}
    return RolloutPage(
        rollout=rollout,
        gate=gate,
        counts=detail.counts,
        fields=[
            FieldRow(path, labels.get(path, path), agreement.get(path), compared.get(path))
            for path in [*labels, *(path for path in {**agreement, **compared} if path not in labels)]
            if path in agreement or path in compared
        ],
        differences=[_difference(one, labels) for one in detail.differences],
        older_than=detail.older_than,
    )


def _difference(one: DifferingField, labels: Mapping[str, str]) -> DifferenceRow:
    column = column_of(one.field_path)
    place = one.place
    return DifferenceRow(
        label=labels.get(column, one.field_path),
        champion=_text(one.champion.value if one.champion is not None else None),
        challenger=_text(one.challenger.value if one.challenger is not None else None),
        truth=_text(one.truth) if one.is_settled else None,
        crop=crop_address(one.document, place.page_number, place.bbox) if place is not None else "",
        document_id=one.document.pk,
        filename=one.document.filename,
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def shares_in(data: QueryDict) -> dict[str, float]:
    """Return the shares that a form says in percent, as fractions; what is no number is none between 0 and 1."""
    shares: dict[str, float] = {}
    for name in SHARES:
        try:
            shares[name] = float(data.get(name, "")) / 100
        except ValueError:
            shares[name] = -1.0
    return shares


def problems_of(error: InvalidInputError) -> str:
    """Return an error's problems as one text."""
    return " ".join(dict.fromkeys(str(problem["message"]) for problem in error.details.get("problems", [])))


def chosen(rollouts: list[Rollout], wanted: str) -> Rollout | None:
    """Return the roll-out that is wished to be seen, else the one on its way, else the live one, else the newest."""
    by_id = {str(one.pk): one for one in rollouts}
    if wanted in by_id:
        return by_id[wanted]
    for stages in ((RolloutStage.SHADOW, RolloutStage.CANARY), (RolloutStage.LIVE,)):
        found = next((one for one in rollouts if one.stage in stages), None)
        if found is not None:
            return found
    return rollouts[0] if rollouts else None
