"""What directs audits: how pages look, and how interesting the documents of late were."""

from review.models import DocumentType, ExtractionRun, Page, RoutingDecision
from review.routing.bands import Band
from review.selectors.engines import base_id_of
from review.selectors.reading import ReadingKey, newest_readings

N_LOOKS = 200
N_DOCUMENTS = 2_000


def looks_of(run: ExtractionRun) -> tuple[str, list[str]]:
    """Return the perceptual hash of a document's first page and those of the newest pages read before it.

    Of the same project, read by the same engine version under the same request; in two queries, whose rows have a
    limit. A page of the same pixels is none of the others. The first is "" where the look of the page is not known.
    """
    page = Page.objects.filter(document_id=run.document_id).order_by("page_number").first()
    if page is None or not page.perceptual_hash:
        return "", []
    key = ReadingKey(run.document.project_id, base_id_of(run.engine_version), page.content_hash, run.request_digest)
    others = newest_readings(key, N_LOOKS)
    return page.perceptual_hash, [one.perceptual_hash for one in others if one.content_hash != page.content_hash]


def recent_interests(document_type: DocumentType) -> list[float]:
    """Return the interests of the newest documents of a type that were stored and sampled, up to a limit."""
    decisions = RoutingDecision.objects.filter(
        document__document_type=document_type, run__is_current=True, band=Band.SAMPLED, interest__isnull=False
    )
    newest = decisions.order_by("-id").values_list("interest", flat=True)[:N_DOCUMENTS]
    return [interest for interest in newest if interest is not None]
