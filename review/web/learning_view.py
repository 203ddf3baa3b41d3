"""The learning page's rows: what each model learned from how much, what it changed field by field, and the runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.formats import localize
from django.utils.translation import gettext, gettext_lazy

from review import words
from review.models import UNFINISHED_WORK, DocumentType, EngineVersion, ModelKind, Project, TrainingRun
from review.selectors.document_types import document_types_for
from review.selectors.learning import (
    Offer,
    Reads,
    n_learned_from,
    newest_learned,
    offers_of,
    reads_among,
    versions_made,
)
from review.selectors.rollouts import rollouts_among
from review.selectors.training import training_runs_for
from review.web.policy_view import field_paths
from review.web.reliability_view import CalibratedField, calibrated_field

RUNS_SHOWN = 30
COLUMNS = ["type", "kind", "field", "figure", "before", "after", "learned_from"]
FIGURES: Mapping[str, Any] = {
    "found": gettext_lazy("found rightly"),
    "log_loss": gettext_lazy("log-loss"),
    "brier": gettext_lazy("Brier score"),
    "calibration_error": gettext_lazy("calibration error"),
    "coverage_at_99": gettext_lazy("storable at 99 percent precision"),
}
_SHARES = frozenset({"found", "calibration_error", "coverage_at_99"})
_WHY_NOT: Mapping[str, Any] = {
    "few_labels": gettext_lazy("too few examined documents show it"),
    "nothing_to_choose": gettext_lazy("there was never more than one candidate"),
    "no_gain": gettext_lazy("nothing was gained by it"),
}
FAILURES: Mapping[str, Any] = {
    "few_labels": gettext_lazy("too few examined values; review more and start again"),
    "nothing_learned": gettext_lazy("nothing does better than what is there; it stays as it is"),
    "nothing_read": gettext_lazy("no document of the type was read yet"),
    "too_few_types": gettext_lazy("it takes two document types with enough reviewed documents"),
    "gave_up": gettext_lazy("it was interrupted too often; start it again"),
    "training_failed": gettext_lazy("it failed; tell your administrator"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one field before and after, as text and as numbers."""

    name: str
    before: float | None
    after: float | None

    @property
    def label(self) -> str:
        """What the figure is called."""
        return str(FIGURES[self.name])

    @property
    def text(self) -> str:
        """Return both, in words."""
        return f"{self._said(self.before)} → {self._said(self.after)}"

    def _said(self, number: float | None) -> str:
        if number is None:
            return "–"
        return f"{localize(round(number * 100, 1))} %" if self.name in _SHARES else str(localize(round(number, 3)))


@dataclass(frozen=True, slots=True)
class LearnedField:
    """What a model changed for one field; `why_not` says why nothing, "" where something was learned."""

    label: str
    path: str
    n: int
    how: str
    changes: list[Change]
    why_not: str


@dataclass(frozen=True, slots=True)
class LearnedModel:
    """The newest model of one document type and kind, the version that reads with it, and where that may go."""

    run: TrainingRun
    title: str
    n: int | None
    version: EngineVersion | None
    offer: Offer | None
    fields: list[LearnedField]
    calibrated: list[CalibratedField]

    @property
    def n_changed(self) -> int:
        """For how many fields something was learned."""
        return sum(not field.why_not for field in self.fields)


@dataclass(frozen=True, slots=True)
class RunRow:
    """One training, and how many labels or documents it learned from."""

    run: TrainingRun
    title: str
    n: int | None
    failure: str

    @property
    def is_unfinished(self) -> bool:
        """Whether it can be cancelled."""
        return self.run.state in UNFINISHED_WORK


@dataclass(frozen=True, slots=True)
class LearningPage:
    """All that the page shows of one project."""

    models: list[LearnedModel]
    runs: list[RunRow]
    reads: list[Reads]

    @property
    def types(self) -> list[DocumentType]:
        """The document types of the project."""
        return [one.document_type for one in self.reads]

    @property
    def usual_type(self) -> DocumentType | None:
        """The first type of which something was read: of the others there is nothing to learn yet."""
        return next((one.document_type for one in self.reads if one.version is not None), None)

    @property
    def newest(self) -> LearnedModel | None:
        """The newest model."""
        return self.models[0] if self.models else None

    @property
    def uncalibrated(self) -> list[Reads]:
        """The types that are read by a version whose confidence is the reader's own, at least for some fields."""
        return [one for one in self.reads if one.is_uncalibrated]

    def plain(self) -> Iterator[list[object]]:
        """Yield the figures as rows."""
        for model in self.models:
            slug = model.run.document_type.slug if model.run.document_type is not None else ""
            for field in model.fields:
                for change in field.changes:
                    yield [slug, model.run.kind, field.path, change.name, change.before, change.after, field.n]


