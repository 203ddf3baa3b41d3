"""Regression sets are frozen, and engine versions measured on them are written down."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
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
from review.actions._pages import EngineIdentity, ensure_engine_version
from review.actions._storing import keep_file, minding_space, staged
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    DocumentType,
    EngineVersion,
    EvaluationRun,
    Project,
    RegressionItem,
    RegressionSet,
)
from review.selectors.access import Actor
from review.selectors.schemas import field_spec_at, spec_of

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
    """A regression set; `is_new` false when exactly this set was there already."""

    regression_set: RegressionSet
    is_new: bool


def import_regression_set(
    *, actor: Actor, project: Project, document_type: DocumentType, name: str, files: Sequence[LabelledFile]
) -> ImportedSet:
    """Freeze labelled files as a regression set of the project; importing the same again changes nothing.

    Raise InvalidInputError with every problem (no files, unreadable ones, fields that the type does not have),
    ConflictError when the name belongs to a set with other contents, StorageFullError, OSError.
    """
    _refuse_unusable(document_type, name, files)
    items = sorted((_item(file) for file in files), key=lambda item: item.name)
    digest = _digest(document_type, items)
    paths = {file.name: file.path for file in files}
    known = RegressionSet.objects.filter(project=project, name=name).first()
    if known is not None:
        found = _same(known, digest)
        _know_looks(known, paths)
        return found
    for item in items:
        item.original.name = _keep(project, item.sha256, paths[item.name])
        item.perceptual_hashes = _looks(paths[item.name])
    try:
        with transaction.atomic(durable=True):
            created = RegressionSet.objects.create(
                project=project,
                document_type=document_type,
                name=name,
                n_items=len(items),
                digest=digest,
                created_by=actor.user,
            )
            for item in items:
                item.regression_set = created
            RegressionItem.objects.bulk_create(items)
            detail = {"name": name, "n_items": len(items), "digest": digest}
            record_audit(actor, "regression_set.imported", created, project=project, detail=detail)
    except IntegrityError:
        # The same name was imported at the same moment.
        return _same(RegressionSet.objects.get(project=project, name=name), digest)
    return ImportedSet(created, is_new=True)


def register_engine(*, engine: EngineIdentity) -> EngineVersion:
    """Return the row of the engine as it reads now. No audit row: a version is a fact, not an act."""
    with transaction.atomic(durable=True):
        return ensure_engine_version(engine)


def record_evaluation(
    *, actor: Actor, regression_set: RegressionSet, engine_version_id: int, results: Mapping[str, Any]
) -> EvaluationRun:
    """Write down what one engine version reached on a set."""
    with transaction.atomic(durable=True):
        run = EvaluationRun.objects.create(
            regression_set=regression_set, engine_version_id=engine_version_id, results=dict(results)
        )
        detail = {"set": regression_set.name, "engine_version": engine_version_id}
        record_audit(actor, "evaluation.recorded", run, project=regression_set.project_id, detail=detail)
    return run


def _same(known: RegressionSet, digest: str) -> ImportedSet:
    if known.digest != digest:
        raise ConflictError(
            _("There is already a set of this name with other contents. A set is frozen; choose another name.")
        )
    return ImportedSet(known, is_new=False)


def _refuse_unusable(document_type: DocumentType, name: str, files: Sequence[LabelledFile]) -> None:
    problems: list[dict[str, Any]] = []
    if not name.strip() or len(name) > MAX_NAME_LENGTH:
        problems.append({"pointer": "/name", "message": _("Give the set a name of at most 100 characters.")})
    if not files:
        problems.append({"pointer": "/files", "message": _("There is no labelled document here.")})
    if len({file.name for file in files}) != len(files):
        problems.append({"pointer": "/files", "message": _("Two documents have the same name.")})
    for file in files:
        problems += _file_problems(document_type, file)
    if problems:
        raise InvalidInputError(details={"problems": problems})


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
    items = [item for item in known.items.all() if not item.perceptual_hashes]
    for item in items:
        item.perceptual_hashes = _looks(paths[item.name])
    with transaction.atomic(durable=True):
        RegressionItem.objects.bulk_update(items, ["perceptual_hashes"])


def _digest(document_type: DocumentType, items: Sequence[RegressionItem]) -> str:
    contents = [document_type.slug, [[item.name, item.sha256, item.truth] for item in items]]
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()


def _keep(project: Project, sha256: str, path: Path) -> str:
    """Store a copy of the file (never the file itself: it is not ours to move) and return its name."""
    name = f"projects/{project.pk}/regression/{sha256[:2]}/{sha256}"
    with minding_space(), path.open("rb") as source, staged(File(source), settings.STET_MAX_BYTES) as copy:
        if copy.sha256 != sha256:
            raise ConflictError(_("A file changed while it was imported. Import again."))
        keep_file(name, copy.path, copy.n_bytes)
    return name
