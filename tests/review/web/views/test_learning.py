"""The learning page: the answer first, what changed field by field, trainings with progress, started and cancelled."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.actions._compositions import ensure_composed_version
from review.models import ModelKind, TrainingRun
from tests import factories
from tests.conftest import Cast
from tests.review.trainings import CALIBRATED, scores, trained

pytestmark = pytest.mark.django_db


def bucket(name: str, promised: float, right: float, n: int) -> dict[str, Any]:
    accuracy = {
        "point": right,
        "lower": right - 0.1,
        "upper": right + 0.05,
        "level": 0.95,
        "estimator": "hajek",
        "n": n,
    }
    return {"bucket": name, "mean_confidence": promised, "accuracy": accuracy}


LOCATED = {
    "fields": {
        "/total": {"n_documents": 300, "found_before": 0.85, "found_after": 0.93},
        "/date": {"n_documents": 300, "found_before": 0.9, "found_after": 0.9, "why_not": "no_gain"},
    }
}


def address(cast: Cast) -> str:
    return reverse("learning", args=[cast.project.slug])


def page(client: Client, cast: Cast) -> str:
    return client.get(address(cast)).content.decode()


def start(client: Client, cast: Cast, **form: str) -> str:
    path = reverse("start_training", args=[cast.project.slug])
    return client.post(path, {"kind": "calibrator", "type": "receipt", **form}, follow=True).content.decode()


def test_nothing_learned_says_what_it_takes(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "Nothing is learned yet" in html
    assert "No training yet" in html


def test_the_first_line_says_what_the_newest_learned_from_how_much(manager: Client, cast: Cast) -> None:
    trained(cast, ModelKind.LOCATOR, LOCATED)
    html = page(manager, cast)
    assert "learned from <strong>300</strong> examples and does better on <strong>1</strong> of 2 fields." in html
    assert "found rightly 85.0 % → 93.0 %" in html
    assert "nothing: nothing was gained by it" in html
    assert html.index('class="answer"') < html.index("<table")


def test_a_calibrator_shows_its_figures_before_and_after_and_the_version_that_it_made(
    manager: Client, cast: Cast
) -> None:
    run = trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    html = page(manager, cast)
    for text in (
        "log-loss 0.8 → 0.4",
        "Brier score 0.4 → 0.2",
        "calibration error 20.0 % → 10.0 %",
        "storable at 99 percent precision 20.0 % → 60.0 %",
        "isotonic",
    ):
        assert text in html
    version = ensure_composed_version(factories.make_engine_version(), calibrator=run.trained_model)
    assert str(version) in html


def test_what_a_calibrator_promises_and_keeps_is_drawn_beside_its_table(manager: Client, cast: Cast) -> None:
    before = {**scores(0.8), "reliability": [bucket("0.90-0.95", 0.92, 0.7, 60)]}
    after = {**scores(0.4), "reliability": [bucket("0.60-0.70", 0.68, 0.71, 41)]}
    drawn = {"n_labels": 120, "method": "isotonic", "before": before, "after": after}
    as_it_was = {**drawn, "method": "identity"}
    trained(cast, ModelKind.CALIBRATOR, {"n_labels": 120, "fields": {"/total": drawn, "/date": as_it_was}})
    html = page(manager, cast)
    assert html.count('data-chart="reliability"') == 1
    values = json.loads(unescape(re.search(r'data-values="([^"]*)"', html)[1]))  # type: ignore[index]
    assert values["points"] == [[0.68, 0.71, pytest.approx(0.61), pytest.approx(0.76), 41]]
    assert values["before"] == [[0.92, 0.7, pytest.approx(0.6), pytest.approx(0.75), 60]]
    assert '<th scope="row">after</th>' in html
    assert '<td class="number">68.0 %</td><td class="number">71.0 %</td>' in html
    assert '<td class="number">41</td>' in html


def test_a_classifier_says_how_often_it_is_right(manager: Client, cast: Cast) -> None:
    trained(cast, ModelKind.CLASSIFIER, {"n_documents": 80, "right": 0.975})
    assert "is right on 97.5 % of what it had not seen" in page(manager, cast)


def test_only_the_newest_of_a_kind_is_shown_as_learned(manager: Client, cast: Cast) -> None:
    trained(cast, ModelKind.CALIBRATOR, CALIBRATED | {"n_labels": 55})
    trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    assert page(manager, cast).count('scope="rowgroup"') == 1


def test_a_version_without_a_calibrator_is_said_to_be_uncalibrated(manager: Client, cast: Cast) -> None:
    assert "is not calibrated" not in page(manager, cast)
    factories.make_routed(cast.document_type)
    assert "whose confidence is not calibrated: it is the reader’s own word" in page(manager, cast)


def test_the_type_that_is_read_is_chosen_already(manager: Client, cast: Cast) -> None:
    factories.make_document_type(cast.project, "invoice")
    assert '<option value="invoice">' in page(manager, cast)
    factories.make_routed(cast.document_type)
    assert '<option value="receipt" selected>' in page(manager, cast)
    assert '<option value="invoice">' in page(manager, cast)


def test_a_training_is_started_shown_with_progress_and_cancelled(manager: Client, cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    assert "The training is in the queue" in start(manager, cast)
    run = TrainingRun.objects.get()
    assert (run.kind, run.requested_by, run.base) == ("calibrator", cast.manager, factories.make_engine_version())
    assert "under way already" in start(manager, cast)
    TrainingRun.objects.update(state="running", n_steps=5, n_done=2)
    assert '<progress max="5" value="2"' in page(manager, cast)
    cancel = reverse("cancel_training", args=[cast.project.slug, run.pk])
    assert "cancelled" in manager.post(cancel, follow=True).content.decode()
    run.refresh_from_db()
    assert run.state == "cancelled"
    TrainingRun.objects.update(state="failed")
    assert "cannot be cancelled" in manager.post(cancel, follow=True).content.decode()


def test_what_came_to_nothing_says_why(manager: Client, cast: Cast) -> None:
    TrainingRun.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        kind="calibrator",
        state="failed",
        error_code="few_labels",
    )
    assert "failed: too few examined values; review more and start again" in page(manager, cast)


def test_what_cannot_be_trained_is_refused(manager: Client, cast: Cast) -> None:
    assert "there is nothing to learn from" in start(manager, cast)
    path = reverse("start_training", args=[cast.project.slug])
    assert manager.post(path, {"kind": "oracle", "type": "receipt"}).status_code == 404
    assert manager.post(path, {"kind": "locator", "type": "nothing"}).status_code == 404
    other = TrainingRun.objects.create(
        project=cast.other_project, document_type=cast.other_document_type, kind="calibrator"
    )
    assert manager.post(reverse("cancel_training", args=[cast.project.slug, other.pk])).status_code == 404


def test_the_figures_come_as_a_file(manager: Client, cast: Cast) -> None:
    trained(cast, ModelKind.LOCATOR, LOCATED)
    text = manager.get(address(cast) + "?format=csv").content.decode("utf-8-sig")
    rows = [line.split(",") for line in text.splitlines()]
    assert rows[0] == ["type", "kind", "field", "figure", "before", "after", "learned_from"]
    assert ["receipt", "locator", "/total", "found", "0.85", "0.93", "300"] in rows


def test_the_page_is_chinese_for_whoever_reads_chinese(manager: Client, cast: Cast, chinese: None) -> None:
    trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    manager.cookies["django_language"] = "zh-hans"
    html = page(manager, cast)
    assert "个样本学习" in html
    assert "保序回归" in html


def test_the_page_costs_the_same_queries_for_more_trainings(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    trained(cast, ModelKind.LOCATOR, LOCATED)
    page(manager, cast)
    with CaptureQueriesContext(connection) as few:
        page(manager, cast)
    n_queries = len(few)
    assert n_queries == 12
    for _ in range(3):
        trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    with django_assert_num_queries(n_queries):
        page(manager, cast)
