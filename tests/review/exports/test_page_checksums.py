"""What a data set shows is what was opened and read, or there is no data set."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from review.actions.exports import request_snapshot_export
from review.exports.samples import PageChangedError
from review.exports.snapshot_formats import FORMATS
from review.models import AuditEntry, Page, Snapshot, WorkState
from review.selectors.access import Actor
from review.tasks_exports import write_export
from tests.conftest import Cast
from tests.review.conftest import picture
from tests.review.snapshots import SIZE, add_reviewed, taken, written

CONFIRMED = ("confirmed", "2018-12-25")
WITH_PICTURES = [name for name, build in FORMATS.items() if build is not None]


def remove(name: str) -> None:
    default_storage.delete(name)


def repaint(name: str) -> None:
    """A picture of the same size in pixels that says something else."""
    Path(default_storage.path(name)).write_bytes(picture("8.00", size=SIZE))


def flip_a_bit(name: str) -> None:
    path = Path(default_storage.path(name))
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)


@pytest.fixture
def snapshot(cast: Cast) -> Snapshot:
    """A receipt of two pages that was read right, and one of one page that was read wrong."""
    add_reviewed(cast.document_type, "right", n_pages=2)
    add_reviewed(cast.document_type, "wrong", verdicts={"/company": ("corrected", "BOOK"), "/date": CONFIRMED})
    return taken(cast.project)


@pytest.fixture
def second_page(snapshot: Snapshot) -> Page:
    return Page.objects.get(page_number=2)


# A document of two pages is none of SROIE's; nothing was wrong on its second one, and nothing is known to stand there.
@pytest.mark.parametrize("name", sorted({*WITH_PICTURES} - {"sroie", "preference", "paddleocr_rec"}))
@pytest.mark.parametrize("harm", [remove, repaint, flip_a_bit])
def test_no_format_shows_a_page_that_is_not_what_was_opened(
    snapshot: Snapshot, second_page: Page, tmp_path: Path, name: str, harm: Callable[[str], None]
) -> None:
    written(snapshot, name, tmp_path)
    harm(str(second_page.image.name))
    with pytest.raises(PageChangedError, match=f"^page 2 of document {second_page.document_id}$"):
        written(snapshot, name, tmp_path)


@pytest.mark.parametrize("name", ["sroie", "preference", "paddleocr_rec"])
def test_nor_do_those_that_take_only_some_pages(snapshot: Snapshot, tmp_path: Path, name: str) -> None:
    for page in Page.objects.filter(page_number=1):
        repaint(str(page.image.name))
    with pytest.raises(PageChangedError, match=r"^page 1 of document"):
        written(snapshot, name, tmp_path)


def test_formats_without_pictures_do_not_need_them(snapshot: Snapshot, second_page: Page, tmp_path: Path) -> None:
    remove(str(second_page.image.name))
    assert written(snapshot, "jsonl", tmp_path)


def test_a_page_of_which_no_checksum_was_kept_is_taken_as_it_is(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "r")
    Page.objects.update(image_sha256="")
    snapshot = taken(cast.project)
    repaint(str(Page.objects.get().image.name))
    assert written(snapshot, "trl", tmp_path)


def test_the_export_fails_and_says_which_page_it_was(
    cast: Cast, snapshot: Snapshot, second_page: Page, client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    repaint(str(second_page.image.name))
    export = request_snapshot_export(actor=Actor(cast.manager), snapshot=snapshot, format="trl")
    write_export(export.pk)
    export.refresh_from_db()
    place = {"document_id": second_page.document_id, "page_number": 2}
    assert (export.state, export.error_code, export.error_detail) == (WorkState.FAILED, "page_changed", place)
    assert not export.file
    assert AuditEntry.objects.get(action="export.failed").detail == {"error": "page_changed", **place}
    client.force_login(cast.manager)
    shown = client.get(reverse("dataset", kwargs={"slug": cast.project.slug, "snapshot_id": snapshot.pk}))
    link = reverse("document", kwargs={"slug": cast.project.slug, "document_id": second_page.document_id})
    assert f'(<a href="{link}">document {second_page.document_id}, page 2</a>)' in shown.content.decode()


def test_the_command_says_which_page_and_what_to_do(snapshot: Snapshot, second_page: Page, tmp_path: Path) -> None:
    repaint(str(second_page.image.name))
    folder = tmp_path / "exported"
    folder.mkdir()
    with pytest.raises(CommandError, match=f"page 2 of document {second_page.document_id} is missing or is .* back"):
        call_command("export", snapshot=str(snapshot.pk), format="trl", out=folder / "out.zip")
    assert list(folder.iterdir()) == []


def test_a_frozen_page_knows_the_checksum_of_its_file(snapshot: Snapshot) -> None:
    for item in snapshot.items.all():
        for page in item.pages:
            with default_storage.open(page["image"]) as file:
                assert page["image_sha256"] == hashlib.sha256(file.read()).hexdigest()
