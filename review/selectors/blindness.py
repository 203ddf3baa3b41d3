"""What is kept from people who may still be asked: who answers again must not have seen the first answers."""

from django.db.models import Exists, OuterRef, Q, QuerySet, Value

from review.models import Document, Record, ReviewTask, Role, TaskKind, TaskState, User
from review.selectors.second_looks import hidden_from


def looks_open_to(viewer: User) -> QuerySet[ReviewTask]:
    """Return the open second looks that `viewer` holds or may be given; none for managers, who may see all.

    The membership counts, not the role of a token: a reviewer with a token for reading is a reviewer all the same.
    """
    looks = ReviewTask.objects.filter(~hidden_from(viewer), ~Q(kind=TaskKind.REVIEW), state=TaskState.OPEN)
    return looks.filter(project__memberships__user=viewer, project__memberships__role=Role.REVIEWER)


def is_withheld(document: Document, viewer: User | None) -> bool:
    """Whether what people said of the document is kept from `viewer` for now; nothing is from Stet itself (None)."""
    read_as = document.duplicate_of_id or document.pk
    return viewer is not None and looks_open_to(viewer).filter(document=read_as).exists()


def mark_withheld(records: QuerySet[Record], viewer: User | None) -> QuerySet[Record]:
    """Return the records, each with `is_withheld`: its values are not for `viewer` as long as that is so."""
    if viewer is None:
        return records.annotate(is_withheld=Value(value=False))
    return records.annotate(is_withheld=Exists(looks_open_to(viewer).filter(document=OuterRef("document"))))
