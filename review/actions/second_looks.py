"""How often a manager wants a second look."""

import math

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.exceptions import InvalidInputError
from review.models import Project
from review.selectors.access import Actor


def set_second_look_shares(
    *, actor: Actor, project: Project, second_review_share: float, seeded_share: float
) -> Project:
    """Set which share of submitted reviews gets a second one, and before which share of tasks comes a seeded one.

    Holds for what is submitted and given out from now on. No event: no open page shows it but the one that sets it.
    Raise InvalidInputError at each share that does not lie in 0-1.
    """
    shares = {"second_review_share": second_review_share, "seeded_share": seeded_share}
    problems = [
        {"pointer": f"/{name}", "message": _("A share lies between 0 and 1 (0 and 100 %).")}
        for name, share in shares.items()
        if not (math.isfinite(share) and 0 <= share <= 1)
    ]
    if problems:
        raise InvalidInputError(details={"problems": problems})
    with transaction.atomic(durable=True):
        now = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        before = {name: getattr(now, name) for name in shares}
        if before != shares:
            for name, share in shares.items():
                setattr(now, name, share)
            now.save(update_fields=list(shares))
            record_audit(actor, "project.second_looks_set", now, project=now, detail={"from": before, "to": shares})
    return now
