"""What a reviewer does before a task ends: fields are saved, all of it is submitted."""

from review.actions.leasing import Lease
from review.actions.saving import save_field
from review.actions.submitting import FieldVerdict, submit_task
from review.models import (
    Record,
)
from tests.conftest import Cast
from tests.review.actions.review_room import actor


def submit(cast: Cast, lease: Lease, *answers: tuple[str, str | None, object]) -> Record:
    verdicts = [FieldVerdict(*answer) for answer in answers]
    return submit_task(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token, verdicts=verdicts)


def save(
    cast: Cast, lease: Lease, field_path: str, verdict: str | None, value: object, *, base_version: int = 0
) -> None:
    save_field(
        actor=actor(cast.reviewer),
        task=lease.task,
        lease_token=lease.token,
        field_path=field_path,
        verdict=verdict,
        value=value,
        base_version=base_version,
    )


TOTAL = ("/total", "corrected", "8.00")
