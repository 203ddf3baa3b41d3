"""Run by a test as a process of its own: takes the open task, marks a part of its page, prints the region's id."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
django.setup()

from review.actions.leasing import lease_next_task  # noqa: E402 - only after the set-up
from review.actions.regions import request_region  # noqa: E402
from review.models import Project, User  # noqa: E402
from review.selectors.access import Actor  # noqa: E402


def main() -> None:
    """Ask as the user of the house."""
    actor = Actor(User.objects.get(username="u"))
    lease = lease_next_task(actor=actor, project=Project.objects.get(slug="p"))
    assert lease is not None
    box = (0.1, 0.1, 0.5, 0.2)
    region = request_region(actor=actor, task=lease.task, page_number=1, bbox=box, field_path="/total")
    sys.stdout.write(f"{region.pk}\n")


if __name__ == "__main__":
    main()
