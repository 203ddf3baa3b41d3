"""What a language model said of a document's pages, word for word."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from inference.types import page_digest
from review.models import ExtractionRun, Page, RawAnswer
from review.selectors.engines import base_id_of, is_declared

SHOWN = 60


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One attempt at one page: its text as it came, why it ended, and the code of what was wrong, "" if nothing was.

    `run_id` is the run that asked, of this document or of another one with the same pixels; None where none did.
    """

    page_number: int
    run_id: int | None
    attempt: int
    text: str
    finish_reason: str
    n_tokens: int
    seconds: float
    error_code: str
    at: datetime


def raw_answers_of(project_id: int, run: ExtractionRun | None, pages: Sequence[Page]) -> list[AnswerView]:
    """Return the newest answers that a run's pages were given, by page, in one query; none for an OCR engine's run.

    Also those of earlier reads of the same pixels that were asked the same; old ones are gone (STET_RAW_ANSWER_DAYS).
    """
    if run is None or not is_declared(run.engine_version):
        return []
    numbers = {
        (page.content_hash, page_digest(run.request_digest, page.page_number)): page.page_number
        for page in reversed(pages)
    }
    answers = RawAnswer.objects.filter(
        project=project_id,
        engine_version=base_id_of(run.engine_version),
        request_digest__in={asked for _, asked in numbers},
        content_hash__in={content_hash for content_hash, _ in numbers},
    )
    # The same pixels as a first and as a later page are two questions, of which a document may have asked but one.
    newest = answers.select_related("page_read").order_by("-pk")[:SHOWN]
    keyed = [(answer, (answer.content_hash, answer.request_digest)) for answer in newest]
    views = [_view(answer, numbers[key]) for answer, key in keyed if key in numbers]
    return sorted(views, key=lambda view: (view.page_number, view.at, view.attempt))


def _view(answer: RawAnswer, page_number: int) -> AnswerView:
    return AnswerView(
        page_number=page_number,
        run_id=answer.page_read.run_id if answer.page_read is not None else None,
        attempt=answer.attempt,
        text=gzip.decompress(answer.text_gzip).decode(),
        finish_reason=answer.finish_reason,
        n_tokens=answer.n_tokens,
        seconds=answer.seconds,
        error_code=answer.error_code,
        at=answer.created_at,
    )
