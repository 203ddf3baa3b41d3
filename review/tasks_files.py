"""Originals and pages from the storage, as tasks need them: local files and rasters."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage

from inference.imaging.pages import decode_page
from inference.types import PageImage


@contextmanager
def local_path(name: str) -> Iterator[Path]:
    """Yield a stored file as a local one: where it lies, or a copy from a remote storage."""
    try:
        yield Path(default_storage.path(name))
    except NotImplementedError:
        with (
            default_storage.open(name) as source,
            tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as copy,
        ):
            shutil.copyfileobj(source, copy)
            copy.flush()
            yield Path(copy.name)


def load_page(name: str, page_number: int) -> PageImage:
    """Return a page's raster from storage; raise UnreadableFileError."""
    with default_storage.open(name) as file:
        return decode_page(file.read(), page_number)
