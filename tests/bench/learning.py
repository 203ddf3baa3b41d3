"""What reviewers teach: the accuracy of a locator by how many receipts were reviewed, and how long learning takes.

A folder as SROIE's, `train/` and `test/` with `img/` and `key/`. The pages of `train/` are taken in, opened, routed and
reviewed by the product's own actions; the reviewer is a script that knows what is printed. The words are those that
the OCR engine of this project reads on the same pictures, read once and kept in the folder of readings. After each step
a training is asked for and done by the task that a worker does; what it composed finds the fields of `test/`, which the
project has never seen.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from inference import registry
from inference.bench import image_files
from inference.engines.scripted import ANSWERS_VARIABLE
from inference.fields.normalise import TYPED, normalise
from inference.imaging.hashing import content_hash
from inference.imaging.pages import open_pages
from inference.types import DocumentTypeSpec, FieldSpec
from review.accuracy.evaluation import FieldResult
from review.actions.intake import file_limits
from review.actions.leasing import lease_next_task
from review.actions.submitting import FieldVerdict, submit_task
from review.actions.training import request_training
from review.models import Document, DocumentType, EngineVersion, ModelKind, Project, Role, TrainingRun
from review.routing.policy import PolicyRules, Thresholds
from review.selectors.access import SYSTEM, Actor
from review.selectors.schemas import spec_of
from review.selectors.training import composed_with
from review.tasks_reading import fields_of
from review.tasks_training import train
from tests.bench import stored_readings, unknown_type, worlds
from tests.bench.databases import databases
from tests.bench.planting import Truth
from tests.bench.report import Budget, finish, table, write

TARGETS: Mapping[str, float] = {"/date": 0.93, "/total": 0.92, "/company": 0.57, "/address": 0.68}
SECONDS = 60.0
GAIN = 0.1
"""What labels must be worth, in fields found, for a type that comes without hints."""
FULL_LOOK = PolicyRules(default=Thresholds(auto=None, review=1.0), full_examination_share=1.0)


@dataclass(frozen=True, slots=True)
class Step:
    """How well `test/` is found after so many reviewed receipts; CPU and wall seconds of the training."""

    n_reviewed: int
    fields: Mapping[str, FieldResult]
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    run: TrainingRun | None = None


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="learning", description=__doc__)
    parser.add_argument(
        "--dir", type=Path, required=True, help="a folder with train/ and test/, each with img/ and key/"
    )
    parser.add_argument("--readings", type=Path, required=True, help="where readings are kept between runs")
    parser.add_argument("--steps", type=int, nargs="+", default=[25, 50, 100, 200, 300], help="receipts reviewed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    taught, asked = (_readings(options.dir / part, options.readings) for part in ("train", "test"))
    with databases("sqlite"):
        steps = list(measure_learning(options.dir / "train", taught, asked, options.steps, options.seed))
    known = list(unknown_type.curve(taught, asked, options.steps, unknown_type.bare_spec(), options.seed))
    return _report(steps, known)


def _readings(folder: Path, kept_in: Path) -> list[Truth]:
    """Return a part's readings, from the folder where they are kept or read now and kept there."""
    kept = kept_in / f"{folder.name}.json.gz"
    if not kept.exists():
        kept_in.mkdir(parents=True, exist_ok=True)
        write(f"reading {folder}, once")
        stored_readings.store(list(stored_readings.read_folder(folder, registry.build_engine("rapidocr"))), kept)
    return stored_readings.load(kept)


def measure_learning(
    folder: Path, taught: Sequence[Truth], asked: Sequence[Truth], steps: Sequence[int], seed: int
) -> Iterator[Step]:
    """Yield how well `asked` is found with nothing reviewed, then after each number of reviewed receipts."""
    truths = {truth.name: truth for truth in taught}
    files = [path for path in image_files(folder / "img") if path.stem in truths][: max(steps)]
    _script([(path, truths[path.stem]) for path in files])
    project = worlds.make_project()
    document_type = worlds.make_type(project, "receipt", FULL_LOOK)
    assert document_type.active_version is not None
    spec = spec_of(document_type.active_version)
    reviewer = Actor(worlds.make_member(project, "reviewer", Role.REVIEWER))
    yield Step(0, found_fields(asked, spec, None))
    n_reviewed = 0
    for n_wanted in steps:
        new = files[n_reviewed:n_wanted]
        received = worlds.receive(document_type, (path.read_bytes() for path in new))
        worlds.work_off_queue()
        names = {document.pk: path.stem for document, path in zip(received, new, strict=True)}
        n_reviewed += review(project, reviewer, {pk: truths[name] for pk, name in names.items()}, spec)
        yield _trained(document_type, n_reviewed, asked, spec, seed)


def _script(pages: Sequence[tuple[Path, Truth]]) -> None:
    """Let the scripted engine find on each picture what the OCR engine found on it."""
    answers = {}
    for path, truth in pages:
        (opened,) = open_pages(path, file_limits())
        words = [[word.text, *word.bbox, word.score] for word in truth.reading.words]
        answers[content_hash(opened.image)] = {"words": words}
    script = Path(settings.DATA_DIR) / "answers.json"
    script.write_text(json.dumps({"default": {"words": []}, "pages": answers}), encoding="utf-8")
    os.environ[ANSWERS_VARIABLE] = str(script)
    settings.STET_ENGINE = "scripted"
    registry.forget_engines()


