"""At most one page that a model's server may have died of is asked at a time, and nothing beside it."""

from review.actions._enqueue import READ_PAGE, enqueue
from review.models import EngineVersion, PageRead
from review.selectors.engines import base_id_of
from review.selectors.suspects import is_served, may_be_asked, next_to_ask


def has_its_turn(page_read: PageRead) -> bool:
    """Whether a page may be claimed now, within the caller's transaction; of two suspects, the first alone may."""
    version = page_read.run.engine_version
    if not is_served(version):
        return True
    if page_read.broke_off_at is not None:
        # Two that looked at the same moment would both see nobody else.
        EngineVersion.objects.select_for_update(no_key=True).only("pk").get(pk=base_id_of(version))
    return may_be_asked(page_read, base_id_of(version))


def wake_waiting(page_read: PageRead) -> None:
    """Queue what may be asked next, now that this page has come to an end, within the caller's transaction."""
    version = page_read.run.engine_version
    if is_served(version):
        for page_read_id in next_to_ask(page_read, base_id_of(version)):
            enqueue(READ_PAGE, page_read_id)
