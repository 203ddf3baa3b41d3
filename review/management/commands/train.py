"""Command line: manage.py train --project P [--type T] [--kind K]; `--help` says more."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.actions.training import cancel_training, request_training
from review.exceptions import ConflictError, NotFoundError
from review.management.lookup import find_project
from review.models import UNFINISHED_WORK, DocumentType, ModelKind, Project, TrainingRun, WorkState
from review.selectors.access import SYSTEM, access_document_type
from review.selectors.training import composed_with, training_runs_for
from review.tasks_training import LEARN, train


class Command(BaseCommand):
    help = "Learn from what reviewers settled. What comes of it reads nothing before it is rolled out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True)
        parser.add_argument("--type", help="the document type to learn to find the fields of")
        parser.add_argument("--kind", choices=[str(kind) for kind in LEARN], default=str(ModelKind.LOCATOR))
        parser.add_argument("--seed", type=int, default=0, help="the same snapshot and seed give the same model")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--queue", action="store_true", help="leave the training to a worker")
        how.add_argument("--cancel", action="store_true", help="stop the one that is under way")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project, kind = find_project(options["project"]), ModelKind(options["kind"])
        document_type = _type(project, options["type"], kind)
        if options["cancel"]:
            return self._cancel(project, document_type, kind)
        if options["seed"] < 0:
            raise CommandError("--seed must be 0 or more.")
        try:
            run = request_training(
                actor=SYSTEM, project=project, document_type=document_type, kind=kind, seed=options["seed"]
            )
        except ConflictError as error:
            raise CommandError(str(error.message)) from None
        if options["queue"]:
            self.stdout.write(f"Training {run.pk} is left to a worker.")
            return None
        train(run.pk)
        run = training_runs_for(project).get(pk=run.pk)
        for line in report(run):
            self.stdout.write(line)
        if run.state != WorkState.DONE:
            raise CommandError(f"Training {run.pk}: {run.state} {run.error_code}".rstrip() + ".")
        return None

    def _cancel(self, project: Project, document_type: DocumentType | None, kind: ModelKind) -> None:
        runs = training_runs_for(project).filter(document_type=document_type, kind=kind, state__in=UNFINISHED_WORK)
        run = runs.first()
        if run is None:
            raise CommandError("No such training is under way.")
        try:
            cancel_training(actor=SYSTEM, run=run)
        except ConflictError as error:
            raise CommandError(str(error.message)) from None
        self.stdout.write(f"Training {run.pk} is cancelled.")


def _type(project: Project, slug: str | None, kind: ModelKind) -> DocumentType | None:
    if kind == ModelKind.CLASSIFIER:
        if slug is not None:
            raise CommandError("A classifier learns to tell all types of a project apart: leave --type out.")
        return None
    if slug is None:
        raise CommandError(f"A {kind} is learned for one document type: give it with --type.")
    try:
        return access_document_type(project, slug)
    except NotFoundError:
        raise CommandError(f"The project {project.slug} has no document type {slug!r}.") from None


def report(run: TrainingRun) -> Iterator[str]:
    """Yield what a person should know of a training that has ended."""
    what = "labels" if run.kind == ModelKind.CALIBRATOR else "documents"
    reasons = ", ".join(f"{reason} {n}" for reason, n in run.snapshot.get("left_out", {}).items() if n) or "none"
    yield f"{len(run.snapshot.get(what, ()))} {what}; left out: {reasons}"
    yield from (_calibrated if run.kind == ModelKind.CALIBRATOR else _located)(run.metrics.get("fields", {}))
    if "right" in run.metrics:
        yield f"types told apart: {_share(run.metrics['right'])} of what was left out"
    if run.state == WorkState.DONE:
        composed = composed_with(run.trained_model)
        yield f"model {run.trained_model}" + (f", engine version {composed.pk} ({composed})" if composed else "")


def _located(fields: Mapping[str, Any]) -> Iterator[str]:
    for path, one in fields.items():
        found = f"{_share(one['found_before'])} -> {_share(one['found_after'])}"
        why = f"the prior keeps it ({one['why_not']})" if "why_not" in one else f"prior's share {one['prior_share']:g}"
        yield (
            f"{path:<20} {one['n_documents']:>5} labels, found {found} of what was left out; {why}; "
            f"read wrong {one['read_wrong']}, no candidate {one['no_candidate']}"
        )


def _calibrated(fields: Mapping[str, Any]) -> Iterator[str]:
    for path, one in fields.items():
        before, after = (_number(one[when].get("log_loss")) for when in ("before", "after"))
        worth = f"log-loss of what was left out {before} -> {after}"
        yield f"{path:<20} {one['n_labels']:>5} labels, {one['method']}: {worth}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
