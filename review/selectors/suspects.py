"""Pages on which a model's server broke off while others were in flight: one of them may be what it died of.

Which one is known only when each of them was asked alone. So while there are any, the pages of that server are read one
at a time: those first, then the others. An attempt is lost only by a page on which it breaks off alone.
"""

from django.db.models import Q, QuerySet

from review.models import EngineVersion, PageRead, PageReadState, RunState, ShadowRead, WorkState
from review.selectors.engines import base_id_of, base_of

WOKEN_AT_ONCE = 500


def is_served(version: EngineVersion) -> bool:
    """Whether what reads the pages lives behind a server, which may have the pages of many processes in hand."""
    return str(base_of(version).spec.get("kind", "")) == "vllm_server"


def was_alone(page_read: PageRead, base_id: int) -> bool:
    """Whether the server of this version had no other page in hand as it broke off on this one.

    Another one was there if it is still claimed, or if it was broken off on since this one was claimed.
    """
    beside = Q(state=PageReadState.CLAIMED) | Q(broke_off_at__gte=page_read.claimed_at)
    of_server = Q(rollout__engine_version=base_id) | Q(rollout__engine_version__base=base_id)
    return not (
        _reads(base_id).filter(beside).exclude(pk=page_read.pk).exists()
        or ShadowRead.objects.filter(of_server, state=WorkState.RUNNING).exists()
    )


def may_be_asked(page_read: PageRead, base_id: int) -> bool:
    """Whether a page may be sent to the server of this version now: a suspect alone, another one when there is none."""
    others = _reads(base_id).exclude(pk=page_read.pk)
    if page_read.broke_off_at is not None:
        return not others.filter(state=PageReadState.CLAIMED).exists()
    return not _suspects(others, PageReadState.PENDING, PageReadState.CLAIMED).exists()


def has_suspects(version: EngineVersion) -> bool:
    """Whether pages wait to be asked alone of the server of this version: then nothing else asks it."""
    reads = _reads(base_id_of(version))
    return is_served(version) and _suspects(reads, PageReadState.PENDING, PageReadState.CLAIMED).exists()


def next_to_ask(page_read: PageRead, base_id: int) -> list[int]:
    """Return which page reads may go on after this one has ended: a suspect, or all that waited for the last of them.

    Those that waited longest; what is left has tasks of its own in the queue, or is found by the sweep.
    """
    waiting = _reads(base_id).exclude(pk=page_read.pk)
    suspects = _suspects(waiting, PageReadState.PENDING).order_by("broke_off_at", "pk")
    if found := list(suspects.values_list("pk", flat=True)[:1]):
        return found
    if page_read.broke_off_at is None:
        return []
    return list(waiting.filter(state=PageReadState.PENDING).order_by("pk").values_list("pk", flat=True)[:WOKEN_AT_ONCE])


def _reads(base_id: int) -> QuerySet[PageRead]:
    of_server = Q(run__engine_version=base_id) | Q(run__engine_version__base=base_id)
    return PageRead.objects.filter(of_server, run__is_current=True, run__state=RunState.READING)


def _suspects(reads: QuerySet[PageRead], *states: PageReadState) -> QuerySet[PageRead]:
    return reads.filter(broke_off_at__isnull=False, state__in=states)