def learning_page(project: Project) -> LearningPage:
    """Return the page of a project."""
    types = list(document_types_for(project))
    labels = {one.pk: {path: label for path, label, _cost in field_paths(one)} for one in types}
    learned = newest_learned(project)
    made = versions_made([run.trained_model for run in learned])
    versions = {run.pk: made[run.trained_model.pk] for run in learned if run.trained_model.pk in made}
    rollouts = rollouts_among(types, list(versions.values()))
    reads = reads_among(types, rollouts)
    offers = offers_of([(run, versions[run.pk]) for run in learned if run.pk in versions], reads, rollouts)
    return LearningPage(
        models=[
            LearnedModel(
                run=run,
                title=title_of(run),
                n=n_learned_from(run),
                version=versions.get(run.pk),
                offer=offers.get(run.pk),
                fields=_fields(run, labels.get(run.document_type_id or 0, {})),
                calibrated=_diagrams(run, labels.get(run.document_type_id or 0, {})),
            )
            for run in learned
        ],
        runs=[
            RunRow(run, title_of(run), n_learned_from(run), words.say(FAILURES, run.error_code))
            for run in training_runs_for(project).select_related("requested_by")[:RUNS_SHOWN]
        ],
        reads=reads,
    )


def title_of(run: TrainingRun) -> str:
    """Return what a training is about: its kind, and its document type where it has one."""
    kind = str(ModelKind(run.kind).label)
    if run.document_type is None:
        return kind
    label = words.label_of(run.document_type.labels, run.document_type.slug)
    return gettext("%(kind)s of “%(type)s”") % {"kind": kind, "type": label}


def _fields(run: TrainingRun, labels: Mapping[str, str]) -> list[LearnedField]:
    of_kind = {ModelKind.LOCATOR: _located, ModelKind.CALIBRATOR: _calibrated}.get(ModelKind(run.kind))
    if of_kind is None:
        return []
    return [of_kind(path, label, metrics) for path, label, metrics in _in_order(run, labels)]


def _diagrams(run: TrainingRun, labels: Mapping[str, str]) -> list[CalibratedField]:
    if run.kind != ModelKind.CALIBRATOR:
        return []
    found = (calibrated_field(path, label, metrics) for path, label, metrics in _in_order(run, labels))
    return [field for field in found if field is not None]


def _in_order(run: TrainingRun, labels: Mapping[str, str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield path, name and figures of each field, in the order of the document type."""
    fields = run.metrics.get("fields", {})
    for path in [*(path for path in labels if path in fields), *sorted(path for path in fields if path not in labels)]:
        yield path, labels.get(path, path), fields[path]


def _located(path: str, label: str, metrics: Mapping[str, Any]) -> LearnedField:
    change = Change("found", metrics.get("found_before"), metrics.get("found_after"))
    code = metrics.get("why_not", "")
    return LearnedField(label, path, metrics["n_documents"], "", [change], words.say(_WHY_NOT, code) if code else "")


def _calibrated(path: str, label: str, metrics: Mapping[str, Any]) -> LearnedField:
    before, after = metrics["before"], metrics["after"]
    changes = [
        Change(name, _figure(before, name), _figure(after, name))
        for name in ("log_loss", "brier", "calibration_error", "coverage_at_99")
    ]
    method = words.say(METHODS, metrics["method"])
    why_not = str(_WHY_NOT["no_gain"]) if metrics["method"] == "identity" else ""
    return LearnedField(label, path, metrics["n_labels"], method, changes, why_not)


METHODS: Mapping[str, Any] = {
    "identity": gettext_lazy("as it is"),
    "logistic": gettext_lazy("logistic on the evidence"),
    "isotonic": gettext_lazy("isotonic"),
    "venn_abers": gettext_lazy("Venn–Abers"),
}


def _figure(scores: Mapping[str, Any], name: str) -> float | None:
    found = scores.get(name)
    if isinstance(found, Mapping):
        found = found.get("share", found.get("coverage"))
    return float(found) if found is not None else None
