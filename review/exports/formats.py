"""The formats by name, and the one loop that writes a file in any of them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from review.exports import csv, jsonl
from review.exports.rows import Row, row_of
from review.models import Project
from review.selectors.exports import items_to_export


@dataclass(frozen=True, slots=True)
class Format:
    """How records become bytes: the file's beginning, and the lines of each record."""

    name: str
    media_type: str
    header: bytes
    encode: Callable[[Row], bytes]


FORMATS: Mapping[str, Format] = {
    "jsonl": Format("jsonl", jsonl.MEDIA_TYPE, jsonl.HEADER, jsonl.encode),
    "csv": Format("csv", csv.MEDIA_TYPE, csv.HEADER, csv.encode),
}


@dataclass(slots=True)
class Written:
    """What has been written so far; `sha256` is over the whole file once it is."""

    n_records: int = 0
    n_labels: int = 0
    n_bytes: int = 0
    sha256: str = ""


def write_records(
    target: BinaryIO, project: Project, file_format: Format, *, snapshot_at: datetime, since: datetime | None = None
) -> Iterator[Written]:
    """Write records to `target`, yielding after every batch; whoever stops iterating stops the writing.

    Memory is that of one batch. The last value yielded (there is always one) is of the whole file.
    """
    digest, written = hashlib.sha256(), Written()

    def put(data: bytes) -> None:
        target.write(data)
        digest.update(data)
        written.n_bytes += len(data)

    put(file_format.header)
    for batch in items_to_export(project, snapshot_at=snapshot_at, since=since):
        for item in batch:
            put(file_format.encode(row_of(project, item)))
            written.n_records += 1
            written.n_labels += sum(map(len, item.labels.values()))
        yield written
    written.sha256 = digest.hexdigest()
    yield written
