"""Stored files as tasks need them, wherever the storage is."""

from pathlib import Path

import numpy as np
import pytest
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, default_storage
from pytest_django import Settings

from inference.errors import UnreadableFileError
from inference.imaging.hashing import content_hash
from inference.imaging.pages import decode_page, encode_page
from inference.types import PageImage
from review import tasks_files
from review.tasks_files import load_page, local_path


class RemoteStorage(FileSystemStorage):
    """Has files, but no local paths, like a bucket."""

    def path(self, name: str) -> str:
        raise NotImplementedError

    def _open(self, name: str, mode: str = "rb") -> File:  # type: ignore[type-arg]
        return File((Path(self.location) / name).open("rb"))


def test_a_local_file_is_read_where_it_lies() -> None:
    name = default_storage.save("original", ContentFile(b"scan"))
    with local_path(name) as path:
        assert path == Path(default_storage.path(name))
        assert path.read_bytes() == b"scan"
    assert path.exists()


def test_a_remote_storage_is_read_through_a_copy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    name = default_storage.save("original", ContentFile(b"scan"))
    monkeypatch.setattr(tasks_files, "default_storage", RemoteStorage())
    with local_path(name) as path:
        assert path.read_bytes() == b"scan"
        assert path.is_relative_to(tmp_path)
        assert path != Path(default_storage.path(name))
    assert not path.exists()


def test_a_page_is_loaded_with_its_number() -> None:
    data = encode_page(PageImage(np.full((20, 30, 3), 200, np.uint8)))
    page = load_page(default_storage.save("page.jpg", ContentFile(data)), 3)
    assert page.page_number == 3
    assert content_hash(page) == content_hash(decode_page(data))


def test_a_page_that_is_no_picture_says_so() -> None:
    with pytest.raises(UnreadableFileError):
        load_page(default_storage.save("page.jpg", ContentFile(b"no picture")), 1)
