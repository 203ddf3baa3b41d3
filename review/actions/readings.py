"""What is read is kept under what was asked; a run asks the same of every page."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from inference.types import PageReading, RawAnswer
from review.actions._readings import store_raw_answers, store_reading
from review.models import ExtractionRun
from review.selectors.reading import ReadingKey


def keep_reading(
    *, key: ReadingKey, reading: PageReading, perceptual_hash: str = "", page_read_id: int | None = None
) -> int:
    """Keep what was read outside of a claim, and how a language model said it; return the reading's id.

    `page_read_id` is the page read that it was asked for, where it was for one. A reading that is there already stands.
    No audit row: nothing happens to a document.
    """
    with transaction.atomic(durable=True):
        if reading.answer is not None:
            store_raw_answers(key, reading.answer.attempts, page_read_id=page_read_id)
        return store_reading(key, reading, perceptual_hash)


def keep_attempts(
    *, key: ReadingKey, attempts: Sequence[RawAnswer], error_code: str, page_read_id: int | None = None
) -> None:
    """Keep the answers of a language model that could not be used, outside of a claim. No audit row, as above."""
    with transaction.atomic(durable=True):
        store_raw_answers(key, attempts, error_code, page_read_id)


def settle_request(*, run: ExtractionRun, request_digest: str, examples: Sequence[Mapping[str, Any]]) -> ExtractionRun:
    """Settle what the run's pages ask for, once: return the run as it is settled, by whoever was first.

    No audit row: it is part of the run, and whatever was asked is kept with it.
    """
    with transaction.atomic(durable=True):
        unsettled = ExtractionRun.objects.filter(pk=run.pk, request_digest="")
        if unsettled.update(request_digest=request_digest, examples=list(examples)):
            run.request_digest, run.examples = request_digest, list(examples)
        else:
            run.refresh_from_db(fields=["request_digest", "examples"])
    return run
