"""Predictions that come with a document from a program that is not ours: looked over, and kept with it."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from inference.types import DocumentTypeSpec
from review.actions._pages import EngineIdentity, ensure_engine_version
from review.exceptions import InvalidInputError
from review.models import Document, DocumentType, ForeignReading
from review.selectors.engines import IMPORTED_FROM
from review.selectors.schemas import field_spec_at, spec_of

MAX_NAME = 60
MAX_FIELDS = 10_000
MAX_TEXT = 20_000
# PostgreSQL stores no NUL in text, and half a surrogate pair is no text in UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_KEYS = {"field_path", "value", "confidence", "page_number", "bbox"}
Problem = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class ForeignPredictions:
    """What an engine claims of a document: its name and version, and the fields as `ForeignReading.fields`."""

    engine: str
    version: str
    fields: tuple[dict[str, Any], ...]


def parse_predictions(text: str, document_type: DocumentType) -> ForeignPredictions:
    """Return predictions from their JSON; raise InvalidInputError with every problem, each at its pointer."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInputError.at("/predictions", _("This is no JSON.")) from None
    version = document_type.active_version
    problems = list(_problems(data, spec_of(version) if version is not None else None))
    if problems:
        found = [{"pointer": f"/predictions{pointer}", "message": message} for pointer, message in problems]
        raise InvalidInputError(details={"problems": found})
    engine = data["engine"]
    fields = tuple({"field_path": one["field_path"], **{key: one.get(key) for key in _KEYS}} for one in data["fields"])
    return ForeignPredictions(engine["name"].strip(), str(engine.get("version", "")), fields)


def keep_predictions(document: Document, predictions: ForeignPredictions) -> ForeignReading:
    """Keep predictions with their document, under an engine version of their own; within the caller's transaction."""
    spec = {IMPORTED_FROM: predictions.engine, "version": predictions.version}
    version = ensure_engine_version(EngineIdentity.of(predictions.engine, spec))
    return ForeignReading.objects.create(
        document=document, engine_version=version, fields=[dict(field) for field in predictions.fields]
    )


def _problems(data: object, spec: DocumentTypeSpec | None) -> Iterator[Problem]:
    if not isinstance(data, Mapping) or set(data) != {"engine", "fields"}:
        yield "", _("Give an object with “engine” and “fields”, and nothing else.")
        return
    engine, fields = data["engine"], data["fields"]
    if not isinstance(engine, Mapping) or set(engine) - {"name", "version"}:
        yield "/engine", _("Give an object with “name”, and “version” if there is one.")
    elif not all(_is_text(engine.get(key, ""), MAX_NAME) for key in ("name", "version")) or not engine.get("name"):
        yield "/engine", _("Name and version are texts of at most 60 characters; the name is not empty.")
    if not isinstance(fields, list) or len(fields) > MAX_FIELDS:
        yield "/fields", _("Give a list of fields, at most 10,000.")
        return
    seen: set[str] = set()
    for number, field in enumerate(fields):
        for pointer, message in _field_problems(field, spec, seen):
            yield f"/fields/{number}{pointer}", message


def _field_problems(field: object, spec: DocumentTypeSpec | None, seen: set[str]) -> Iterator[Problem]:
    if not isinstance(field, Mapping) or set(field) - _KEYS:
        yield "", _("A field has “field_path”, “value”, “confidence”, “page_number” and “bbox”, and nothing else.")
        return
    path = field.get("field_path")
    if not isinstance(path, str) or spec is None or field_spec_at(spec, path) is None:
        yield "/field_path", _("The document type has no such field.")
    elif path in seen:
        yield "/field_path", _("This field is given twice.")
    else:
        seen.add(path)
    if field.get("value") is not None and not _is_text(field["value"], MAX_TEXT):
        yield "/value", _("The value is the text that the engine read, or null for nothing.")
    if field.get("confidence") is not None and not _is_share(field["confidence"]):
        yield "/confidence", _("The confidence is a number from 0 to 1, or null.")
    if field.get("page_number") is not None and not _is_page(field["page_number"]):
        yield "/page_number", _("Pages count from 1.")
    if field.get("bbox") is not None and not _is_box(field["bbox"], field.get("page_number")):
        yield "/bbox", _("A box is [x0, y0, x1, y1] in shares of the upright page, 0 to 1, beside its page number.")


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and not _UNSTORABLE.search(value)


def _is_share(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= 1  # type: ignore[arg-type, operator]


def _is_page(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31


def _is_box(value: object, page_number: object) -> bool:
    if not isinstance(value, list) or len(value) != 4 or not all(map(_is_share, value)) or page_number is None:
        return False
    x0, y0, x1, y1 = value
    return bool(x0 < x1 and y0 < y1)
