"""manage.py train says what was learned of which labels, and why where nothing was."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from review.models import EngineVersion, TrainedModel, TrainingRun
from tests import factories
from tests.conftest import Cast
from tests.review.calibration_room import overconfident
from tests.review.queueing import queued
from tests.review.taught import candidate, teach

pytestmark = pytest.mark.django_db(transaction=True)


def train(**options: Any) -> str:
    out = io.StringIO()
    call_command("train", project="receipts", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def base(cast: Cast) -> EngineVersion:
    version = factories.make_engine_version("rapidocr")
    for number in range(25):
        teach(cast.document_type, cast.reviewer, number, base=version)
    misread = {"/total": [candidate("1284.50", 1)]}
    teach(cast.document_type, cast.reviewer, 50, base=version, value="1234.50", stored=misread)
    return version


def test_it_says_what_was_learned_and_which_version_reads_with_it(base: EngineVersion) -> None:
    said = train(type="receipt")
    composed = EngineVersion.objects.get(base=base)
    assert "26 documents; left out: none" in said
    assert "/total" in said
    assert "26 labels" in said
    assert "read wrong 1, no candidate 0" in said
    assert "the prior keeps it (few_labels)" in said
    assert f"engine version {composed.pk} ({composed})" in said


def test_it_fails_where_nothing_was_learned_and_still_says_why(cast: Cast) -> None:
    teach(cast.document_type, cast.reviewer, 1)
    out = io.StringIO()
    with pytest.raises(CommandError, match="nothing_learned"):
        call_command("train", project="receipts", type="receipt", stdout=out)
    assert "few_labels" in out.getvalue()


def test_of_a_calibrator_it_says_what_confidence_is_worth_now(cast: Cast) -> None:
    overconfident(cast.document_type, 400)
    said = train(type="receipt", kind="calibrator")
    figures = TrainingRun.objects.get().metrics["fields"]["/total"]
    n_own, losses = figures["n_labels"], [figures[when]["log_loss"] for when in ("before", "after")]
    assert losses[0] > losses[1]
    assert f"{n_own} labels; left out: for_certificates {400 - n_own}\n" in said
    assert (
        f"{n_own} labels, {figures['method']}: log-loss of what was left out {losses[0]:.3f} -> {losses[1]:.3f}" in said
    )
    assert f"engine version {EngineVersion.objects.get(calibrator__isnull=False).pk} (" in said


def test_it_may_be_left_to_a_worker_and_cancelled(base: EngineVersion) -> None:
    assert "left to a worker" in train(type="receipt", queue=True)
    run = TrainingRun.objects.get()
    assert queued() == [("train", run.pk)]
    with pytest.raises(CommandError, match="under way"):
        train(type="receipt")
    assert "is cancelled" in train(type="receipt", cancel=True)
    with pytest.raises(CommandError, match="No such training"):
        train(type="receipt", cancel=True)
    assert not TrainedModel.objects.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "give it with --type"),
        ({"type": "nothing"}, "no document type 'nothing'"),
        ({"type": "receipt", "kind": "classifier"}, "leave --type out"),
        ({"type": "receipt", "seed": -1}, "0 or more"),
        ({"kind": "classifier"}, "too_few_types"),
        ({"type": "receipt"}, "nothing to learn from"),
    ],
)
def test_it_says_what_is_wrong(cast: Cast, options: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        train(**options)
