"""What request bodies may be: JSON that a database can hold, and forms with files."""

import math
import re
from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext_lazy as _
from rest_framework import parsers
from rest_framework.exceptions import ParseError

MAX_DEPTH = 64
# PostgreSQL stores no NUL in text, and half a surrogate pair is no text in UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class StrictJSONParser(parsers.JSONParser):
    """JSON of bounded depth with storable texts and finite numbers."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the decoded body; raise ParseError in words of ours."""
        try:
            data = super().parse(stream, media_type, parser_context)
        except (ParseError, RecursionError):
            raise ParseError(_("The body is not valid JSON in UTF-8.")) from None
        _refuse_unstorable(data, MAX_DEPTH)
        return data


class UploadParser(parsers.MultiPartParser):
    """A form with files; large files go to disk as they arrive."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> "parsers.DataAndFiles[Any, Any]":
        """Return data and files; raise ParseError in words of ours."""
        try:
            form = super().parse(stream, media_type, parser_context)
        except ParseError:
            raise ParseError(_("The body is not a valid multipart form. It may have been cut off.")) from None
        sent = [file for _name, files in form.files.lists() for file in files]
        if len(sent) > len(form.files):
            for file in sent:
                file.close()
            # Django would keep the last and drop the others without a word.
            raise ParseError(_("One file a request: this form holds several under one name. Send them one by one."))
        return form


def _refuse_unstorable(data: object, depth: int) -> None:
    if depth == 0:
        raise ParseError(_("The body is nested too deeply."))
    match data:
        case str():
            if _UNSTORABLE.search(data):
                raise ParseError(_("The body holds characters that are no text (NUL or half a surrogate pair)."))
        case float():
            if not math.isfinite(data):
                raise ParseError(_("The body holds a number that is too large."))
        case list():
            for item in data:
                _refuse_unstorable(item, depth - 1)
        case dict():
            for name, item in data.items():
                _refuse_unstorable(name, depth - 1)
                _refuse_unstorable(item, depth - 1)
