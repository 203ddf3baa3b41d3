"""The list of documents, its rows as they move, and sending files."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from review.actions.recovery import note_models
from review.exceptions import StorageFullError
from review.models import Document, Event, Membership, WorkerHeartbeat
from review.web.views import documents as view
from tests import factories
from tests.conftest import Cast
from tests.review.vlm import read_with_vlm
from tests.review.web.conftest import picture

pytestmark = pytest.mark.django_db


@pytest.fixture
def _worker(db: None) -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="w", n_workers=2, engine_name="scripted", started_at=now, seen_at=now)


def listed(client: Client, cast: Cast, **filters: Any) -> list[str]:
    html = client.get(reverse("documents", args=[cast.project.slug]), filters).content.decode()
    return re.findall(r'<tr id="document-\d+".*?>\s*<th scope="row"><a [^>]*>([^<]*)</a>', html)


def page(client: Client, cast: Cast, **filters: Any) -> str:
    return client.get(reverse("documents", args=[cast.project.slug]), filters).content.decode()


# --- the list ----------------------------------------------------------------------------------------------------


def test_newest_come_first_and_other_projects_stay_out(viewer: Client, cast: Cast) -> None:
    for name in ("first.jpg", "second.jpg"):
        factories.make_document(cast.document_type, filename=name)
    factories.make_document(cast.other_document_type, filename="foreign.jpg")
    assert listed(viewer, cast) == ["second.jpg", "first.jpg"]


def test_a_file_name_with_markup_is_shown_as_text(viewer: Client, cast: Cast) -> None:
    factories.make_document(cast.document_type, filename="<img src=x onerror=alert(1)>.jpg")
    html = page(viewer, cast)
    assert "<img src=x" not in html
    assert "&lt;img src=x" in html


def test_older_documents_follow_by_id_without_gap_or_overlap(
    viewer: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "PAGE_SIZE", 2)
    names = [f"{number}.jpg" for number in range(5)]
    for name in names:
        factories.make_document(cast.document_type, filename=name)
    seen: list[str] = []
    address = reverse("documents", args=[cast.project.slug])
    while address:
        html = viewer.get(address).content.decode()
        seen += re.findall(r'<th scope="row"><a [^>]*>([^<]*)</a>', html)
        older = re.search(r'href="(\?[^"]*)" rel="next"', html)
        address = reverse("documents", args=[cast.project.slug]) + older[1] if older else ""
    assert seen == names[::-1]


def test_a_full_last_page_offers_no_empty_one(viewer: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "PAGE_SIZE", 2)
    for _ in range(2):
        factories.make_document(cast.document_type)
    assert 'rel="next"' not in page(viewer, cast)


def test_paging_keeps_the_filters(viewer: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "PAGE_SIZE", 1)
    for _ in range(2):
        factories.make_document(cast.document_type, status="stored", band="auto")
    older = re.search(r'href="(\?[^"]*)" rel="next"', page(viewer, cast, status="stored"))
    assert older is not None
    assert "status=stored" in older[1]


@pytest.mark.usefixtures("_worker")
def test_the_list_costs_the_same_number_of_queries_however_long(
    viewer: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    factories.make_document(cast.document_type, uploaded_by=cast.reviewer)
    page(viewer, cast)
    with django_assert_num_queries(11) as short:
        page(viewer, cast)
    for _ in range(20):
        factories.make_document(cast.document_type, uploaded_by=cast.reviewer)
    with django_assert_num_queries(len(short)):
        page(viewer, cast)


@pytest.mark.usefixtures("_worker")
@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"status": "stored"}, ["sampled.jpg", "auto.jpg"]),
        ({"status": "review"}, ["review.jpg"]),
        ({"status": "received"}, ["new.jpg"]),
        ({"status": "waiting"}, []),
        ({"band": "sampled"}, ["sampled.jpg"]),
        ({"status": "stored", "band": "auto"}, ["auto.jpg"]),
        ({"type": "invoice"}, ["invoice.jpg"]),
        ({"type": "receipt", "status": "unreadable"}, []),
        ({"status": "no such status"}, ["invoice.jpg", "review.jpg", "sampled.jpg", "auto.jpg", "new.jpg"]),
        ({"before": "not a number"}, ["invoice.jpg", "review.jpg", "sampled.jpg", "auto.jpg", "new.jpg"]),
    ],
)
def test_filters_narrow_the_list(viewer: Client, cast: Cast, filters: dict[str, str], names: list[str]) -> None:
    invoice = factories.make_document_type(cast.project, "invoice")
    factories.make_document(cast.document_type, filename="new.jpg")
    factories.make_document(cast.document_type, filename="auto.jpg", status="stored", band="auto")
    factories.make_document(cast.document_type, filename="sampled.jpg", status="stored", band="sampled")
    factories.make_document(cast.document_type, filename="review.jpg", status="review", band="review")
    factories.make_document(invoice, filename="invoice.jpg", status="unreadable")
    assert listed(viewer, cast, **filters) == names


def test_without_a_worker_the_page_says_what_waits_for_what(viewer: Client, cast: Cast) -> None:
    factories.make_document(cast.document_type)
    html = page(viewer, cast)
    assert "waiting: no worker" in html
    assert "manage.py work" in html
    assert listed(viewer, cast, status="waiting") != []


@pytest.mark.usefixtures("_worker")
def test_with_a_worker_nothing_is_said_to_wait(viewer: Client, cast: Cast) -> None:
    factories.make_document(cast.document_type, filename="a.jpg")
    html = page(viewer, cast)
    assert "No worker is running" not in html
    assert 'class="status received"' in html


@pytest.mark.usefixtures("_worker")
def test_while_the_language_model_is_away_the_page_says_what_waits_for_it(viewer: Client, cast: Cast) -> None:
    version = read_with_vlm(cast.project)
    factories.make_document(cast.document_type, filename="a.jpg", status="processing")
    assert "model server away" not in page(viewer, cast)
    note_models(name="w", errors={version.pk: "engine_unavailable"})
    html = page(viewer, cast)
    assert "waiting: model server away" in html
    assert "It goes on by itself when the server is back" in html
    assert 'class="status waiting"' in html
    assert listed(viewer, cast, status="waiting") == ["a.jpg"]
    assert listed(viewer, cast, status="processing") == []


def test_workers_without_their_engine_are_named(viewer: Client, cast: Cast) -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(
        name="w", n_workers=1, engine_error="engine_unavailable", started_at=now, seen_at=now
    )
    assert "cannot start their reader" in page(viewer, cast)


@pytest.mark.usefixtures("_worker")
def test_progress_of_pages_is_shown(viewer: Client, cast: Cast) -> None:
    factories.make_document(cast.document_type, status="processing", n_pages=12, n_pages_read=5)
    html = page(viewer, cast)
    assert '<progress max="12" value="5"' in html
    assert "5 / 12" in html


def test_reasons_are_sentences_and_duplicates_link_to_the_first(viewer: Client, cast: Cast) -> None:
    first = factories.make_document(cast.document_type, status="review", band="review", reasons=["low_confidence"])
    factories.make_document(
        cast.document_type, status="review", band="review", reasons=["duplicate", "low_confidence"], duplicate_of=first
    )
    html = page(viewer, cast)
    assert "the same file was sent before; the reading is not sure enough" in html
    assert "low_confidence" not in html
    assert html.count(reverse("document", args=[cast.project.slug, first.pk])) == 2


@pytest.mark.parametrize(
    ("who", "filters", "words"),
    [
        ("reviewer", {}, "Drop some files above"),
        ("viewer", {}, "as soon as somebody sends some"),
        ("viewer", {"status": "stored"}, "Choose others, or show all"),
    ],
)
def test_an_empty_list_says_what_to_do(
    clients: dict[str, Client], cast: Cast, who: str, filters: dict[str, str], words: str
) -> None:
    assert words in page(clients[who], cast, **filters)


def test_the_queue_is_summed_up_beside_the_heading(viewer: Client, cast: Cast) -> None:
    assert "a person, " not in page(viewer, cast)
    factories.make_routed(cast.document_type)
    assert "1 waits for a person, for" in page(viewer, cast)
    factories.make_routed(cast.document_type)
    assert "2 wait for a person, the oldest for" in page(viewer, cast)


def test_the_page_knows_from_which_event_on_to_listen(viewer: Client, cast: Cast) -> None:
    event = Event.objects.create(project=cast.project, name="document.received", payload={})
    html = page(viewer, cast)
    assert f'data-socket="/ws/projects/{cast.project.slug}/events/" data-after="{event.pk}" data-gaps="[' in html


# --- rows --------------------------------------------------------------------------------------------------------


def rows(client: Client, cast: Cast, **query: Any) -> str:
    return client.get(reverse("document_rows", args=[cast.project.slug]), query).content.decode()


def test_rows_that_moved_come_as_they_stand(viewer: Client, cast: Cast) -> None:
    one, two = (factories.make_document(cast.document_type, status="stored", band="auto") for _ in range(2))
    factories.make_document(cast.document_type)
    html = rows(viewer, cast, ids=f"{one.pk},{two.pk}")
    assert re.findall(r'id="document-(\d+)"', html) == [str(two.pk), str(one.pk)]
    assert "<html" not in html


def test_a_row_that_left_the_filter_says_so(viewer: Client, cast: Cast) -> None:
    document = factories.make_document(cast.document_type, status="stored", band="auto")
    assert "data-left" in rows(viewer, cast, ids=document.pk, status="review")
    assert "data-left" not in rows(viewer, cast, ids=document.pk, status="stored")


def test_rows_of_another_project_are_not_given(viewer: Client, cast: Cast) -> None:
    foreign = factories.make_document(cast.other_document_type)
    assert "document-" not in rows(viewer, cast, ids=foreign.pk)


@pytest.mark.parametrize("ids", ["", "x", "-1", "1,,2", "9" * 40, "٣"])
def test_ids_that_are_none_give_no_rows(viewer: Client, cast: Cast, ids: str) -> None:
    assert viewer.get(reverse("document_rows", args=[cast.project.slug]), {"ids": ids}).status_code == 200


def test_strangers_get_no_rows(stranger: Client, cast: Cast) -> None:
    assert stranger.get(reverse("document_rows", args=[cast.project.slug]), {"ids": "1"}).status_code == 404


# --- sending -----------------------------------------------------------------------------------------------------


def file(name: str = "a.jpg", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, picture() if content is None else content)


@pytest.fixture
def _real(db: None, settings: Settings) -> None:
    """Actions open durable transactions; nothing is read here."""


def send(client: Client, cast: Cast, *files: SimpleUploadedFile, as_json: bool = True, **more: str) -> Any:
    headers = {"accept": "application/json"} if as_json else {"accept": "text/html,*/*"}
    body = {"document_type": "receipt", "files": list(files), **more}
    return client.post(reverse("upload", args=[cast.project.slug]), body, headers=headers)


@pytest.mark.usefixtures("_real")
class TestSending:
    def test_a_file_is_accepted_and_linked(self, reviewer: Client, cast: Cast) -> None:
        response = send(reviewer, cast, file("receipt 1.jpg"))
        answer = json.loads(response.content)
        document = Document.objects.get()
        assert response.status_code == 201
        assert answer["url"] == reverse("document", args=[cast.project.slug, document.pk])
        assert answer["is_duplicate"] is False
        assert (document.filename, document.uploaded_by, document.project) == (
            "receipt 1.jpg",
            cast.reviewer,
            cast.project,
        )

    def test_a_second_copy_is_named_and_leads_to_the_first(self, reviewer: Client, cast: Cast) -> None:
        first = json.loads(send(reviewer, cast, file()).content)
        answer = json.loads(send(reviewer, cast, file("copy.jpg")).content)
        assert answer["is_duplicate"] is True
        assert answer["original_url"] == first["url"]
        assert "sent before" in answer["message"]

    @pytest.mark.parametrize(
        ("content", "code", "words"),
        [
            (b"", "empty_file", "This file is empty"),
            (b"just some text, no picture at all", "unknown_type", "not a scan"),
            (picture()[:600], "truncated", "cut short"),
        ],
    )
    def test_a_refused_file_says_why_and_what_to_do(
        self, reviewer: Client, cast: Cast, content: bytes, code: str, words: str
    ) -> None:
        response = send(reviewer, cast, file(content=content))
        answer = json.loads(response.content)
        assert response.status_code == 422
        assert answer["code"] == code
        assert words in answer["message"]
        assert "url" not in answer
        assert not Document.objects.exists()

    def test_a_full_storage_says_that_nothing_was_accepted(
        self, reviewer: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(**arguments: Any) -> None:
            raise StorageFullError

        monkeypatch.setattr(view, "receive_document", full)
        response = send(reviewer, cast, file())
        assert response.status_code == 507
        assert "Nothing was accepted" in json.loads(response.content)["message"]

    def test_without_a_script_many_files_go_at_once_each_with_its_outcome(self, reviewer: Client, cast: Cast) -> None:
        sent = (file("a.jpg"), file("b.jpg", picture(10)), file("again.jpg"), file("bad.jpg", b""))
        response = send(reviewer, cast, *sent, as_json=False)
        assert response["Location"] == reverse("documents", args=[cast.project.slug])
        html = reviewer.get(response["Location"]).content.decode()
        assert "a.jpg: Accepted" in html
        assert "b.jpg: Accepted" in html
        assert "again.jpg: The same file was sent before" in html
        assert "bad.jpg: This file is empty" in html
        assert Document.objects.count() == 3

    @pytest.mark.parametrize("as_json", [True, False])
    def test_no_file_at_all_is_said(self, reviewer: Client, cast: Cast, as_json: bool) -> None:
        response = send(reviewer, cast, as_json=as_json)
        told = response if as_json else reviewer.get(response["Location"])
        assert response.status_code == (400 if as_json else 302)
        assert "No file was chosen" in told.content.decode()

    @pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("stranger", 404), ("nobody", 302), ("manager", 201)])
    def test_only_members_who_may_review_send(
        self, clients: dict[str, Client], cast: Cast, who: str, status: int
    ) -> None:
        assert send(clients[who], cast, file()).status_code == status
        assert Document.objects.count() == (1 if status == 201 else 0)

    def test_a_type_of_another_project_is_unknown_here(self, reviewer: Client, cast: Cast) -> None:
        factories.make_document_type(cast.other_project, "secret")
        assert send(reviewer, cast, file(), document_type="secret").status_code == 404
        assert not Document.objects.exists()

    def test_sending_needs_the_forms_token(self, cast: Cast) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(cast.reviewer, backend="django.contrib.auth.backends.ModelBackend")
        assert send(client, cast, file()).status_code == 403


def test_the_type_that_was_sent_last_is_offered_first(reviewer: Client, cast: Cast) -> None:
    factories.make_document(factories.make_document_type(cast.project, "bill"))
    assert '<option value="bill" selected>' in page(reviewer, cast)
    factories.make_document(cast.document_type)
    assert '<option value="receipt" selected>' in page(reviewer, cast)


def test_viewers_are_offered_no_upload(viewer: Client, reviewer: Client, cast: Cast) -> None:
    assert 'id="upload-form"' not in page(viewer, cast)
    assert 'id="upload-form"' in page(reviewer, cast)


def test_a_project_without_types_says_who_adds_one(admin: Client, cast: Cast) -> None:
    empty = factories.make_project("empty")
    Membership.objects.create(project=empty, user=cast.admin, role="reviewer")
    html = admin.get(reverse("documents", args=["empty"])).content.decode()
    assert "no document type yet" in html
    assert 'id="upload-form"' not in html
