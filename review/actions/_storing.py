"""Files to storage: streamed, bounded, hashed, and named by their content, so that a retry leaves no second copy.

Every file is complete under its final name or not there at all: it is written beside the media folder and moved.
"""

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import Storage, default_storage
from django.db import OperationalError

from inference.errors import UnreadableFileError
from review.exceptions import StorageFullError

CHUNK_BYTES = 1024 * 1024
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A local copy of an upload with its SHA-256 (hex) and its size."""

    path: Path
    sha256: str
    n_bytes: int


class _MovableFile(File):  # type: ignore[type-arg]
    """A local file that the file system storage may move instead of copying it."""

    def temporary_file_path(self) -> str:
        """Return where the file lies: what Django looks for in an upload that it may move."""
        return str(self.name)


@contextmanager
def minding_space() -> Iterator[None]:
    """Turn "no space left", from the file system or from the database, into StorageFullError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFullError from error
        raise
    except OperationalError as error:
        cause = error.__cause__
        if getattr(cause, "sqlite_errorname", "") == "SQLITE_FULL" or getattr(cause, "sqlstate", "") == "53100":
            raise StorageFullError from error
        raise


@contextmanager
def staged(file: File, max_bytes: int) -> Iterator[StagedFile]:  # type: ignore[type-arg]
    """Yield the upload as a local file, hashed; raise UnreadableFileError once it is longer than `max_bytes`.

    An upload that lies on disk already (Django's temporary files) is taken as it is, anything else is copied. What
    is left of the copy at the end is removed.
    """
    given = getattr(file, "temporary_file_path", None)
    if given is not None:
        yield _hashed(Path(given()), file, max_bytes, copy_to=None)
        return
    descriptor, name = tempfile.mkstemp(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="upload-")
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as target:
            upload = _hashed(path, file, max_bytes, copy_to=target.fileno())
        yield upload
    finally:
        path.unlink(missing_ok=True)


def _hashed(path: Path, file: File, max_bytes: int, *, copy_to: int | None) -> StagedFile:  # type: ignore[type-arg]
    digest, n_bytes = hashlib.sha256(), 0
    for chunk in file.chunks(CHUNK_BYTES):
        n_bytes += len(chunk)
        if n_bytes > max_bytes:
            raise UnreadableFileError("too_many_bytes")
        digest.update(chunk)
        if copy_to is not None:
            _write_all(copy_to, chunk)
    if copy_to is not None:
        os.fsync(copy_to)
    return StagedFile(path, digest.hexdigest(), n_bytes)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def keep_file(name: str, path: Path, n_bytes: int, storage: Storage = default_storage) -> None:
    """Put the local file at `path` into storage under a name that tells its content; it may be moved away.

    Where a whole file of that name is there already, nothing is written. Raises StorageFullError; then nothing of
    this file is left under the name.
    """
    if storage.exists(name):
        if storage.size(name) == n_bytes:
            return
        # A half that a full disk or a dead host left: other bytes than the name says.
        storage.delete(name)
    try:
        with minding_space(), path.open("rb") as source:
            saved = storage.save(name, _MovableFile(source, name=str(path)))
    except StorageFullError:
        if storage.exists(name) and storage.size(name) != n_bytes:
            storage.delete(name)
        raise
    if saved != name:
        # Somebody stored the same bytes meanwhile; theirs stay, ours got another name.
        storage.delete(saved)


def keep_bytes(name: str, data: bytes, storage: Storage = default_storage) -> None:
    """Put `data` into storage under a name that tells its content; raise StorageFullError."""
    if storage.exists(name) and storage.size(name) == len(data):
        return
    with minding_space():
        descriptor, temporary = tempfile.mkstemp(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="page-")
        path = Path(temporary)
        try:
            with os.fdopen(descriptor, "wb") as target:
                _write_all(target.fileno(), data)
                os.fsync(target.fileno())
            keep_file(name, path, len(data), storage)
        finally:
            path.unlink(missing_ok=True)
