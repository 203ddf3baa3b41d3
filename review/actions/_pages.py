"""Rows of pages and of the work of reading them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from inference.types.identity import as_stored, engine_digest
from review.models import Document, EngineVersion, ExtractionRun, Page, PageRead, PageReadState


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page whose raster lies in storage under `image_name`; size in pixels, hash over the pixels and of the look.

    `image_sha256` is over the bytes that lie there.
    """

    page_number: int
    image_name: str
    width: int
    height: int
    content_hash: str
    perceptual_hash: str = ""
    image_sha256: str = ""


@dataclass(frozen=True, slots=True)
class EngineIdentity:
    """An engine as it reads now: `digest` is over `spec`, which is everything that may change an answer."""

    name: str
    digest: str
    spec: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, spec: Mapping[str, Any]) -> "EngineIdentity":
        """Return the identity of an engine that reads by `spec`, under the digest that its version is stored by."""
        return cls(name, engine_digest(name, spec), as_stored(spec))


def ensure_engine_version(engine: EngineIdentity) -> EngineVersion:
    """Return the frozen row of this engine version, made on first sight."""
    with transaction.atomic():
        version, _ = EngineVersion.objects.get_or_create(
            digest=engine.digest, defaults={"name": engine.name, "spec": dict(engine.spec)}
        )
    return version


def replace_pages(document: Document, pages: Sequence[StoredPage]) -> list[Page]:
    """Make the document's pages these; a page that is there already keeps its row, for earlier runs point to it."""
    known = {page.page_number: page for page in Page.objects.filter(document=document)}
    fields = ("image", "width", "height", "content_hash", "perceptual_hash", "image_sha256")
    new: list[Page] = []
    changed: list[Page] = []
    for stored in pages:
        page = known.get(stored.page_number) or Page(document=document, page_number=stored.page_number)
        page.image = stored.image_name
        page.content_hash, page.perceptual_hash = stored.content_hash, stored.perceptual_hash
        page.width, page.height, page.image_sha256 = stored.width, stored.height, stored.image_sha256
        (changed if page.pk else new).append(page)
    Page.objects.bulk_update(changed, fields)
    Page.objects.bulk_create(new)
    return sorted([*new, *changed], key=lambda page: page.page_number)


def plan_page_reads(run: ExtractionRun, pages: Sequence[Page]) -> list[PageRead]:
    """Write down the work of reading each page of a run."""
    return PageRead.objects.bulk_create(PageRead(run=run, page=page) for page in pages)


def has_unfinished_pages(run_id: int) -> bool:
    """Whether any page of the run is still to be read."""
    unfinished = (PageReadState.PENDING, PageReadState.CLAIMED)
    return PageRead.objects.filter(run_id=run_id, state__in=unfinished).exists()
