"""What a document's first page looks like, when that is not the type that it was sent as."""

from dataclasses import dataclass

from review.models import Document


@dataclass(frozen=True, slots=True)
class TypeSuggestion:
    """Another type of the project, by id and slug, its chance (0-1), and from how many documents that was learned."""

    document_type_id: int
    slug: str
    chance: float
    n_documents: int


def keep_suggestion(document: Document, suggestion: TypeSuggestion | None) -> None:
    """Write on a document what it looks like, or that its own type will do, within the caller's transaction."""
    if suggestion is None and document.suggested_type_id is None:
        return
    document.suggested_type_id = suggestion.document_type_id if suggestion is not None else None
    document.suggested_chance = suggestion.chance if suggestion is not None else None
    document.suggested_from = suggestion.n_documents if suggestion is not None else None
    document.save(update_fields=["suggested_type", "suggested_chance", "suggested_from"])
