"""Rows of what was read, and of what language models said word for word."""

import gzip
from collections.abc import Sequence
from dataclasses import asdict

from django.db import IntegrityError, transaction

from inference.types import PageReading
from inference.types import RawAnswer as Attempt
from review.models import RawAnswer, Reading
from review.selectors.reading import ReadingKey


def store_reading(key: ReadingKey, reading: PageReading, perceptual_hash: str = "") -> int:
    """Keep a reading within the caller's transaction and return its id; one that is there already stands."""
    columns = asdict(key)
    try:
        with transaction.atomic():
            kept = Reading.objects.create(
                **columns,
                perceptual_hash=perceptual_hash,
                payload=reading.as_json(),
                cpu_seconds=reading.cpu_seconds,
            )
    except IntegrityError:
        # The same pixels were read at the same moment; the first reading stands.
        kept = Reading.objects.only("pk").get(**columns)
    return kept.pk


def store_raw_answers(
    key: ReadingKey, attempts: Sequence[Attempt], error_code: str = "", page_read_id: int | None = None
) -> None:
    """Keep the attempts at one page, first to last, within the caller's transaction.

    `page_read_id` is the page read that they were made for, None where no run asked (an evaluation).
    """
    RawAnswer.objects.bulk_create(
        RawAnswer(
            **asdict(key),
            page_read_id=page_read_id,
            attempt=number,
            # Half a surrogate pair, of which UTF-8 knows nothing, is kept as an escape.
            text_gzip=gzip.compress(attempt.text.encode(errors="backslashreplace"), mtime=0),
            finish_reason=attempt.finish_reason,
            n_prompt_tokens=attempt.n_prompt_tokens,
            n_tokens=attempt.n_tokens,
            seconds=attempt.seconds,
            error_code=error_code,
        )
        for number, attempt in enumerate(attempts, start=1)
    )
