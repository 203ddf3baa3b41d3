"""What nothing may learn from: the documents of a project's regression sets, and whatever looks like them.

Training, calibration, the choice of examples for a language model and data sets all ask here. A set that something has
learned from says nothing any more, and a second scan of the same receipt gives as much away as the first. A look is a
perceptual hash: it shuts out pages of the same look that are other documents too, which costs a few labels; the other
mistake would cost the measurement.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from inference.types import MAX_DISTANCE, hamming_distance
from review.models import Document, Page, Project, RegressionItem


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The documents of all regression sets of a project: SHA-256 of their files, perceptual hashes of their pages.

    `looks` None: of some it is not known what their pages look like, so that any page may be one of theirs. It becomes
    known when the set is imported again.
    """

    digests: frozenset[str]
    looks: tuple[str, ...] | None

    def is_shut_out(self, sha256: str, looks: Iterable[str]) -> bool:
        """Whether a document may teach nothing: by its file, or since a page of it looks like one that is held out."""
        return sha256 in self.digests or any(self.is_alike(look) for look in looks)

    def is_alike(self, look: str) -> bool:
        """Whether a page of this look ("": not known) may be held out."""
        if self.looks is None:
            return True
        return bool(self.looks) and (
            not look or any(hamming_distance(look, other) <= MAX_DISTANCE for other in self.looks)
        )


def held_out_of(project: Project) -> HeldOut:
    """Return what a project holds out, of every version of every set."""
    rows = set[tuple[str, tuple[str, ...]]]()
    items = RegressionItem.objects.filter(regression_set__project=project)
    for sha256, looks in items.values_list("sha256", "perceptual_hashes"):
        rows.add((sha256, tuple(looks)))
    known = tuple(sorted({look for _, looks in rows for look in looks}))
    return HeldOut(frozenset(sha256 for sha256, _ in rows), known if all(looks for _, looks in rows) else None)


def shut_out_ids(project: Project, document_ids: Collection[int]) -> set[int]:
    """Return those of the documents that may teach nothing; three queries, however many there are."""
    held_out = held_out_of(project)
    if not held_out.digests:
        return set()
    looks: defaultdict[int, list[str]] = defaultdict(list)
    pages = Page.objects.filter(document__in=document_ids).values_list("document_id", "perceptual_hash")
    for document_id, look in pages:
        looks[document_id].append(look)
    documents = Document.objects.filter(pk__in=document_ids, project=project).values_list("pk", "sha256")
    return {pk for pk, sha256 in documents if held_out.is_shut_out(sha256, looks[pk])}


def held_out_digests(project: Project, digests: Sequence[str]) -> set[str]:
    """Return those of the SHA-256 `digests` that belong to a regression set of the project."""
    items = RegressionItem.objects.filter(regression_set__project=project, sha256__in=digests)
    return set(items.values_list("sha256", flat=True))
