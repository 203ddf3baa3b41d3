"""What things cost in a project."""

from collections.abc import Mapping
from dataclasses import asdict

from django.db import transaction

from review.actions._audit import record_audit
from review.live.events import PricesEvent, publish
from review.models import CostModel, Project
from review.selectors.access import Actor
from review.selectors.operations import checked_prices


def set_prices(*, actor: Actor, project: Project, prices: Mapping[str, object]) -> CostModel:
    """Keep the project's prices, names left out with their defaults; raise InvalidInputError with every problem."""
    checked = asdict(checked_prices(prices))
    with transaction.atomic(durable=True):
        model, _is_new = CostModel.objects.update_or_create(project=project, defaults=checked)
        record_audit(actor, "cost_model.changed", model, project=project, detail=checked)
        publish(PricesEvent("cost_model.changed", project.pk))
    return model
