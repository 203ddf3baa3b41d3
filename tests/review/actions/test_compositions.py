"""A base and what was learned on top make one engine version, once, whoever asks."""

import pytest

from review.actions._compositions import ensure_composed_version
from review.models import EngineVersion
from review.selectors.engines import evidence_version
from tests import factories
from tests.conftest import Cast
from tests.review.trained import make_calibrator, make_locator

pytestmark = pytest.mark.django_db


@pytest.fixture
def base() -> EngineVersion:
    return factories.make_engine_version("rapidocr")


def test_the_same_parts_are_the_same_version(cast: Cast, base: EngineVersion) -> None:
    locator = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    composed = ensure_composed_version(base, locator)
    assert ensure_composed_version(base, locator) == composed
    assert (composed.name, composed.base, composed.locator, composed.calibrator) == ("rapidocr", base, locator, None)
    assert composed.spec == {"base": base.digest, "locator": locator.sha256, "calibrator": None}


def test_any_other_part_is_another_version(cast: Cast, base: EngineVersion) -> None:
    other = factories.make_engine_version("another")
    locators = [make_locator(cast.document_type, {"/total": {"top": weight}}) for weight in (1.0, 2.0)]
    calibrator = make_calibrator(cast.document_type, base.digest, {"/total": 0.5})
    made = [
        ensure_composed_version(base, locators[0]),
        ensure_composed_version(base, locators[1]),
        ensure_composed_version(other, locators[0]),
        ensure_composed_version(base, None, calibrator),
        ensure_composed_version(base, locators[0], calibrator),
    ]
    assert len({version.digest for version in made}) == len(made)


def test_nothing_on_top_is_the_base(base: EngineVersion) -> None:
    assert ensure_composed_version(base) == base
    assert EngineVersion.objects.count() == 1


def test_a_calibrated_version_comes_with_the_one_whose_evidence_it_is_bound_to(cast: Cast, base: EngineVersion) -> None:
    locator = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    calibrator = make_calibrator(cast.document_type, "x", {"/total": 0.5})
    both = ensure_composed_version(base, locator, calibrator)
    evidence = evidence_version(both)
    assert (evidence.base, evidence.locator, evidence.calibrator) == (base, locator, None)
    assert evidence_version(ensure_composed_version(base, None, calibrator)) == base
    assert evidence_version(evidence) == evidence
    assert evidence_version(base) == base


def test_a_composed_version_is_no_base_and_a_calibrator_no_locator(cast: Cast, base: EngineVersion) -> None:
    locator = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    calibrator = make_calibrator(cast.document_type, base.digest, {"/total": 0.5})
    composed = ensure_composed_version(base, locator)
    with pytest.raises(ValueError, match="no base"):
        ensure_composed_version(composed, locator)
    with pytest.raises(ValueError, match="calibrator is no locator"):
        ensure_composed_version(base, calibrator)
    with pytest.raises(ValueError, match="locator is no calibrator"):
        ensure_composed_version(base, None, locator)
    assert EngineVersion.objects.count() == 2
