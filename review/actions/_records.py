"""How accepted values become a record: append-only, one current revision."""

from collections.abc import Mapping
from typing import Any

from review.models import Document, ExtractionRun, Record, User


def store_record(
    document: Document,
    *,
    run: ExtractionRun,
    values: Mapping[str, Any],
    provenance: Mapping[str, Mapping[str, Any]],
    reviewer: User | None = None,
) -> Record:
    """Add a revision and make it the current one. `values` and `provenance` are keyed by field_path.

    Within the caller's transaction; the unique constraints refuse a second writer of the same revision.
    """
    last = document.records.order_by("-revision").values_list("revision", flat=True).first() or 0
    document.records.filter(is_current=True).update(is_current=False)
    return Record.objects.create(
        project_id=document.project_id,
        document=document,
        revision=last + 1,
        run=run,
        reviewer=reviewer,
        values=dict(values),
        provenance={path: dict(source) for path, source in provenance.items()},
    )
