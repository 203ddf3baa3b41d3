"""What a document's first page looks like, when that is not the type that it was sent as."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TypeSuggestion:
    """Another type of the project, by id and slug, its chance (0-1), and from how many documents that was learned."""

    document_type_id: int
    slug: str
    chance: float
    n_documents: int
