"""What somebody at a desk waits for: a marked part of a page is read again, larger than before."""

from collections.abc import Sequence
from dataclasses import replace

import structlog
from django.conf import settings

from inference.errors import InferenceError, UnreadableFileError
from inference.fields.normalise import find_values, normalise
from inference.imaging.regions import FINE_LONG_SIDE, MARGIN, open_page_finely, region_image
from inference.registry import engine_for
from inference.types import BBox, FieldSpec, PageImage, Word
from review.actions.intake import file_limits
from review.actions.regions import ClaimedRegion, claim_region, fail_region, record_region_read
from review.models import Page
from review.selectors.access import SYSTEM
from review.selectors.schemas import field_spec_at, spec_of
from review.tasks import task
from review.tasks_engines import words_engine_of
from review.tasks_files import load_page, local_path

FAILED = "engine_failed"
SLIVER_SHARE = 0.75
"""Words at the edge that are less high than this share of the tallest are parts of other lines."""
EDGE_SHARE = 0.02
log = structlog.get_logger(__name__)


@task
def warm_up() -> None:
    """Load the engine of the house, so that the first who waits does not wait for that too; run as a worker starts."""
    try:
        engine_for(settings.STET_ENGINE)
    except InferenceError as error:
        log.warning("no engine for the desk", reason=error.code)


@task
def read_region(region_id: int) -> None:
    """Read a region that waits; whatever happens, it comes to an end that the desk is told."""
    claim = claim_region(region_id=region_id)
    if claim is None:
        return
    try:
        text, value = _read(claim)
    except InferenceError as error:
        log.warning("region failed", reason=error.code)
        fail_region(actor=SYSTEM, claim=claim, code=error.code)
        return
    except Exception:
        fail_region(actor=SYSTEM, claim=claim, code=FAILED)
        raise
    record_region_read(actor=SYSTEM, claim=claim, text=text, value=value)


def _read(claim: ClaimedRegion) -> tuple[str, str | None]:
    region = claim.region
    engine = words_engine_of(region.task.document)
    image = region_image(_fine_page(region.page, str(region.task.document.original.name)), BBox(*region.bbox))
    words = whole_words(engine.read_page(image).words, MARGIN / image.size[1])
    text = " ".join(word.text for word in words)
    spec = field_spec_at(spec_of(region.task.run.schema_version), region.field_path)
    return text, value_in(text, spec) if spec is not None else None


def _fine_page(page: Page, original: str) -> PageImage:
    """Return the page from the original, with more pixels than were read at first; else as it was read."""
    try:
        with local_path(original) as path:
            found = open_page_finely(path, page.page_number, replace(file_limits(), long_side=FINE_LONG_SIDE))
    except (UnreadableFileError, OSError):
        found = None
    return found or load_page(str(page.image.name), page.page_number)


def whole_words(words: Sequence[Word], margin: float) -> list[Word]:
    """Return the words without slivers of the lines above and below that the mark cut through.

    `margin` is the share of the picture's height that is empty at its top and at its bottom.
    """
    tallest = max((word.bbox.height for word in words), default=0.0)
    top, bottom = margin + EDGE_SHARE, 1.0 - margin - EDGE_SHARE
    return [
        word
        for word in words
        if word.bbox.height >= SLIVER_SHARE * tallest or (word.bbox.y0 > top and word.bbox.y1 < bottom)
    ]


def value_in(text: str, spec: FieldSpec) -> str | None:
    """Return what the text is as a value of the field, or the first such value in it; None where there is none."""
    whole = normalise(text, spec.value_type, spec.locale).value
    if whole is not None:
        return whole
    found = (one.normalised.value for one in find_values(text, spec.value_type, spec.locale))
    return next((value for value in found if value is not None), None)
