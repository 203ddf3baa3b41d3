"""Run by a test as a process of its own: submits a task, and stands still inside the transaction to be killed there.

Arguments: task id, lease token. Everything of the submit is written when "inside" is printed; nothing is committed.
"""

import os
import sys
import time
from typing import Any
from unittest import mock

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
django.setup()

from review.actions import submitting  # noqa: E402 - only after the set-up
from review.models import ReviewTask  # noqa: E402
from review.selectors.access import Actor  # noqa: E402


def pause(*_args: Any, **_values: Any) -> None:
    """Say that the moment has come, and wait for the end."""
    sys.stdout.write("inside\n")
    sys.stdout.flush()
    time.sleep(600)


def main(task_id: int, lease_token: str) -> None:
    """Submit, with the very last step of the action replaced by the pause."""
    task = ReviewTask.objects.select_related("lease_holder").get(pk=task_id)
    with mock.patch.object(submitting, "publish_task", pause):
        submitting.submit_task(
            actor=Actor(task.lease_holder),
            task=task,
            lease_token=lease_token,
            verdicts=[submitting.FieldVerdict("/company", "corrected", "A shop")],
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
