"""Where the live version cannot be had another reads in its place: the roll-out page says which, while it does."""

import pytest
from django.test import Client
from django.urls import reverse

from review.models import RolloutStage
from review.tasks_models import forget_models
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, rolled_out, send

pytestmark = pytest.mark.django_db

CANNOT_BE_HAD = "which cannot be had: what it was learned on is not installed any more"


def page(client: Client, cast: Cast) -> str:
    return client.get(reverse("rollouts", args=[cast.project.slug, cast.document_type.slug])).content.decode()


def test_who_reads_in_place_of_the_live_version_is_shown_while_it_does(
    manager: Client, cast: Cast, script: Script
) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})
    version = as_good(cast)
    send(cast)
    rolled_out(cast, version, RolloutStage.LIVE)
    assert CANNOT_BE_HAD not in page(manager, cast), "it has read nothing since then"
    send(cast, "read by the live one")
    assert CANNOT_BE_HAD not in page(manager, cast)
    # After an upgrade of the engine the base is another one.
    factories.make_routed(cast.document_type).runs.update(engine_version=champion())
    html = page(manager, cast)
    assert f"{champion()} reads in place of {version}, {CANNOT_BE_HAD}" in html
    factories.make_routed(cast.document_type).runs.update(engine_version=version)
    assert CANNOT_BE_HAD not in page(manager, cast)


def test_it_is_said_in_chinese(manager: Client, cast: Cast, script: Script, chinese: None) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})
    rolled_out(cast, as_good(cast), RolloutStage.LIVE)
    factories.make_routed(cast.document_type).runs.update(engine_version=champion())
    manager.cookies["django_language"] = "zh-hans"
    assert "后者无法使用" in page(manager, cast)
