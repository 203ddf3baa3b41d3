"""Engine versions are found by what a person types, and proven by their last self-test."""

import pytest

from review.actions._compositions import ensure_composed_version
from review.actions.engines import declare_engine_version
from review.exceptions import ConflictError, NotFoundError
from review.models import EngineVersion, SelfTest
from review.selectors.access import SYSTEM
from review.selectors.engines import (
    access_engine_version,
    base_id_of,
    base_of,
    declared_engine_versions,
    is_declared,
    is_proven,
    newest_self_test,
    vlm_spec_of,
)
from tests import factories
from tests.conftest import Cast
from tests.review.trained import make_locator
from tests.review.vlm import SPEC

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> EngineVersion:
    return declare_engine_version(actor=SYSTEM, spec=SPEC)


def test_a_version_is_found_by_id_and_by_the_beginning_of_its_digest(version: EngineVersion) -> None:
    assert access_engine_version(str(version.pk)) == version
    assert access_engine_version(version.digest[:8]) == version
    assert access_engine_version(version.digest.upper()) == version


@pytest.mark.parametrize("reference", ["", "0", "abcdef0", "9" * 30, "no such version", "-1"])
def test_what_is_none_is_not_found(version: EngineVersion, reference: str) -> None:
    with pytest.raises(NotFoundError):
        access_engine_version(reference)


def test_seven_letters_are_too_few(version: EngineVersion) -> None:
    with pytest.raises(NotFoundError):
        access_engine_version(version.digest[:7])


def test_an_ambiguous_beginning_is_refused() -> None:
    for end in "ab":
        EngineVersion.objects.create(name="x", spec={}, digest="c" * 20 + end * 44)
    with pytest.raises(ConflictError):
        access_engine_version("c" * 12)
    assert access_engine_version("c" * 20 + "a").digest.endswith("a")


def test_digits_of_a_digest_that_are_no_id_are_a_beginning() -> None:
    made = EngineVersion.objects.create(name="x", spec={}, digest="12345678" + "f" * 56)
    assert access_engine_version("12345678") == made


def test_only_language_models_are_declared(version: EngineVersion) -> None:
    ocr = factories.make_engine_version("rapidocr")
    assert list(declared_engine_versions()) == [version]
    assert (is_declared(version), is_declared(ocr)) == (True, False)
    assert (vlm_spec_of(version), vlm_spec_of(ocr)) == (SPEC, None)


def test_an_ocr_engine_needs_no_proof(version: EngineVersion) -> None:
    assert is_proven(factories.make_engine_version("rapidocr"))
    assert not is_proven(version)


def test_the_last_self_test_counts(version: EngineVersion) -> None:
    for is_passed in (False, True, False):
        test = SelfTest.objects.create(engine_version=version, report={}, is_passed=is_passed)
        assert is_proven(version) is is_passed
        assert newest_self_test(version) == test


def test_a_composed_version_is_what_its_base_is(cast: Cast, version: EngineVersion) -> None:
    locator = make_locator(cast.document_type, {"/total": {"top": 1.0}})
    on_model = ensure_composed_version(version, locator)
    on_ocr = ensure_composed_version(factories.make_engine_version("rapidocr"), locator)
    assert (is_declared(on_model), is_declared(on_ocr)) == (True, False)
    assert (vlm_spec_of(on_model), vlm_spec_of(on_ocr)) == (SPEC, None)
    assert (is_proven(on_model), is_proven(on_ocr)) == (False, True)
    SelfTest.objects.create(engine_version=version, report={}, is_passed=True)
    assert is_proven(on_model)
    assert (base_of(on_model), base_id_of(on_model)) == (version, version.pk)
    assert (base_of(version), base_id_of(version)) == (version, version.pk)
    assert list(declared_engine_versions()) == [version]
