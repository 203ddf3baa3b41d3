"""Command line: manage.py evaluate --set NAME --project P (--engine E | --engine-version V); `--help` says more."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.errors import InferenceError
from review.exceptions import NotFoundError
from review.management.lookup import find_engine_version, find_project
from review.selectors.access import SYSTEM
from review.selectors.engines import is_declared
from review.selectors.evaluation import access_regression_set, regression_sets_for
from review.tasks_evaluation import evaluate_set


class Command(BaseCommand):
    help = "Measure an engine on a regression set."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--set", required=True, help="the regression set's name")
        parser.add_argument("--project", required=True)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--engine", help="an OCR engine by its name")
        which.add_argument("--engine-version", help="a declared or learned version: its id, or 8 letters of its digest")
        parser.add_argument("--json", action="store_true", help="print the results as one JSON object, last line")
        parser.add_argument("--limit", type=int, help="only the first N documents, by name")
        parser.add_argument("--fresh", action="store_true", help="read every page again instead of using the cache")
        parser.add_argument("--processes", type=int, default=1, help="how many processes read, each with its engine")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        if options["processes"] < 1 or (options["limit"] is not None and options["limit"] < 1):
            raise CommandError("--processes and --limit must be at least 1.")
        project = find_project(options["project"])
        try:
            regression_set = access_regression_set(project, options["set"])
        except NotFoundError:
            known = ", ".join(found.name for found in regression_sets_for(project)) or "none yet; see import_labels"
            raise CommandError(f"There is no regression set {options['set']!r}. Known: {known}.") from None
        version = find_engine_version(options["engine_version"]) if options["engine_version"] else None
        if version is not None and version.base_id is None and not is_declared(version):
            raise CommandError(f"{version} is the version of an OCR engine. Give --engine {version.name} instead.")
        try:
            run = evaluate_set(
                actor=SYSTEM,
                regression_set=regression_set,
                engine_name=options["engine"] or "",
                engine_version=version,
                limit=options["limit"],
                is_fresh=options["fresh"],
                n_processes=options["processes"],
                tell=self._tell,
            )
        except InferenceError as error:
            name = str(version or repr(options["engine"]))
            raise CommandError(f"The engine {name} cannot be had: {error}.") from None
        for line in table(run.results):
            self.stdout.write(line)
        if options["json"]:
            self.stdout.write(json.dumps(run.results))

    def _tell(self, n_done: int, n_all: int) -> None:
        if n_done % 10 == 0 or n_done == n_all:
            self.stderr.write(f"{n_done} of {n_all} documents")


def table(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield f"{'field':<24}{'n':>6}{'exact match':>28}{'CER':>8}{'missing':>9}{'at 99 %':>9}"
    for name, found in results["fields"].items():
        exact = found["exact_match"]
        interval = f"({_share(exact['lower'])} to {_share(exact['upper'])})"
        yield (
            f"{name:<24}{found['n']:>6}{_share(exact['point']) + ' ' + interval:>28}"
            f"{_share(found['cer']):>8}{_share(found['missing_share']):>9}{_share(found['coverage_at_99']):>9}"
        )
    yield "at 99 %: the share of documents that could be stored unseen with 99 % of them right"
    yield (
        f"{results['n_documents']} documents, {results['n_pages']} pages, {results['n_cached_pages']} of them from "
        f"the cache; {_seconds(results['seconds_per_page'])} CPU seconds a page "
        f"({_seconds(results['reading_seconds_per_page'])} reading, "
        f"{_seconds(results['location_seconds_per_page'])} finding fields); {results['wall_seconds']:.1f} s in all"
    )
    for name, code in results["failed"].items():
        yield f"failed: {name} ({code})"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value * 100:.1f}%"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
