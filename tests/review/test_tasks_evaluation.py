from pathlib import Path
from typing import Any

import pytest

from inference.errors import EngineUnavailableError, UnknownEngineError
from inference.imaging.hashing import content_hash
from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from inference.registry import engine_for, forget_engines
from review.accuracy.intervals import wilson
from review.actions.regression_sets import LabelledFile, import_regression_set
from review.management.sroie import read_sroie
from review.models import EvaluationRun, RawAnswer, Reading, RegressionSet
from review.selectors.access import SYSTEM
from review.selectors.evaluation import evaluations_of
from review.tasks_evaluation import ItemOutcome, evaluate_item, evaluate_set, results_of, spec_of_set
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.labelled import make_folder
from tests.review.vlm import VALUES, answering, read_with_vlm

pytestmark = pytest.mark.usefixtures("script")


@pytest.fixture
def regression_set(cast: Cast, script: Script, tmp_path: Path) -> RegressionSet:
    """Two documents on which the script reads the date and the total of TRUTH; the second one's total differs."""
    return make_set(cast, read_sroie(make_folder(tmp_path / "set")).files)


def make_set(cast: Cast, files: list[LabelledFile], name: str = "test") -> RegressionSet:
    return import_regression_set(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, name=name, files=files
    ).regression_set


def evaluate(regression_set: RegressionSet, **options: Any) -> dict[str, Any]:
    run = evaluate_set(actor=SYSTEM, regression_set=regression_set, engine_name="scripted", **options)
    results: dict[str, Any] = run.results
    assert EvaluationRun.objects.get(pk=run.pk).results == results
    return results


def test_each_field_is_compared_as_its_type_says(regression_set: RegressionSet) -> None:
    fields = evaluate(regression_set)["fields"]
    assert list(fields) == ["company", "date", "total"]
    assert fields["date"]["exact_match"]["point"] == 1.0
    half = wilson(1, 2)
    assert fields["total"]["exact_match"] == {"point": 0.5, "lower": half.lower, "upper": half.upper}
    assert {found["n"] for found in fields.values()} == {2}
    assert fields["company"]["cer"] > 0
    assert fields["total"]["missing_share"] == 0.0


def test_the_run_says_what_was_measured(regression_set: RegressionSet) -> None:
    results = evaluate(regression_set)
    assert results["n_documents"] == results["n_pages"] == 2
    assert results["set"] == {"name": "test", "number": 1, "digest": regression_set.digest, "n_items": 2}
    assert results["engine"]["name"] == "scripted"
    assert results["failed"] == {}
    assert results["wall_seconds"] > 0
    (run,) = evaluations_of(regression_set)
    assert run.engine_version.digest == results["engine"]["digest"]


def test_seconds_a_page_are_those_of_reading_and_of_finding(regression_set: RegressionSet) -> None:
    Reading.objects.all().delete()
    evaluate(regression_set)
    Reading.objects.update(cpu_seconds=2.0)
    for reading in Reading.objects.all():
        reading.payload["cpu_seconds"] = 2.0
        reading.save()
    results = evaluate(regression_set)
    assert results["reading_seconds_per_page"] == pytest.approx(2.0)
    assert results["seconds_per_page"] == pytest.approx(2.0 + results["location_seconds_per_page"])
    assert results["location_seconds_per_page"] > 0


def test_the_second_time_nothing_is_read(regression_set: RegressionSet) -> None:
    assert evaluate(regression_set)["n_cached_pages"] == 0
    assert Reading.objects.count() == 2
    assert evaluate(regression_set)["n_cached_pages"] == 2
    assert Reading.objects.count() == 2


def test_fresh_reads_again(regression_set: RegressionSet) -> None:
    evaluate(regression_set)
    assert evaluate(regression_set, is_fresh=True)["n_cached_pages"] == 0


def test_another_version_of_the_engine_reads_for_itself(regression_set: RegressionSet, script: Script) -> None:
    first = evaluate(regression_set)
    script(default={"words": [["Total 10.00", 0.1, 0.6, 0.8, 0.63, 0.99]]})
    second = evaluate(regression_set)
    assert second["n_cached_pages"] == 0
    assert second["engine"]["digest"] != first["engine"]["digest"]
    assert evaluations_of(regression_set).count() == 2


def test_a_limit_takes_the_first_by_name_and_is_told(regression_set: RegressionSet) -> None:
    told: list[tuple[int, int]] = []
    results = evaluate(regression_set, limit=1, tell=lambda *counts: told.append(counts))
    assert results["n_documents"] == 1
    assert results["fields"]["total"]["exact_match"]["point"] == 1.0
    assert told == [(1, 1)]


def key_of(name: str, folder: Path) -> str:
    path = folder / "img" / name
    return content_hash(next(open_pages(path, Limits())).image)


