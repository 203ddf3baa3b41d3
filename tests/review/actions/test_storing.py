"""A stored file is whole or absent, whatever the disk does."""

import errno
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import OperationalError
from pytest_django import Settings

from inference.errors import UnreadableFileError
from review.actions import _storing
from review.actions._storing import keep_bytes, keep_file, minding_space, staged
from review.exceptions import StorageFullError


@pytest.fixture(autouse=True)
def incoming(settings: Settings, tmp_path: Path) -> Path:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    return Path(settings.FILE_UPLOAD_TEMP_DIR)


class FullStorage(FileSystemStorage):
    """Writes the first half under the final name, then the disk is full."""

    def _save(self, name: str, content: Any) -> str:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.read()[: content.size // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_bytes_are_stored_under_their_name(incoming: Path) -> None:
    keep_bytes("a/b.jpg", b"page")
    assert Path(default_storage.path("a/b.jpg")).read_bytes() == b"page"
    assert files(incoming) == []


def test_what_is_there_is_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_bytes("a/b.jpg", b"page")
    before = Path(default_storage.path("a/b.jpg")).stat()
    keep_bytes("a/b.jpg", b"page")
    after = Path(default_storage.path("a/b.jpg")).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_half_written_file_is_replaced(tmp_path: Path) -> None:
    path = Path(default_storage.path("a/b.jpg"))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"pa")
    keep_bytes("a/b.jpg", b"page")
    assert path.read_bytes() == b"page"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, incoming: Path) -> None:
    storage = FullStorage(location=tmp_path / "full")
    source = tmp_path / "source"
    source.write_bytes(b"x" * 1000)
    with pytest.raises(StorageFullError):
        keep_file("a/b", source, 1000, storage)
    assert files(tmp_path / "full") == []
    assert source.read_bytes() == b"x" * 1000


def test_a_full_disk_while_a_page_is_written_leaves_nothing_behind(tmp_path: Path, incoming: Path) -> None:
    with pytest.raises(StorageFullError):
        keep_bytes("a/b", b"x" * 1000, FullStorage(location=tmp_path / "full"))
    assert files(tmp_path / "full") == files(incoming) == []


@pytest.fixture
def small_files_only() -> Iterator[None]:
    """The kernel itself refuses to let any file grow above 64 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_limit_of_the_kernel_is_a_full_disk(small_files_only: None, incoming: Path) -> None:
    with pytest.raises(StorageFullError), minding_space(), staged(ContentFile(b"x" * 100_000), 10**6):
        pytest.fail("more was staged than fits")
    assert files(incoming) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_space_has_one_name(number: int) -> None:
    with pytest.raises(StorageFullError), minding_space():
        raise OSError(number, "")


def test_other_failures_of_the_disk_stay_what_they_are() -> None:
    with pytest.raises(PermissionError), minding_space():
        raise OSError(errno.EACCES, "")


@pytest.mark.parametrize(("attribute", "value"), [("sqlite_errorname", "SQLITE_FULL"), ("sqlstate", "53100")])
def test_a_database_without_space_is_a_full_disk(attribute: str, value: str) -> None:
    cause = Exception()
    setattr(cause, attribute, value)
    with pytest.raises(StorageFullError), minding_space():
        raise OperationalError from cause


def test_other_failures_of_the_database_stay_what_they_are() -> None:
    with pytest.raises(OperationalError), minding_space():
        raise OperationalError("database is locked")


def test_a_staged_file_knows_its_hash_and_size(incoming: Path) -> None:
    with staged(ContentFile(b"abc"), 3) as upload:
        assert upload.path.read_bytes() == b"abc"
        assert upload.n_bytes == 3
        assert upload.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert files(incoming) == []


def test_one_byte_too_many_is_refused(incoming: Path) -> None:
    with pytest.raises(UnreadableFileError) as refused, staged(ContentFile(b"abcd"), 3):
        pytest.fail("it was accepted")
    assert refused.value.code == "too_many_bytes"


def test_writes_that_the_kernel_cuts_short_are_completed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, bytes(data[:3])))
    with (tmp_path / "out").open("wb") as target:
        _storing._write_all(target.fileno(), b"0123456789")
    assert (tmp_path / "out").read_bytes() == b"0123456789"


def test_the_same_bytes_stored_at_the_same_moment_stay_one_file(tmp_path: Path) -> None:
    """Between our look and our write somebody else stores the same content."""

    class Racing(FileSystemStorage):
        def exists(self, name: str) -> bool:
            if name == "a/b" and not Path(self.path(name)).exists():
                Path(self.path(name)).parent.mkdir(parents=True, exist_ok=True)
                Path(self.path(name)).write_bytes(b"same")
                return False
            return super().exists(name)

    storage = Racing(location=tmp_path / "racing")
    source = tmp_path / "source"
    source.write_bytes(b"same")
    keep_file("a/b", source, 4, storage)
    assert [path.read_bytes() for path in files(tmp_path / "racing")] == [b"same"]
