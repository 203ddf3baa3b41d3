"""What stands between a challenger and its next stage: the comparison on the type's newest regression set."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet, Value
from django.utils.translation import gettext_lazy as _

from review.models import Document, EngineVersion, EvaluationComparison, RegressionItem, RegressionSet, Rollout
from review.selectors.engines import base_of, is_taught
from review.selectors.evaluation import Compared, items_of, newest_compared
from review.selectors.rollouts import champion_of

_IN_THE_WAY = {
    "no_champion": _("Nothing has read documents of this type yet: there is nothing to compare with."),
    "no_set": _("There is no regression set for this type. Freeze one, and compare both versions on it."),
    "taught_by_set": _(
        "%(n)s documents of the regression set may have taught this version. Train it again without them."
    ),
    "no_comparison": _("Both versions have not been compared on the newest regression set yet."),
    "falls": _("On the newest regression set this version falls too far in: %(fields)s."),
}


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a challenger may go on. `refusal` is "" or a code of why not, `message` the same in words.

    `champion` is who reads the type now; `n_taught` counts documents of the set that may have taught the challenger.
    """

    refusal: str
    champion: EngineVersion | None
    regression_set: RegressionSet | None = None
    comparison: EvaluationComparison | Compared | None = None
    n_taught: int = 0

    @property
    def is_open(self) -> bool:
        """Whether nothing stands in the way."""
        return not self.refusal

    @property
    def message(self) -> str:
        """Return why the challenger may not go on, for a person; "" where it may."""
        fallen = self.comparison.results["fallen"] if self.comparison is not None else []
        names = ", ".join(path.removeprefix("/") for path in fallen)
        return str(_IN_THE_WAY[self.refusal]) % {"n": self.n_taught, "fields": names} if self.refusal else ""


def gate_of(rollout: Rollout, champion: EngineVersion | None = None) -> Gate:
    """Return what the newest regression set says of a roll-out's challenger beside who reads the type now.

    `champion`, who reads it, spares a query where it is at hand.
    """
    version = rollout.engine_version
    champion = champion or champion_of(rollout.document_type)
    if champion is None:
        return gate_for(None, None, None, 0)
    kept, comparison = newest_compared(rollout.document_type, champion.pk, version.pk)
    return gate_for(champion, kept, comparison, n_that_taught(kept, version) if kept is not None else 0)


def gate_for(
    champion: EngineVersion | None,
    kept: RegressionSet | None,
    comparison: EvaluationComparison | Compared | None,
    n_taught: int,
) -> Gate:
    """Return what the comparison on a type's newest set says, or would say, of a version beside who reads the type.

    `n_taught`: `n_that_taught` of the set and the version.
    """
    if champion is None:
        return Gate("no_champion", None)
    if kept is None:
        return Gate("no_set", champion)
    if n_taught:
        refusal = "taught_by_set"
    elif comparison is None:
        refusal = "no_comparison"
    else:
        refusal = "falls" if comparison.is_blocked else ""
    return Gate(refusal, champion, kept, comparison, n_taught)


def n_that_taught(regression_set: RegressionSet, version: EngineVersion) -> int:
    """Return how many documents of a set may have taught a version: the project's own, held out after it was trained.

    What was held out before a training began was left out of it (`review.selectors.held_out`).
    """
    return n_that_taught_each([(regression_set, version)])[0]


def n_that_taught_each(pairs: Sequence[tuple[RegressionSet, EngineVersion]]) -> list[int]:
    """Return `n_that_taught` of each set and version; one query, none where every set is older than the training."""
    trained = [_trained_at(version) for _kept, version in pairs]
    asked = [
        _held_out_since(kept, at).annotate(pair=Value(number)).values("pair").annotate(n=Count("pk"))
        for number, ((kept, _version), at) in enumerate(zip(pairs, trained, strict=True))
        if at is not None and kept.created_at > at
    ]
    counted = {row["pair"]: row["n"] for row in asked[0].union(*asked[1:], all=True)} if asked else {}
    return [counted.get(number, 0) for number in range(len(pairs))]


def _trained_at(version: EngineVersion) -> datetime | None:
    """Return since when a version may have learned, None where it learned nothing here."""
    models = [model for model in (version.locator, version.calibrator) if model is not None]
    moments = [model.training_run.created_at if model.training_run else model.created_at for model in models]
    base = base_of(version)
    if is_taught(base):
        # Looked up once more before it was registered: what was held out by then has not taught it.
        moments.append(base.created_at)
    return min(moments, default=None)


def _held_out_since(regression_set: RegressionSet, trained_at: datetime) -> QuerySet[RegressionItem]:
    """Return the items of a set that were the project's own documents by then and were held out only after it."""
    known = RegressionItem.objects.filter(
        regression_set__project=regression_set.project_id, regression_set__created_at__lte=trained_at
    )
    # A document whose truth was corrected since was held out all the same.
    later = items_of(regression_set).order_by().exclude(sha256__in=known.values("sha256"))
    own = Document.objects.filter(
        project=regression_set.project_id, document_type=regression_set.document_type_id, received_at__lte=trained_at
    )
    return later.filter(sha256__in=own.values("sha256"))