def test_a_page_that_fails_leaves_its_fields_missing(
    regression_set: RegressionSet, script: Script, tmp_path: Path
) -> None:
    script(pages={key_of("001.jpg", tmp_path / "set"): {"fault": "engine_failed"}})
    results = evaluate(regression_set)
    assert results["failed"] == {"001.jpg": "engine_failed"}
    assert results["n_documents"] == 2
    assert results["fields"]["date"]["n"] == 2
    assert results["fields"]["date"]["missing_share"] == 0.5
    assert results["fields"]["date"]["exact_match"]["point"] == 0.5


def test_an_engine_that_cannot_be_had_ends_the_evaluation(regression_set: RegressionSet, script: Script) -> None:
    script(default={"fault": "engine_unavailable"})
    with pytest.raises(EngineUnavailableError):
        evaluate(regression_set)
    assert not EvaluationRun.objects.exists()


def test_an_unknown_engine_is_refused(regression_set: RegressionSet) -> None:
    with pytest.raises(UnknownEngineError):
        evaluate_set(actor=SYSTEM, regression_set=regression_set, engine_name="crystal ball")


def test_all_pages_of_a_document_are_read(cast: Cast, tmp_path: Path) -> None:
    path = tmp_path / "two.tif"
    path.write_bytes(picture(kind="TIFF", n_pages=2))
    found = make_set(cast, [LabelledFile("two.tif", path, {"/total": "9.00"})], "pages")
    results = evaluate(found)
    assert (results["n_documents"], results["n_pages"]) == (1, 2)


def test_a_field_without_a_truth_is_no_part_and_one_that_is_not_printed_is(
    cast: Cast, script: Script, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "some", {"001": {"total": "9.00", "date": None}, "002": {"total": "9.00"}})
    fields = evaluate(make_set(cast, read_sroie(folder).files, "some"))["fields"]
    assert list(fields) == ["date", "total"]
    assert fields["date"]["n"] == 1
    assert fields["date"]["exact_match"]["point"] == 0.0
    assert fields["date"]["missing_share"] is None
    script(default={"words": []})
    assert evaluate(RegressionSet.objects.get(name="some"))["fields"]["date"]["exact_match"]["point"] == 1.0


def test_one_item_can_be_evaluated_alone(regression_set: RegressionSet) -> None:
    item = regression_set.items.get(name="002.jpg")
    outcome = evaluate_item(item.pk, engine_name="scripted")
    assert (outcome.name, outcome.n_pages, outcome.n_cached, outcome.error_code) == ("002.jpg", 1, 0, "")
    assert outcome.cases["/total"].truth == "10.00"
    assert outcome.cases["/total"].prediction == "9.00"
    assert outcome.cases["/total"].confidence is not None


def test_no_outcomes_make_empty_results(regression_set: RegressionSet) -> None:
    results = results_of([], spec_of_set(regression_set))
    assert results["fields"] == {}
    assert results["seconds_per_page"] is None


def test_failed_documents_count_no_pages(regression_set: RegressionSet) -> None:
    results = results_of([ItemOutcome(1, "a", error_code="damaged")], spec_of_set(regression_set))
    assert (results["n_documents"], results["n_pages"], results["failed"]) == (1, 0, {"a": "damaged"})


def test_the_engine_is_built_once(regression_set: RegressionSet) -> None:
    forget_engines()
    evaluate(regression_set)
    assert engine_for("scripted") is engine_for("scripted")


def evaluate_vlm(regression_set: RegressionSet, **options: Any) -> dict[str, Any]:
    version = read_with_vlm(regression_set.project)
    run = evaluate_set(actor=SYSTEM, regression_set=regression_set, engine_version=version, **options)
    results: dict[str, Any] = run.results
    assert run.engine_version == version
    return results


def test_a_language_model_is_measured_with_both_readers(regression_set: RegressionSet, script: Script) -> None:
    script(default=answering({**VALUES, "company": "no such company"}))
    fields = evaluate_vlm(regression_set)["fields"]
    assert fields["date"]["exact_match"]["point"] == 1.0
    assert fields["company"]["exact_match"]["point"] == 0.0
    assert (Reading.objects.count(), RawAnswer.objects.count()) == (4, 2)


def test_what_it_answered_is_not_asked_again(regression_set: RegressionSet, script: Script) -> None:
    script(default=answering())
    first = evaluate_vlm(regression_set)
    again = evaluate_vlm(regression_set)
    assert (first["n_cached_pages"], again["n_cached_pages"]) == (0, 2)
    assert again["fields"] == first["fields"]
    assert RawAnswer.objects.count() == 2


def test_an_answer_that_cannot_be_used_leaves_every_field_missing_and_is_kept(
    regression_set: RegressionSet, script: Script
) -> None:
    script(default=answering(fault="answer_repeats"))
    results = evaluate_vlm(regression_set)
    assert set(results["failed"].values()) == {"answer_repeats"}
    assert results["fields"]["total"]["missing_share"] == 1.0
    assert set(RawAnswer.objects.values_list("error_code", flat=True)) == {"answer_repeats"}