def review(project: Project, reviewer: Actor, truths: Mapping[int, Truth], spec: DocumentTypeSpec) -> int:
    """Take tasks until none is left and answer every field by what is printed; return how many documents."""
    n_reviewed = 0
    while lease := lease_next_task(actor=reviewer, project=project):
        printed = truths[lease.task.document_id].values
        verdicts = [_verdict(field, printed.get(field.path)) for field in spec.fields]
        submit_task(actor=reviewer, task=lease.task, lease_token=lease.token, verdicts=verdicts)
        n_reviewed += 1
    left = Document.objects.filter(pk__in=truths, duplicate_of=None).values_list("status", "reasons")
    assert n_reviewed == len(left), (
        f"of {len(left)} pages {n_reviewed} were given to the reviewer: {set(map(str, left))}"
    )
    return n_reviewed


def _verdict(spec: FieldSpec, printed: str | None) -> FieldVerdict:
    if not printed:
        return FieldVerdict(spec.path, "spurious")
    if spec.value_type not in TYPED:
        return FieldVerdict(spec.path, "corrected", printed)
    value = normalise(printed, spec.value_type, spec.locale).value
    return FieldVerdict(spec.path, "illegible") if value is None else FieldVerdict(spec.path, "corrected", value)


def _trained(
    document_type: DocumentType, n_reviewed: int, asked: Sequence[Truth], spec: DocumentTypeSpec, seed: int
) -> Step:
    run = request_training(
        actor=SYSTEM, project=document_type.project, document_type=document_type, kind=ModelKind.LOCATOR, seed=seed
    )
    cpu, wall = time.process_time(), time.perf_counter()
    train(run.pk)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    run = TrainingRun.objects.get(pk=run.pk)
    model = getattr(run, "trained_model", None)
    version = composed_with(model) if model is not None else None
    write(f"{n_reviewed} reviewed, trained in {cpu:.1f} CPU and {wall:.1f} wall seconds: {run.state} {run.error_code}")
    return Step(n_reviewed, found_fields(asked, spec, version), cpu, wall, run)


def found_fields(
    asked: Sequence[Truth], spec: DocumentTypeSpec, version: EngineVersion | None
) -> dict[str, FieldResult]:
    """Return how well a version finds the fields of what it has never seen; nothing learned where it is None."""
    return unknown_type.found_by(asked, spec, lambda reading: fields_of([reading], spec, version))


def _bare_rows(bare: Sequence[unknown_type.Taught]) -> list[tuple[object, ...]]:
    found = [(one.n_labels, path, result.exact_match) for one in bare for path, result in one.fields.items()]
    return [
        (n, path, exact.point or 0.0, f"{exact.lower or 0:.3f} to {exact.upper or 0:.3f}") for n, path, exact in found
    ]


def _report(steps: Sequence[Step], bare: Sequence[unknown_type.Taught]) -> int:
    rows: list[tuple[object, ...]] = []
    for step in steps:
        learned = step.run.metrics.get("fields", {}) if step.run is not None else {}
        for path, result in step.fields.items():
            exact, of = result.exact_match, learned.get(path, {})
            interval = f"{exact.lower or 0:.3f} to {exact.upper or 0:.3f}"
            labels = [of.get(name, "") for name in ("matched", "read_wrong", "no_candidate")]
            share = of.get("prior_share", 1.0)
            rows.append(
                (step.n_reviewed, path, exact.point or 0.0, interval, result.coverage_at_99.share, share, *labels)
            )
    header = ("reviewed", "field", "exact", "95 %", "cover at 99 %", "prior's share", "matched", "read wrong", "none")
    first, last = steps[0], steps[-1]
    budgets = [
        Budget(
            f"{path} exact after {last.n_reviewed}", last.fields[path].exact_match.point or 0.0, limit, is_floor=True
        )
        for path, limit in TARGETS.items()
    ]
    budgets.append(Budget("CPU seconds of the last training", last.cpu_seconds, SECONDS))
    budgets += [
        Budget(
            f"fields found after {step.n_reviewed}, against none reviewed",
            _mean(step) - _mean(first),
            0.0,
            is_floor=True,
        )
        for step in steps[1:2]
    ]
    worth = _mean(bare[-1]) - _mean(bare[0])
    budgets.append(Budget("a type without hints: fields found after the last labels, against none", worth, GAIN, True))
    write("== a type that Stet has never seen: names and kinds of fields, not one hint")
    write(table(("labels", "field", "exact", "95 %"), _bare_rows(bare)))
    figures: dict[str, Any] = {
        "bare_curve": {one.n_labels: _exact(one) for one in bare},
        "bare_cpu_seconds": {one.n_labels: round(one.cpu_seconds, 1) for one in bare},
        "n_test": {path: result.n for path, result in last.fields.items()},
        "curve": {step.n_reviewed: _exact(step) for step in steps},
        "cpu_seconds": {step.n_reviewed: round(step.cpu_seconds, 1) for step in steps[1:]},
        "wall_seconds": {step.n_reviewed: round(step.wall_seconds, 1) for step in steps[1:]},
    }
    return finish("learning", header, rows, budgets, figures)


def _exact(step: Step | unknown_type.Taught) -> dict[str, float]:
    return {path: round(result.exact_match.point or 0.0, 4) for path, result in step.fields.items()}


def _mean(step: Step | unknown_type.Taught) -> float:
    return sum(_exact(step).values()) / len(step.fields)
