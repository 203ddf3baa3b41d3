"""Whose word a confidence is: the pages that show confidences say so where what reads now is not calibrated."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from review.actions._compositions import ensure_composed_version
from review.models import EngineVersion, Rollout, RolloutStage
from tests import factories
from tests.conftest import Cast
from tests.review.rollout_room import rolled_out
from tests.review.trained import make_calibrator, make_locator

pytestmark = pytest.mark.django_db

OWN_WORD = "whose confidence is not calibrated: it is the reader’s own word"
IN_PART = "whose confidence is calibrated for some fields only"
FIELDS = ("/company", "/date", "/total")


@pytest.fixture(params=["accuracy", "policy", "learning"])
def address(request: pytest.FixtureRequest, cast: Cast) -> str:
    slugs = [cast.project.slug, cast.document_type.slug]
    return reverse(request.param, args=slugs if request.param == "policy" else slugs[:1])


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def live(cast: Cast, version: EngineVersion) -> None:
    Rollout.objects.all().delete()
    factories.make_routed(cast.document_type).runs.update(engine_version=version)
    rolled_out(cast, version, RolloutStage.LIVE)


def calibrated(cast: Cast, *paths: str) -> EngineVersion:
    base = factories.make_engine_version()
    model = make_calibrator(cast.document_type, base.digest, dict.fromkeys(paths, 0.9))
    return ensure_composed_version(base, calibrator=model)


def test_a_version_that_is_not_calibrated_says_so_and_every_new_one_does_again(
    manager: Client, cast: Cast, address: str
) -> None:
    assert OWN_WORD not in page(manager, address), "nothing reads yet"
    factories.make_routed(cast.document_type)
    assert OWN_WORD in page(manager, address)
    assert str(factories.make_engine_version()) in page(manager, address)
    live(cast, calibrated(cast, *FIELDS))
    html = page(manager, address)
    assert OWN_WORD not in html
    assert IN_PART not in html
    located = ensure_composed_version(
        factories.make_engine_version(), make_locator(cast.document_type, {"/total": {"top": 1.0}})
    )
    live(cast, located)
    assert OWN_WORD in page(manager, address)
    # A calibrator of other evidence is none.
    stranger = EngineVersion.objects.create(
        name="x",
        spec={},
        digest="y" * 64,
        base=factories.make_engine_version("other"),
        calibrator=calibrated(cast, *FIELDS).calibrator,
    )
    live(cast, stranger)
    assert OWN_WORD in page(manager, address)


def test_fields_that_no_calibrator_speaks_of_are_told_apart(manager: Client, cast: Cast, address: str) -> None:
    live(cast, calibrated(cast, "/total"))
    html = page(manager, address)
    assert IN_PART in html
    assert OWN_WORD not in html


def test_it_is_said_in_chinese(manager: Client, cast: Cast, address: str, chinese: None) -> None:
    live(cast, calibrated(cast, "/total"))
    manager.cookies["django_language"] = "zh-hans"
    assert "其置信度只对部分字段做过校准" in page(manager, address)


def test_the_pages_stay_below_fifteen_queries(manager: Client, cast: Cast, address: str) -> None:
    live(cast, calibrated(cast, "/total"))
    page(manager, address)
    with CaptureQueriesContext(connection) as made:
        page(manager, address)
    assert len(made) < 15
