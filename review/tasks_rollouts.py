"""The work of a roll-out: documents are read a second time off the record, and both versions are compared."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog
from django.conf import settings
from django.utils.translation import gettext as _

from inference.errors import AnswerLostError, EngineError, EngineUnavailableError, InferenceError, UnreadableFileError
from inference.types import PageRequest, page_digest
from review.actions.evaluation import register_engine
from review.actions.readings import keep_attempts, keep_reading
from review.actions.rollouts import roll_back
from review.actions.shadows import claim_shadow, complete_shadow, fail_shadow, pause_shadow, release_shadow
from review.exceptions import ConflictError
from review.models import Page, Rollout, ShadowRead
from review.selectors.access import SYSTEM
from review.selectors.engines import base_id_of, base_of
from review.selectors.evaluation import newest_set_of
from review.selectors.reading import ReadingKey, cached_reading_id, reading_by_id, reading_ids_of
from review.selectors.rollouts import champion_of, rollout_to_compare, tripped_rollouts
from review.selectors.schemas import spec_of
from review.tasks import task
from review.tasks_comparison import compare_versions
from review.tasks_engines import Reader, exact_reader, noting_engine
from review.tasks_files import load_page
from review.tasks_reading import asking, fields_of, request_of, words_of, words_version

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Readings:
    """The challenger's readings, by id, of the first pages of a document; of all of them where `is_whole`."""

    ids: Sequence[int]
    request_digest: str
    is_whole: bool = True


@task
def read_shadow(shadow_id: int) -> None:
    """Have the challenger read a document that the champion has routed, and keep on which fields they differ.

    What it learned on top of the champion's own base is tried on the readings that are there; else it reads the pages,
    one a task as the champion does: for the next it waits again, behind whatever was queued meanwhile.
    """
    shadow = claim_shadow(shadow_id=shadow_id)
    if shadow is None:
        return
    try:
        found = _readings(shadow, exact_reader(shadow.rollout.engine_version))
        if not found.is_whole:
            pause_shadow(shadow=shadow)
            return
        spec = spec_of(shadow.champion_run.schema_version)
        readings = [reading_by_id(reading_id) for reading_id in found.ids]
        fields = fields_of(readings, spec, shadow.rollout.engine_version)
    except (EngineError, UnreadableFileError) as error:
        log.warning("shadow read failed", reason=error.code)
        fail_shadow(shadow=shadow, code=error.code)
    except InferenceError as error:
        log.warning("shadow read postponed", reason=error.code)
        # One that broke off had the page in hand, and may break off on it each time.
        release_shadow(shadow=shadow, is_counted=isinstance(error, AnswerLostError))
    except Exception:
        # Unforeseen: the attempt counts, the sweep brings it back.
        release_shadow(shadow=shadow, is_counted=True)
        raise
    else:
        complete_shadow(
            actor=SYSTEM,
            shadow=shadow,
            spec=spec,
            fields=fields,
            reading_ids=found.ids,
            request_digest=found.request_digest,
            cpu_seconds=sum(reading.cpu_seconds for reading in readings),
        )


def _readings(shadow: ShadowRead, reader: Reader) -> _Readings:
    """Return the challenger's readings of the pages, up to and with the first one that has to be read now."""
    champion = shadow.champion_run
    version_id = register_engine(engine=reader.reads_as).pk
    if version_id == base_id_of(champion.engine_version):
        return _Readings(reading_ids_of(champion), champion.request_digest)
    request = None
    if reader.vlm is not None:
        # It is shown the same examples as the champion was, and has the words of its own reader.
        request = replace(request_of(champion), words_version=words_version(reader.vlm.words_by))
    digest = request.digest if request is not None else ""
    ids: list[int] = []
    pages = list(shadow.document.pages.order_by("page_number"))
    for page in pages:
        key = ReadingKey(
            shadow.document.project_id, version_id, page.content_hash, page_digest(digest, page.page_number)
        )
        cached = cached_reading_id(key)
        ids.append(_read_page(page, shadow, reader, key, request) if cached is None else cached)
        if cached is None:
            break
    return _Readings(ids, digest, is_whole=len(ids) == len(pages))


def _read_page(page: Page, shadow: ShadowRead, reader: Reader, key: ReadingKey, request: PageRequest | None) -> int:
    """Read a page and keep the reading; one deadline holds for words and model, as for a champion's page."""
    until = time.monotonic() + settings.STET_MODEL_SECONDS
    image = load_page(str(page.image.name), page.page_number)
    if reader.vlm is None or request is None:
        with noting_engine():
            reading = reader.engine.read_page(image)
    else:
        words = words_of(image, key, reader.vlm.words_by, page.perceptual_hash)
        try:
            with noting_engine(base_of(shadow.rollout.engine_version)):
                reading = reader.engine.read_page(image, asking(request, words, until - time.monotonic()))
        except InferenceError as failure:
            keep_attempts(key=key, attempts=failure.attempts, error_code=failure.code)
            raise
    return keep_reading(key=key, reading=reading, perceptual_hash=page.perceptual_hash)


@task
def watch_rollouts() -> None:
    """Every minute: roll back what reads for real and errs more often than was promised, as the audits have shown."""
    for rollout, field_path in tripped_rollouts():
        reason = _("The monitor of %(field)s has tripped: more was wrong than was promised.") % {"field": field_path}
        try:
            roll_back(actor=SYSTEM, rollout=rollout, reason=reason)
            log.warning("roll-out rolled back", rollout=rollout.pk, field=field_path)
        except ConflictError:
            # Somebody was faster.
            continue


@task
def compare_rollout(rollout_id: int) -> None:
    """Compare a roll-out's challenger with who reads the type now, on its newest regression set, if there is one.

    Where one of them cannot be had now (its model is not loaded in this worker), the queue brings the task back, twice.
    """
    rollout: Rollout | None = rollout_to_compare(rollout_id)
    champion = champion_of(rollout.document_type) if rollout is not None else None
    regression_set = newest_set_of(rollout.document_type) if rollout is not None else None
    if rollout is None or champion is None or regression_set is None:
        return
    try:
        compare_versions(actor=SYSTEM, regression_set=regression_set, a=champion, b=rollout.engine_version)
    except InferenceError as error:
        log.warning("roll-out not compared", rollout=rollout_id, reason=error.code)
        if isinstance(error, EngineUnavailableError):
            raise
