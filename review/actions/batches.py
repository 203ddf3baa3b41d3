"""Pages that a model is asked for side by side, so that a batch which takes its process with it is known afterwards."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F

from review.models import PageRead, PageReadState


def begin_batch(*, page_read_ids: Sequence[int]) -> list[int]:
    """Count an attempt for each page that still waits, before a model is let loose on all of them; return their ids.

    No audit row: nothing has happened yet.
    """
    with transaction.atomic(durable=True):
        waiting = PageRead.objects.select_for_update().filter(pk__in=page_read_ids, state=PageReadState.PENDING)
        ids = list(waiting.values_list("pk", flat=True))
        PageRead.objects.filter(pk__in=ids).update(n_attempts=F("n_attempts") + 1)
    return ids


def end_batch(*, page_read_ids: Sequence[int]) -> None:
    """Give the attempts of a batch back that its process has survived, however it ended. No audit row, as above."""
    with transaction.atomic(durable=True):
        PageRead.objects.filter(pk__in=page_read_ids, n_attempts__gt=0).update(n_attempts=F("n_attempts") - 1)
