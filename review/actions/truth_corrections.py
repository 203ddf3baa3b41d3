"""A truth of a regression set that turns out wrong is corrected in its next version; the versions before stay."""

from collections.abc import Mapping

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._frozen_sets import digest_of
from review.exceptions import ConflictError, InvalidInputError
from review.models import RegressionItem, RegressionSet
from review.selectors.access import Actor
from review.selectors.evaluation import items_of
from review.selectors.schemas import field_spec_at, spec_of

MAX_REASON_LENGTH = 500


def correct_truth(
    *, actor: Actor, regression_set: RegressionSet, item_name: str, truth: Mapping[str, str | None], reason: str
) -> RegressionSet:
    """Make the next version of a set, in which one document has another truth for some fields; return it.

    `truth`: field_path to the value as printed, None where the page shows none; the other fields keep theirs. What was
    measured on the versions before stays as it is, and stays on them: readers have to be measured on the new one.
    Correcting to what is there already changes nothing.

    Raise InvalidInputError for a document that the set lacks, a field that the type lacks, or no reason; ConflictError
    where the set has a newer version.
    """
    items = list(items_of(regression_set))
    reason = reason.strip()
    wrong = _usable(regression_set, next((item for item in items if item.name == item_name), None), truth, reason)
    corrected = RegressionItem(
        name=wrong.name,
        original=wrong.original.name,
        sha256=wrong.sha256,
        perceptual_hashes=wrong.perceptual_hashes,
        truth={**wrong.truth, **truth},
    )
    if corrected.truth == wrong.truth:
        return regression_set
    documents = [corrected if item is wrong else item for item in items]
    digest = digest_of(regression_set.document_type, documents)
    try:
        with transaction.atomic(durable=True):
            created = RegressionSet.objects.create(
                project=regression_set.project,
                document_type=regression_set.document_type,
                name=regression_set.name,
                number=regression_set.number + 1,
                replaces=regression_set,
                n_items=len(documents),
                digest=digest,
                created_by=actor.user,
            )
            corrected.regression_set = created
            corrected.save()
            # Which fields, not what stood in them: both versions keep that.
            detail = {
                "name": created.name,
                "number": created.number,
                "item": item_name,
                "fields": sorted(path for path in truth if wrong.truth.get(path) != truth[path]),
                "reason": reason,
                "digest": digest,
            }
            record_audit(actor, "regression_set.corrected", created, project=created.project_id, detail=detail)
    except IntegrityError:
        raise ConflictError(_("The set has a newer version. Look at that one, and correct it if need be.")) from None
    return created


def _usable(
    regression_set: RegressionSet, item: RegressionItem | None, truth: Mapping[str, str | None], reason: str
) -> RegressionItem:
    """Return the item if everything is as it must be; raise InvalidInputError with every problem."""
    version = regression_set.document_type.active_version
    spec = spec_of(version) if version is not None else None
    problems: list[dict[str, object]] = [
        {
            "pointer": path,
            "message": _("The document type %(type)s has no such field.") % {"type": regression_set.document_type.slug},
        }
        for path in truth
        if spec is None or field_spec_at(spec, path) is None
    ]
    if item is None:
        problems.append({"pointer": "/item", "message": _("The set has no document of this name.")})
    if not truth:
        problems.append({"pointer": "/truth", "message": _("Name at least one field and its value.")})
    if not reason or len(reason) > MAX_REASON_LENGTH:
        problems.append({"pointer": "/reason", "message": _("Say why, in at most 500 characters.")})
    if item is None or problems:
        raise InvalidInputError(details={"problems": problems})
    return item
