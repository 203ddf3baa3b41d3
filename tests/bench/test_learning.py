"""The benchmark of learning reviews by the product's own actions, and asks about what was never reviewed."""

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from inference.engines.scripted import ANSWERS_VARIABLE
from inference.registry import forget_engines
from inference.types import BBox, PageReading, Word
from review.models import FieldReview, Record, TrainingRun
from tests.bench import stored_readings, unknown_type, worlds
from tests.bench.learning import Step, _readings, _report, measure_learning
from tests.bench.planting import Truth

PRINTED = {"/company": "BOOK TA K (TAMAN DAYA) SDN BHD", "/date": "25/12/2018", "/total": "9.00"}


def truth(name: str) -> Truth:
    height = 1 / (len(worlds.LINES) + 2)
    words = [
        Word(text, BBox(0.1, (n + 1) * height, min(0.1 + 0.018 * len(text), 1.0), (n + 1.7) * height), 0.97)
        for n, text in enumerate(worlds.LINES)
    ]
    return Truth(name, PageReading(600, 1200, tuple(words), 0.0), PRINTED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part in ("img", "key"):
        (tmp_path / "train" / part).mkdir(parents=True)
    for number in range(3):
        (tmp_path / "train" / "img" / f"{number}.jpg").write_bytes(worlds.receipt_image(number))
    return tmp_path / "train"


@pytest.fixture
def steps(folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    settings.STET_NEAR_DUPLICATE_PAGES = 0
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    monkeypatch.setenv(ANSWERS_VARIABLE, "")
    found = list(measure_learning(folder, [truth(str(number)) for number in range(3)], [truth("test")], [2, 3], 0))
    forget_engines()
    return found


@pytest.mark.django_db(transaction=True)
def test_every_field_is_reviewed_by_what_is_printed(steps: list[Step]) -> None:
    records = Record.objects.filter(is_current=True, reviewer__isnull=False)
    assert records.count() == 3
    for record in records:
        assert record.values["/total"] == "9.00"
        assert record.values["/date"] == "2018-12-25"
        # Nothing is printed of it in the truth: the reviewer says so.
        assert record.values["/address"] is None
    assert FieldReview.objects.count() == 12


@pytest.mark.django_db(transaction=True)
def test_after_each_step_a_training_is_done_and_what_nobody_reviewed_is_asked(steps: list[Step]) -> None:
    assert [step.n_reviewed for step in steps] == [0, 2, 3]
    assert {path: result.n for path, result in steps[-1].fields.items()} == {
        "/company": 1,
        "/date": 1,
        "/address": 0,
        "/total": 1,
    }
    assert steps[0].fields["/total"].exact_match.point == 1.0
    assert list(TrainingRun.objects.order_by("pk").values_list("error_code", flat=True)) == ["nothing_learned"] * 2


@pytest.mark.django_db(transaction=True)
def test_the_report_has_a_row_a_field_and_step_and_misses_what_it_misses(
    steps: list[Step], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [truth("test")]
    known = list(unknown_type.curve([truth(str(n)) for n in range(3)], asked, [2], unknown_type.bare_spec(), 0))
    assert _report(steps, known) == 1
    said = capsys.readouterr().out
    figures = json.loads(said.splitlines()[-1])
    assert set(figures["curve"]) == {"0", "2", "3"}
    assert set(figures["bare_curve"]) == {"0", "2"}
    assert "missed /address exact after 3" in said
    assert "missed a type without hints" in said
    assert "met    /total exact after 3" in said


def test_readings_are_read_once(folder: Path, tmp_path: Path) -> None:
    stored_readings.store([truth("0")], tmp_path / "train.json.gz")
    (kept,) = _readings(folder, tmp_path)
    assert (kept.name, kept.values) == ("0", PRINTED)
    assert [word.text for word in kept.reading.words] == worlds.LINES


def test_a_type_without_hints_learns_from_labels() -> None:
    spec = unknown_type.bare_spec()
    assert [field.path for field in spec.fields] == ["/company", "/date", "/address", "/total"]
    assert not any((*field.keywords, *field.keywords_against, *field.keywords_inside) for field in spec.fields)
    assert all(field.pattern is None for field in spec.fields)
    truths = stored_readings.load()
    nothing, taught = unknown_type.curve(truths[:40], truths[40:60], [40], spec, 0)
    before, after = (sum(result.exact_match.point or 0 for result in one.fields.values()) for one in (nothing, taught))
    assert after > before
