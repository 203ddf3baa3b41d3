"""What was learned leads somewhere: managers are told, see what the gate would say, and roll it out in one act."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.actions._compositions import ensure_composed_version
from review.models import EngineVersion, ModelKind, RegressionSet, Rollout, RolloutStage, TrainedModel, TrainingRun
from tests import factories
from tests.conftest import Cast
from tests.review.queueing import queued
from tests.review.rollout_room import rolled_out

pytestmark = pytest.mark.django_db

TOLD = "Nothing reads with it before you roll it out."
METRICS: dict[str, dict[str, Any]] = {
    ModelKind.LOCATOR: {"fields": {"/total": {"n_documents": 300, "found_before": 0.85, "found_after": 0.93}}},
    ModelKind.CALIBRATOR: {
        "n_labels": 120,
        "fields": {"/total": {"n_labels": 120, "method": "isotonic", "before": {}, "after": {}}},
    },
}


def learned(cast: Cast, kind: ModelKind = ModelKind.LOCATOR, **changes: Any) -> tuple[TrainingRun, EngineVersion]:
    """A training that began by itself and came to something, on what reads now."""
    base = factories.make_engine_version()
    values: dict[str, Any] = {"state": "done", "metrics": METRICS[kind]}
    values |= {"base": base, "finished_at": timezone.now(), "n_steps": 1, "n_done": 1}
    run = TrainingRun.objects.create(
        project=cast.project, document_type=cast.document_type, kind=kind, **(values | changes)
    )
    model = TrainedModel.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        kind=kind,
        payload=b"{}",
        sha256=f"{run.pk:064}",
        training_run=run,
    )
    return run, ensure_composed_version(base, **{kind.value: model})


def page(client: Client, cast: Cast, name: str = "learning") -> str:
    return client.get(reverse(name, args=[cast.project.slug])).content.decode()


def start(client: Client, cast: Cast, version: EngineVersion) -> str:
    """Send the form of the page as it stands there."""
    address = reverse("start_rollout", args=[cast.project.slug, cast.document_type.slug])
    html = page(client, cast)
    assert f'action="{address}"' in html
    assert f'<input type="hidden" name="engine_version" value="{version.pk}">' in html
    form = {"engine_version": version.pk, "shadow_share": "20", "disagreement_share": "2", "canary_share": "5"}
    for name, value in form.items():
        assert f'name="{name}" value="{value}"' in html
    return client.post(address, form, follow=True).content.decode()


def test_a_finished_training_is_rolled_out_in_one_act_and_goes_no_further_by_itself(
    manager: Client, cast: Cast
) -> None:
    factories.make_routed(cast.document_type)
    _run, version = learned(cast)
    html = page(manager, cast)
    assert "The gate would stop it after the shadow: There is no regression set for this type." in html
    assert "Roll out in shadow: locator of “receipt”" in html
    assert "reads in the shadow of who reads now" in start(manager, cast, version)
    rollout = Rollout.objects.get()
    assert (rollout.engine_version, rollout.stage, rollout.started_by) == (version, RolloutStage.SHADOW, cast.manager)
    assert (rollout.shadow_share, rollout.disagreement_share, rollout.canary_share) == (0.2, 0.02, 0.05)
    assert [name for name, _ in queued()] == ["compare_rollout"]
    html = page(manager, cast)
    assert "It is on its way, in the stage “shadow”." in html
    assert "Roll out in shadow" not in html


def test_what_reads_what_waits_and_what_is_out_of_date_is_not_offered(manager: Client, cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    _run, version = learned(cast)
    live = rolled_out(cast, version, RolloutStage.LIVE)
    assert "It reads the documents of this type now." in page(manager, cast)
    # Learned on the evidence that read before the locator did.
    learned(cast, ModelKind.CALIBRATOR)
    html = page(manager, cast)
    assert "It was learned on a version that does not read any more." in html
    assert "Roll out in shadow" not in html
    live.delete()
    rolled_out(cast, version, RolloutStage.CANARY)
    html = page(manager, cast)
    assert "It is on its way, in the stage “canary”." in html
    assert "Another version is on its way for this type; this one can be rolled out after it." in html


def test_what_was_rolled_back_says_so_and_may_be_tried_again(manager: Client, cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    _run, version = learned(cast)
    Rollout.objects.filter(pk=rolled_out(cast, version, RolloutStage.RETIRED).pk).update(ended_because="it was worse")
    html = page(manager, cast)
    assert "It was tried before" in html
    assert "it was worse" in html
    assert "Roll out in shadow" in html


def test_managers_are_told_on_every_page_until_it_is_rolled_out_and_for_a_week(
    manager: Client, reviewer: Client, cast: Cast
) -> None:
    factories.make_routed(cast.document_type)
    assert TOLD not in page(manager, cast, "documents")
    run, version = learned(cast)
    html = page(manager, cast, "documents")
    assert "A new locator was learned for “receipt” at" in html
    assert TOLD in html
    assert reverse("learning", args=[cast.project.slug]) in html
    assert TOLD not in page(manager, cast), "the page that shows it need not point to itself"
    assert TOLD not in page(reviewer, cast, "documents")
    TrainingRun.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=8))
    assert TOLD not in page(manager, cast, "documents")
    TrainingRun.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    rolled_out(cast, version)
    assert TOLD not in page(manager, cast, "documents")


@pytest.mark.parametrize("changes", [{"requested_by": True}, {"state": "failed"}])
def test_what_somebody_asked_for_and_what_came_to_nothing_is_told_nobody(
    manager: Client, cast: Cast, changes: dict[str, Any]
) -> None:
    learned(cast, ModelKind.LOCATOR, **{name: cast.manager if one is True else one for name, one in changes.items()})
    assert TOLD not in page(manager, cast, "documents")


def test_only_the_newest_is_told(manager: Client, cast: Cast) -> None:
    learned(cast)
    learned(cast)
    assert page(manager, cast, "documents").count(TOLD) == 1
    # The newer one was asked for: the older one is of no use any more.
    learned(cast, requested_by=cast.manager)
    assert TOLD not in page(manager, cast, "documents")


def test_it_is_said_in_chinese(manager: Client, cast: Cast, chinese: None) -> None:
    factories.make_routed(cast.document_type)
    learned(cast)
    manager.cookies["django_language"] = "zh-hans"
    assert "学到了新的定位模型" in page(manager, cast, "documents")
    assert "在影子阶段上线" in page(manager, cast)


def test_the_page_stays_below_fifteen_queries(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    factories.make_routed(cast.document_type)
    for kind in (ModelKind.LOCATOR, ModelKind.CALIBRATOR):
        learned(cast, kind)
    page(manager, cast)
    with django_assert_num_queries(12):
        page(manager, cast)
    # The set that both are judged by is older than they are: what is in it has not taught them.
    kept = RegressionSet.objects.create(project=cast.project, document_type=cast.document_type, name="set")
    RegressionSet.objects.filter(pk=kept.pk).update(created_at=timezone.now() - timedelta(days=1))
    with django_assert_num_queries(13):
        page(manager, cast)
