"""Prices are kept by project, whole, with who changed them."""

import pytest

from review.actions.costs import set_prices
from review.exceptions import InvalidInputError
from review.models import AuditEntry, CostModel, Event
from tests.conftest import Cast
from tests.review.actions.review_room import actor

pytestmark = pytest.mark.django_db


def test_prices_are_kept_for_their_project_and_audited(cast: Cast) -> None:
    set_prices(actor=actor(cast.manager), project=cast.project, prices={"person_hour": 31.5, "currency": "MYR"})
    model = CostModel.objects.get()
    assert (model.project, model.person_hour, model.currency, model.cpu_hour) == (cast.project, 31.5, "MYR", 0.04)
    entry = AuditEntry.objects.get(action="cost_model.changed")
    assert entry.actor == cast.manager
    assert entry.detail["person_hour"] == 31.5


def test_open_pages_hear_that_prices_changed_but_not_which(cast: Cast) -> None:
    set_prices(actor=actor(cast.manager), project=cast.project, prices={"person_hour": 31.5})
    event = Event.objects.get(name="cost_model.changed")
    assert (event.project, event.payload) == (cast.project, {})


def test_a_second_change_takes_the_place_of_the_first(cast: Cast) -> None:
    for price in (1.0, 2.0):
        set_prices(actor=actor(cast.manager), project=cast.project, prices={"gpu_hour": price})
    assert CostModel.objects.get().gpu_hour == 2.0
    assert AuditEntry.objects.filter(action="cost_model.changed").count() == 2


def test_wrong_prices_change_nothing(cast: Cast) -> None:
    set_prices(actor=actor(cast.manager), project=cast.project, prices={"gpu_hour": 1.0})
    with pytest.raises(InvalidInputError):
        set_prices(actor=actor(cast.manager), project=cast.project, prices={"gpu_hour": -1.0})
    assert CostModel.objects.get().gpu_hour == 1.0
    assert AuditEntry.objects.filter(action="cost_model.changed").count() == 1
