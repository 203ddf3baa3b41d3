"""Command line: manage.py evaluate --set NAME --project P (--engine E | --engine-version V | --compare A B).

With --compare it ends with 0 when B may take the place of A, with 1 when a field that costs anything falls too far, and
with 2 when they could not be compared. `--help` says more.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.errors import InferenceError
from review.exceptions import NotFoundError
from review.management.comparison_report import comparison_as_json, comparison_table
from review.management.lookup import find_engine_version, find_project
from review.models import EngineVersion, RegressionSet
from review.selectors.access import SYSTEM
from review.selectors.engines import is_declared, is_profiled
from review.selectors.evaluation import access_regression_set, regression_sets_for
from review.tasks_comparison import compare_versions
from review.tasks_engines import ocr_engines
from review.tasks_evaluation import evaluate_set, installed_version


class Command(BaseCommand):
    help = "Measure an engine on a regression set, or compare two."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--set", required=True, help="the regression set's name")
        parser.add_argument("--project", required=True)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--engine", help="an OCR engine by its name")
        which.add_argument("--engine-version", help="a declared or learned version: its id, or 8 letters of its digest")
        which.add_argument(
            "--compare",
            nargs=2,
            metavar=("A", "B"),
            help="two versions by id or digest, or OCR engines by name: may B take the place of A?",
        )
        parser.add_argument("--set-version", type=int, help="that version of the set instead of its newest")
        parser.add_argument("--json", action="store_true", help="print the results as one JSON object, last line")
        parser.add_argument("--limit", type=int, help="only the first N documents, by name")
        parser.add_argument("--fresh", action="store_true", help="read every page again instead of using the cache")
        parser.add_argument("--processes", type=int, default=1, help="how many processes read, each with its engine")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        if options["compare"]:
            try:
                is_blocked = self._compare(options)
            except CommandError as error:
                raise CommandError(str(error), returncode=2) from None
            if is_blocked:
                sys.exit(1)
            return
        regression_set = _set_in(options)
        version = find_engine_version(options["engine_version"]) if options["engine_version"] else None
        if version is not None and version.base_id is None and not is_declared(version) and not is_profiled(version):
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

    def _compare(self, options: Mapping[str, Any]) -> bool:
        regression_set = _set_in(options)
        a, b = (_version_named(reference) for reference in options["compare"])
        try:
            stored = compare_versions(
                actor=SYSTEM,
                regression_set=regression_set,
                a=a,
                b=b,
                limit=options["limit"],
                is_fresh=options["fresh"],
                n_processes=options["processes"],
                tell=self._tell,
            )
        except InferenceError as error:
            raise CommandError(f"{a} and {b} cannot be compared: {error}.") from None
        for line in comparison_table(stored):
            self.stdout.write(line)
        if options["json"]:
            self.stdout.write(json.dumps(comparison_as_json(stored)))
        return stored.is_blocked

    def _tell(self, n_done: int, n_all: int) -> None:
        if n_done % 10 == 0 or n_done == n_all:
            self.stderr.write(f"{n_done} of {n_all} documents")


def _set_in(options: Mapping[str, Any]) -> RegressionSet:
    if options["processes"] < 1 or (options["limit"] is not None and options["limit"] < 1):
        raise CommandError("--processes and --limit must be at least 1.")
    project = find_project(options["project"])
    try:
        return access_regression_set(project, options["set"], options["set_version"])
    except NotFoundError:
        known = ", ".join(str(found) for found in regression_sets_for(project)) or "none yet; see import_labels"
        wanted = options["set"] if options["set_version"] is None else f"{options['set']} v{options['set_version']}"
        raise CommandError(f"There is no regression set {wanted!r}. Known: {known}.") from None


def _version_named(reference: str) -> EngineVersion:
    if reference not in ocr_engines():
        return find_engine_version(reference)
    try:
        return installed_version(reference)
    except InferenceError as error:
        raise CommandError(f"The engine {reference} cannot be had: {error}.") from None


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
