"""The live version of a type reads it, else the project's engine; what stands in for a live one is told."""

import pytest

from review.actions._compositions import ensure_composed_version
from review.models import Document, EngineVersion, ExtractionRun, Rollout, RolloutStage
from review.selectors.rollouts import stand_in_of, version_for, versions_reading
from tests import factories
from tests.conftest import Cast
from tests.review.trained import make_locator
from tests.review.vlm import read_with_vlm

pytestmark = pytest.mark.django_db


@pytest.fixture
def composed(cast: Cast) -> EngineVersion:
    locator = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    return ensure_composed_version(factories.make_engine_version("rapidocr"), locator)


def rolled_out(cast: Cast, version: EngineVersion, stage: RolloutStage = RolloutStage.LIVE) -> Rollout:
    return Rollout.objects.create(document_type=cast.document_type, engine_version=version, stage=stage, salt="s")


def run_of(cast: Cast, version: EngineVersion) -> ExtractionRun:
    assert cast.document_type.active_version is not None
    return ExtractionRun.objects.create(
        document=factories.make_document(cast.document_type),
        engine_version=version,
        schema_version=cast.document_type.active_version,
    )


def fresh(cast: Cast) -> Document:
    return Document.objects.get(pk=factories.make_document(cast.document_type).pk)


def test_without_a_live_version_the_projects_engine_reads(cast: Cast, composed: EngineVersion) -> None:
    assert version_for(fresh(cast)) is None
    for stage in (RolloutStage.SHADOW, RolloutStage.RETIRED):
        rolled_out(cast, composed, stage)
    assert version_for(fresh(cast)) is None
    assert version_for(fresh(cast)) != composed
    declared = read_with_vlm(cast.project)
    assert version_for(fresh(cast)) == declared


def test_the_live_version_of_the_type_comes_first(cast: Cast, composed: EngineVersion) -> None:
    read_with_vlm(cast.project)
    rolled_out(cast, composed)
    assert version_for(fresh(cast)) == composed
    other = factories.make_document_type(cast.project, "invoice")
    assert version_for(factories.make_document(other)) == cast.project.engine_version


def test_a_project_may_be_read_by_several_versions(cast: Cast, composed: EngineVersion) -> None:
    declared = read_with_vlm(cast.project)
    other = factories.make_document_type(cast.project, "invoice")
    assert versions_reading(cast.project) == [declared]
    rolled_out(cast, composed)
    assert versions_reading(cast.project) == sorted([composed, declared], key=lambda version: version.pk)
    assert versions_reading(cast.project, cast.document_type) == [composed]
    assert versions_reading(cast.project, other) == [declared]
    assert versions_reading(cast.other_project) == [None]


def test_what_reads_in_place_of_the_live_version_is_told(cast: Cast, composed: EngineVersion) -> None:
    before = factories.make_engine_version("before")
    installed = factories.make_engine_version("installed")
    run_of(cast, before)
    assert stand_in_of(cast.document_type) is None
    rolled_out(cast, composed)
    assert stand_in_of(cast.document_type) is None
    run_of(cast, composed)
    assert stand_in_of(cast.document_type) is None
    run_of(cast, installed)
    assert stand_in_of(cast.document_type) == installed
    run_of(cast, composed)
    assert stand_in_of(cast.document_type) is None


def test_a_challenger_is_no_stand_in(cast: Cast, composed: EngineVersion) -> None:
    challenger = factories.make_engine_version("challenger")
    rolled_out(cast, composed)
    rolled_out(cast, challenger, RolloutStage.CANARY)
    run_of(cast, challenger)
    assert stand_in_of(cast.document_type) is None
