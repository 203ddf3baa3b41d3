"""Pages and originals of a document are served to those who may see it."""

import re

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from review.models import (
    WorkerHeartbeat,
)
from tests import factories
from tests.conftest import Cast
from tests.review.web.conftest import BACKEND
from tests.review.web.views.document_page import page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _worker(db: None) -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="w", n_workers=1, engine_name="scripted", started_at=now, seen_at=now)


def test_boxes_stand_in_pixels_of_their_page_and_name_their_field(viewer: Client, cast: Cast) -> None:
    html = page(viewer, factories.make_routed(cast.document_type))
    assert 'viewBox="0 0 800 1600"' in html
    assert '<rect x="80" y="160" width="240" height="160">' in html
    boxes = set(re.findall(r'<g class="box" data-field="(field-\d+)"', html))
    buttons = set(re.findall(r'<button [^>]*data-field="(field-\d+)"', html))
    assert boxes == buttons == {"field-0", "field-1", "field-2"}
    assert 'aria-label="Show the field Total"' in html


def test_the_page_image_is_sent_and_kept_by_the_browser(viewer: Client, cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    address = reverse("page_image", args=[cast.project.slug, document.pk, 1])
    response = viewer.get(address)
    assert b"".join(response.streaming_content) == b"page"  # type: ignore[attr-defined]
    assert response["Content-Type"] == "image/jpeg"
    assert "private" in response["Cache-Control"]
    again = viewer.get(address, headers={"if-none-match": response["ETag"]})
    assert again.status_code == 304


def test_the_original_comes_byte_for_byte_as_a_download(viewer: Client, cast: Cast) -> None:
    document = factories.make_document(cast.document_type, filename='收据 "1".html', media_type="text/html")
    response = viewer.get(reverse("original", args=[cast.project.slug, document.pk]))
    body = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    assert response["Content-Length"] == str(len(body))
    with document.original.open() as stored:
        assert body == stored.read()
    assert response["Content-Disposition"].startswith("attachment")
    assert "sandbox" in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.django_db(transaction=True)
async def test_the_asgi_server_streams_it_too(cast: Cast) -> None:
    client = AsyncClient()
    await client.aforce_login(cast.viewer, backend=BACKEND)
    document = await sync_to_async(factories.make_document)(cast.document_type)
    response = await client.get(reverse("original", args=[cast.project.slug, document.pk]))
    assert b"".join([chunk async for chunk in response]).startswith(b"document ")  # type: ignore[attr-defined]
    await sync_to_async(connections.close_all)()


@pytest.mark.parametrize("name", ["original", "page_image"])
def test_a_file_the_storage_lost_is_not_found(viewer: Client, cast: Cast, name: str) -> None:
    document = factories.make_routed(cast.document_type)
    document.original.storage.delete(document.original.name or "")
    document.pages.get().image.storage.delete(document.pages.get().image.name or "")
    arguments = [cast.project.slug, document.pk, *([1] if name == "page_image" else [])]
    assert viewer.get(reverse(name, args=arguments)).status_code == 404


@pytest.mark.parametrize("name", ["document", "original", "page_image"])
@pytest.mark.parametrize(("who", "status"), [("stranger", 404), ("nobody", 302)])
def test_strangers_see_neither_page_nor_files(
    clients: dict[str, Client], cast: Cast, name: str, who: str, status: int
) -> None:
    document = factories.make_routed(cast.document_type)
    arguments = [document.pk, *([1] if name == "page_image" else [])]
    assert clients[who].get(reverse(name, args=[cast.project.slug, *arguments])).status_code == status
    if who == "stranger":
        assert clients[who].get(reverse(name, args=[cast.other_project.slug, *arguments])).status_code == 404
