"""One archive of many files, written in one go and in constant memory; the same files give the same bytes."""

import hashlib
import io
import shutil
import tarfile
import tempfile
import zipfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Self

ARCHIVES = ("zip", "tar")
SUMS = "SHA256SUMS"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644
_CHUNK = 1024 * 1024
_FAST = 1
"""Deflate's level: text shrinks to about a sixth, and the writing is not what takes the time."""


@dataclass(slots=True)
class Part:
    """A file of the archive that grows while others do, aside until the archive is closed."""

    name: str
    _file: IO[bytes]
    n_bytes: int = 0
    n_lines: int = 0
    _sha256: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def write(self, data: bytes) -> None:
        """Append."""
        self._file.write(data)
        self._sha256.update(data)
        self.n_bytes += len(data)
        self.n_lines += data.count(b"\n")

    closed = False
    """For those who write to a file and close it: it is closed with its archive."""

    def close(self) -> None:
        """Leave it open."""

    def flush(self) -> None:
        """Leave what is written where it is."""

    def tell(self) -> int:
        """Return how much has been written."""
        return self.n_bytes

    def digest(self) -> str:
        """Return the SHA-256 of what has been written."""
        return self._sha256.hexdigest()

    def rewound(self) -> IO[bytes]:
        """Return the file at its beginning."""
        self._file.seek(0)
        return self._file


class Archive:
    """A zip or a tar that is written once, from its first byte to its last; its last file is SHA256SUMS.

    `scratch` is a folder for what grows meanwhile. A zip keeps about 1 kB of memory for each of its files, which is
    the form's own; a tar keeps nothing.
    """

    def __init__(self, target: BinaryIO, kind: str, scratch: Path) -> None:
        self._scratch = scratch
        self._parts: dict[str, Part] = {}
        self._zip = zipfile.ZipFile(target, "w", allowZip64=True) if kind == "zip" else None
        self._tar = tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) if kind == "tar" else None  # noqa: SIM115 - closed by close()
        if self._zip is None and self._tar is None:
            raise ValueError(f"an archive is one of {', '.join(ARCHIVES)}, not {kind!r}")
        self._files = ExitStack()
        self._sums = self._aside(SUMS)
        self.n_files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._files:
            if kind is None:
                self.close()
            else:
                self._give_up()

    def put(self, name: str, data: bytes) -> None:
        """Add a whole file, as it is (pictures do not shrink)."""
        self._sum(name, hashlib.sha256(data).hexdigest())
        self._add(name, io.BytesIO(data), len(data), zipfile.ZIP_STORED)

    def part(self, name: str) -> Part:
        """Return the text file of that name, new and empty when it is first asked for."""
        if name not in self._parts:
            self._parts[name] = self._aside(name)
        return self._parts[name]

    def part_names(self, prefix: str = "") -> list[str]:
        """Return the names of the text files so far that begin so, in the order in which they were begun."""
        return [name for name in self._parts if name.startswith(prefix)]

    def take(self, name: str) -> Part | None:
        """Return a part for other use than as a file of the archive, at its beginning; None where there is none."""
        return self._parts.pop(name, None)

    def close(self) -> None:
        """Add what grew, then the checksums of all files."""
        for part in (*self._parts.values(), self._sums):
            if part is not self._sums:
                self._sum(part.name, part.digest())
            self._add(part.name, part.rewound(), part.n_bytes, zipfile.ZIP_DEFLATED)
        if self._zip is not None:
            self._zip.close()
        if self._tar is not None:
            self._tar.close()

    def _give_up(self) -> None:
        """Write no end: half an archive must not look like a whole one, and its file may be closed already."""
        if self._zip is not None:
            self._zip.fp = None
        if self._tar is not None:
            self._tar.fileobj.closed = True  # type: ignore[attr-defined]

    def _aside(self, name: str) -> Part:
        return Part(name, self._files.enter_context(tempfile.TemporaryFile(dir=self._scratch, buffering=_CHUNK)))

    def _sum(self, name: str, digest: str) -> None:
        self.n_files += 1
        self._sums.write(f"{digest}  {name}\n".encode())

    def _add(self, name: str, source: IO[bytes], n_bytes: int, compression: int) -> None:
        if self._zip is not None:
            info = zipfile.ZipInfo(name, _LONG_AGO)
            info.compress_type, info.external_attr, info.file_size = compression, _MODE << 16, n_bytes
            info._compresslevel = _FAST if compression == zipfile.ZIP_DEFLATED else None  # type: ignore[attr-defined]
            with self._zip.open(info, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _CHUNK)
        if self._tar is not None:
            member = tarfile.TarInfo(name)
            member.size, member.mode = n_bytes, _MODE
            self._tar.addfile(member, source)
            # Else it remembers every file to its end.
            self._tar.members = []  # type: ignore[attr-defined]
