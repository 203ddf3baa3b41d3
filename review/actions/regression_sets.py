"""Regression sets are frozen, and grow by new versions only: from labelled files, or from documents people reviewed."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from inference.errors import UnreadableFileError
from inference.imaging.inspection import identify_file
from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from inference.imaging.similarity import perceptual_hash
from review.actions._audit import record_audit
from review.actions._frozen_sets import digest_of
from review.actions._storing import keep_file, minding_space, staged
from review.exceptions import ConflictError, InvalidInputError
from review.models import Document, DocumentType, Project, RegressionItem, RegressionSet
from review.selectors.access import Actor
from review.selectors.evaluation import items_of, versions_of
from review.selectors.schemas import field_spec_at, spec_of
from review.selectors.truth import truths_of

MAX_NAME_LENGTH = 100
_HASH_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """A local file with its truth: field_path to the value as printed, None where the page shows none.

    A field that is left out is unknown, and no part of any figure.
    """

    name: str
    path: Path
    truth: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """A version of a regression set; `is_new` false when exactly this one was there already."""

    regression_set: RegressionSet
    is_new: bool


def import_regression_set(
    *,
    actor: Actor,
    project: Project,
    document_type: DocumentType,
    name: str,
    files: Sequence[LabelledFile],
    is_growing: bool = False,
) -> ImportedSet:
    """Freeze labelled files as a regression set of the project; importing the same again changes nothing.

    `is_growing`: they are added to what the set has, which makes a new version; those it has already are passed over.

    Raise InvalidInputError with every problem (no files, unreadable ones, fields that the type does not have, other
    contents under a name that the set has), ConflictError when the name belongs to a set with other contents and the
    set is not to grow, StorageFullError, OSError.
    """
    _refuse_unusable(document_type, name, files)
    paths = {file.name: file.path for file in files}

    def keep(item: RegressionItem) -> None:
        with paths[item.name].open("rb") as source:
            item.original.name = _keep(project, item.sha256, source)
        item.perceptual_hashes = _looks(paths[item.name])

    items = [_item(file) for file in files]
    done = _freeze(actor, document_type, name, items, keep, is_growing=is_growing)
    _know_looks(done.regression_set, paths)
    return done


def freeze_documents(
    *, actor: Actor, document_type: DocumentType, name: str, documents: Sequence[Document]
) -> ImportedSet:
    """Add reviewed documents of the type to its regression set of that name, or begin one with them: a new version.

    Their truth is what two people agreed on or a third decided, else what a person confirmed; a field that nobody
    looked at is unknown. From then on nothing learns from them. Raise InvalidInputError for a document of another type
    or without any such field, ConflictError when the name belongs to a set of another type, StorageFullError, OSError.
    """
    truths = truths_of([document.pk for document in documents])
    problems = [
        {"pointer": f"/{document.pk}", "message": _("No field of this document has a truth.")}
        for document in documents
        if not truths.get(document.pk)
    ] + [
        {"pointer": f"/{document.pk}", "message": _("This document is of another type.")}
        for document in documents
        if document.document_type_id != document_type.pk
    ]
    if problems or not documents:
        raise InvalidInputError(details={"problems": problems or _nothing()})
    _refuse_name(name)
    by_name = {f"{document.pk}/{document.filename}"[:255]: document for document in documents}

    def keep(item: RegressionItem) -> None:
        document = by_name[item.name]
        with document.original.open("rb") as source:
            item.original.name = _keep(document_type.project, item.sha256, source)
        item.perceptual_hashes = list(document.pages.values_list("perceptual_hash", flat=True))

    items = [
        RegressionItem(name=item_name, sha256=document.sha256, truth=truths[document.pk])
        for item_name, document in by_name.items()
    ]
    return _freeze(actor, document_type, name, items, keep, is_growing=True)


def _freeze(
    actor: Actor,
    document_type: DocumentType,
    name: str,
    items: Sequence[RegressionItem],
    keep: Callable[[RegressionItem], None],
    *,
    is_growing: bool,
) -> ImportedSet:
    """Make a version of the set of these items, on top of those it has; `keep` stores the file of one that is new."""
    project = document_type.project
    known = list(versions_of(project, name))
    last = known[-1] if known else None
    if last is not None and last.document_type_id != document_type.pk:
        raise ConflictError(_("There is already a set of this name for another document type. Choose another name."))
    present = list(items_of(last)) if last is not None and is_growing else []
    added = sorted(_new_items(present, items), key=lambda item: item.name)
    digest = digest_of(document_type, sorted([*present, *added], key=lambda item: item.name))
    if known and (same := _same(known, digest, is_growing=is_growing)) is not None:
        return ImportedSet(same, is_new=False)
    for item in added:
        keep(item)
    try:
        with transaction.atomic(durable=True):
            # What is asked to learn meanwhile begins after this set, and leaves it out (see `n_that_taught`).
            Project.objects.select_for_update(no_key=True).only("pk").get(pk=project.pk)
            created = RegressionSet.objects.create(
                project=project,
                document_type=document_type,
                name=name,
                number=last.number + 1 if last is not None else 1,
                replaces=last,
                n_items=len(present) + len(added),
                digest=digest,
                created_by=actor.user,
            )
            for item in added:
                item.regression_set = created
            RegressionItem.objects.bulk_create(added)
            detail = {"name": name, "number": created.number, "n_items": created.n_items, "n_new": len(added)}
            record_audit(
                actor, "regression_set.imported", created, project=project, detail={**detail, "digest": digest}
            )
    except IntegrityError:
        # The same name was imported at the same moment.
        same = _same(list(versions_of(project, name)), digest, is_growing=is_growing)
        if same is None:
            raise ConflictError(_("The set grew at this very moment. Add these documents again.")) from None
        return ImportedSet(same, is_new=False)
    return ImportedSet(created, is_new=True)


def _new_items(present: Sequence[RegressionItem], items: Sequence[RegressionItem]) -> Iterator[RegressionItem]:
    """Yield what a set lacks; raise InvalidInputError for what contradicts it: what is frozen stays as it is."""
    by_name = {item.name: item for item in present}
    names = {item.sha256: item.name for item in present}
    problems = []
    for item in items:
        known = by_name.get(item.name)
        if known is None and item.sha256 not in names:
            yield item
        elif known is None:
            # The same file reviewed, or labelled, a second time: it counts once.
            continue
        elif (known.sha256, known.truth) != (item.sha256, item.truth):
            message = _("The set has this document with other contents. What is frozen stays as it is.")
            problems.append({"pointer": f"/{item.name}", "message": message})
    if problems:
        raise InvalidInputError(details={"problems": problems})


def _same(known: Sequence[RegressionSet], digest: str, *, is_growing: bool) -> RegressionSet | None:
    """Return the version with these contents; where there is none, None if the set may grow, else ConflictError."""
    found = next((version for version in reversed(known) if version.digest == digest), None)
    if found is None and not is_growing:
        raise ConflictError(
            _("There is already a set of this name with other contents. A set is frozen; choose another name.")
        )
    return found


def _refuse_unusable(document_type: DocumentType, name: str, files: Sequence[LabelledFile]) -> None:
    problems: list[dict[str, Any]] = []
    if not files:
        problems += _nothing()
    if len({file.name for file in files}) != len(files):
        problems.append({"pointer": "/files", "message": _("Two documents have the same name.")})
    for file in files:
        problems += _file_problems(document_type, file)
    _refuse_name(name, problems)


def _nothing() -> list[dict[str, Any]]:
    return [{"pointer": "/files", "message": _("There is no labelled document here.")}]


def _refuse_name(name: str, problems: Sequence[dict[str, Any]] = ()) -> None:
    """Raise InvalidInputError with these problems and that of the name, if there are any."""
    if not name.strip() or len(name) > MAX_NAME_LENGTH:
        problems = [
            {"pointer": "/name", "message": _("Give the set a name of at most 100 characters.")},
            *problems,
        ]
    if problems:
        raise InvalidInputError(details={"problems": list(problems)})


def _file_problems(document_type: DocumentType, file: LabelledFile) -> Iterator[dict[str, Any]]:
    version = document_type.active_version
    spec = spec_of(version) if version is not None else None
    for path in file.truth:
        if spec is None or field_spec_at(spec, path) is None:
            message = _("The document type %(type)s has no such field.") % {"type": document_type.slug}
            yield {"pointer": f"/{file.name}{path}", "message": message}
    if not file.truth:
        yield {"pointer": f"/{file.name}", "message": _("No field of this document has a truth.")}
    try:
        identify_file(file.path, Limits(max_bytes=settings.STET_MAX_BYTES))
    except UnreadableFileError as error:
        yield {"pointer": f"/{file.name}", "message": _("This file cannot be read (%(why)s).") % {"why": error.code}}


def _item(file: LabelledFile) -> RegressionItem:
    digest = hashlib.sha256()
    with file.path.open("rb") as source:
        while chunk := source.read(_HASH_BYTES):
            digest.update(chunk)
    return RegressionItem(name=file.name, sha256=digest.hexdigest(), truth=dict(file.truth))


def _looks(path: Path) -> list[str]:
    """Return the perceptual hashes of a file's pages; of one that cannot be opened the look is not known."""
    try:
        return [perceptual_hash(opened.image) for opened in open_pages(path, Limits(max_bytes=settings.STET_MAX_BYTES))]
    except UnreadableFileError:
        return []


def _know_looks(known: RegressionSet, paths: Mapping[str, Path]) -> None:
    """Find out what the pages of a set look like that was imported before that was kept."""
    items = [item for item in items_of(known) if not item.perceptual_hashes and item.name in paths]
    for item in items:
        item.perceptual_hashes = _looks(paths[item.name])
    with transaction.atomic(durable=True):
        RegressionItem.objects.bulk_update(items, ["perceptual_hashes"])


def _keep(project: Project, sha256: str, source: Any) -> str:  # noqa: ANN401 - an open file of either kind
    """Store a copy of the file (never the file itself: it is not ours to move) and return its name."""
    name = f"projects/{project.pk}/regression/{sha256[:2]}/{sha256}"
    with minding_space(), staged(File(source), settings.STET_MAX_BYTES) as copy:
        if copy.sha256 != sha256:
            raise ConflictError(_("A file changed while it was imported. Import again."))
        keep_file(name, copy.path, copy.n_bytes)
    return name
