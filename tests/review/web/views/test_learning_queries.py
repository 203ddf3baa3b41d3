"""What was learned of many types is shown at the price of one: the number of queries is that of the kinds of facts."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.actions._compositions import ensure_composed_version
from review.models import (
    Document,
    DocumentType,
    EngineVersion,
    ModelKind,
    RegressionSet,
    Rollout,
    RolloutStage,
    TrainedModel,
    TrainingRun,
)
from tests import factories
from tests.conftest import Cast
from tests.review.trained import make_calibrator, make_locator

pytestmark = pytest.mark.django_db

TAUGHT = "1 documents of the regression set may have taught this version."


def live_version(document_type: DocumentType) -> EngineVersion:
    """A locator with a calibrator on top of it reads the type; return what the calibrator was learned on."""
    base = factories.make_engine_version()
    locator = make_locator(document_type, {"/total": {"top": float(document_type.pk)}})
    located = ensure_composed_version(base, locator)
    calibrator = make_calibrator(document_type, located.digest, {"/total": 1 / (1 + document_type.pk)})
    # Asked for long ago, and not the newest any more.
    calibrator.training_run = TrainingRun.objects.create(
        project=document_type.project, document_type=document_type, kind=ModelKind.CALIBRATOR, base=located
    )
    calibrator.save()
    version = ensure_composed_version(base, locator, calibrator)
    Rollout.objects.create(document_type=document_type, engine_version=version, stage=RolloutStage.LIVE, salt="s")
    return located


def learned(cast: Cast, document_type: DocumentType, kind: ModelKind, base: EngineVersion) -> None:
    run = TrainingRun.objects.create(
        project=cast.project,
        document_type=document_type,
        kind=kind,
        base=base,
        state="done",
        requested_by=cast.manager,
        metrics={"n_labels": 120, "fields": {}},
        finished_at=timezone.now(),
    )
    model = TrainedModel.objects.create(
        project=cast.project,
        document_type=document_type,
        kind=kind,
        payload=b"{}",
        sha256=f"{run.pk:064}",
        training_run=run,
    )
    ensure_composed_version(base.base or base, **{"locator": base.locator, kind.value: model})


def with_all(cast: Cast, slug: str, *, is_live: bool) -> None:
    """A type of which a locator and a calibrator were learned; a document of it was held out only after that."""
    document_type = factories.make_document_type(cast.project, slug)
    document = factories.make_routed(document_type)
    Document.objects.filter(pk=document.pk).update(received_at=timezone.now() - timedelta(days=1))
    base = factories.make_engine_version()
    learned(cast, document_type, ModelKind.LOCATOR, base)
    learned(cast, document_type, ModelKind.CALIBRATOR, live_version(document_type) if is_live else base)
    kept = RegressionSet.objects.create(project=cast.project, document_type=document_type, name=slug)
    kept.items.create(name="a", sha256=document.sha256, truth={})


def test_more_types_and_offers_cost_the_learning_page_no_query(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    address = reverse("learning", args=[cast.project.slug])
    for slug, is_live in (("a", False), ("b", True)):
        with_all(cast, slug, is_live=is_live)
    manager.get(address)
    with django_assert_num_queries(14):
        html = manager.get(address).content.decode()
    assert html.count(TAUGHT) == 4
    for slug, is_live in (("c", False), ("d", True)):
        with_all(cast, slug, is_live=is_live)
    with django_assert_num_queries(14):
        html = manager.get(address).content.decode()
    assert html.count(TAUGHT) == 8


def test_more_types_cost_the_accuracy_page_no_query(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    address = reverse("accuracy", args=[cast.project.slug])
    for slug, is_live in (("a", False), ("b", True)):
        with_all(cast, slug, is_live=is_live)
    manager.get(address)
    with django_assert_num_queries(13):
        assert manager.get(address).content.decode().count("whose confidence is") == 2
    for slug, is_live in (("c", False), ("d", True)):
        with_all(cast, slug, is_live=is_live)
    with django_assert_num_queries(13):
        assert manager.get(address).content.decode().count("whose confidence is") == 4
