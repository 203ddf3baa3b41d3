"""One record a line, as JSON in UTF-8: everything that is known of it, nested."""

import json

from review.exports.rows import Row

HEADER = b""
MEDIA_TYPE = "application/jsonl"


def encode(row: Row) -> bytes:
    """Return the line of one record. Characters stay as they are; what UTF-8 cannot hold becomes a JSON escape."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", errors="backslashreplace") + b"\n"
