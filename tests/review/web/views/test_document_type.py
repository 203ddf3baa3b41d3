"""What a document looks like is said where people decide, and it takes one act to move it."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from review.models import Document, DocumentType, ReviewTask
from tests import factories
from tests.conftest import Cast
from tests.review.invoices import INVOICE

pytestmark = pytest.mark.django_db

MOVE = "Move it to “Invoice” and read it again"


@pytest.fixture
def document(cast: Cast) -> Document:
    """A receipt in review that looks like an invoice."""
    invoice = factories.make_document_type(cast.project, "invoice", INVOICE)
    DocumentType.objects.filter(pk=invoice.pk).update(labels={"en": "Invoice", "zh": "发票"})
    made = factories.make_routed(cast.document_type, band="review")
    Document.objects.filter(pk=made.pk).update(suggested_type=invoice, suggested_chance=0.934, suggested_from=40)
    return made


def hold(who: object) -> None:
    until = timezone.now() + timedelta(minutes=5)
    ReviewTask.objects.update(lease_holder=who, lease_token="t", lease_expires_at=until)


def shown(client: Client, cast: Cast, document: Document, query: str = "") -> str:
    return client.get(reverse("document", args=[cast.project.slug, document.pk]) + query).content.decode()


def address(cast: Cast, document: Document) -> str:
    return reverse("change_type", args=[cast.project.slug, document.pk])


def test_everybody_reads_what_it_looks_like_and_who_may_is_offered_the_move(
    clients: dict[str, Client], cast: Cast, document: Document
) -> None:
    for who in ("viewer", "reviewer", "manager"):
        html = shown(clients[who], cast, document)
        assert "It looks like “Invoice” (93.4 %, learned from 40 documents)." in html
        assert (MOVE in html) is (who == "manager")
        assert ("?retype" in html) is (who == "manager")
    hold(cast.reviewer)
    assert MOVE in shown(clients["reviewer"], cast, document)


def test_a_document_whose_type_will_do_says_nothing(manager: Client, cast: Cast) -> None:
    plain = factories.make_routed(cast.document_type, band="review")
    assert "looks like" not in shown(manager, cast, plain)


def test_it_moves_with_one_act(manager: Client, cast: Cast, document: Document) -> None:
    answer = manager.post(address(cast, document), {"document_type": "invoice"})
    assert answer["Location"] == reverse("document", args=[cast.project.slug, document.pk])
    document.refresh_from_db()
    assert (document.document_type.slug, document.status) == ("invoice", "received")


def test_any_type_can_be_chosen(manager: Client, cast: Cast, document: Document) -> None:
    assert 'id="retype-to"' not in shown(manager, cast, document)
    html = shown(manager, cast, document, "?retype")
    assert '<option value="invoice">Invoice</option>' in html
    assert manager.post(address(cast, document), {"document_type": "no-such"}).status_code == 404


def test_what_stands_in_the_way_is_said(manager: Client, cast: Cast, document: Document) -> None:
    Document.objects.update(status="processing")
    answer = manager.post(address(cast, document), {"document_type": "invoice"}, follow=True)
    assert "is being read already" in answer.content.decode()


def test_a_reviewer_moves_what_is_in_their_hands_only(
    clients: dict[str, Client], cast: Cast, document: Document
) -> None:
    assert clients["reviewer"].post(address(cast, document), {"document_type": "invoice"}).status_code == 403
    hold(cast.manager)
    assert clients["reviewer"].post(address(cast, document), {"document_type": "invoice"}).status_code == 403
    hold(cast.reviewer)
    for lost in ({"lease_expires_at": timezone.now()}, {"state": "done"}):
        before = ReviewTask.objects.values(*lost).get()
        ReviewTask.objects.update(**lost)
        assert clients["reviewer"].post(address(cast, document), {"document_type": "invoice"}).status_code == 403
        ReviewTask.objects.update(**before)
    assert clients["reviewer"].post(address(cast, document), {"document_type": "invoice"}).status_code == 302
    document.refresh_from_db()
    assert document.document_type.slug == "invoice"


def test_the_list_is_narrowed_to_what_looks_like_something_else(viewer: Client, cast: Cast, document: Document) -> None:
    plain = factories.make_routed(cast.document_type, band="auto", is_selected=False)
    rows = {"": {document.pk, plain.pk}, "*": {document.pk}, "invoice": {document.pk}, "receipt": set()}
    for look, expected in rows.items():
        html = viewer.get(reverse("documents", args=[cast.project.slug]), {"looks": look}).content.decode()
        assert {pk for pk in (document.pk, plain.pk) if f'id="document-{pk}"' in html} == expected
    assert "looks like “Invoice”" in viewer.get(reverse("documents", args=[cast.project.slug])).content.decode()


def test_programs_read_it_filter_by_it_and_move_it(cast: Cast, document: Document) -> None:
    client = APIClient()
    client.force_login(cast.manager)
    base = f"/api/v1/projects/{cast.project.slug}/documents/"
    expected = {"document_type": "invoice", "chance": 0.934, "n_documents": 40}
    assert client.get(f"{base}{document.pk}/").json()["suggestion"] == expected
    (row,) = client.get(base, {"suggested_type": "invoice"}).json()["results"]
    assert (row["id"], row["suggestion"]) == (document.pk, expected)
    assert client.get(base, {"suggested_type": "receipt"}).json()["results"] == []
    answer = client.post(f"{base}{document.pk}/type/", {"document_type": "invoice"}, format="json")
    assert (answer.status_code, answer.json()["document_type"], answer.json()["suggestion"]) == (202, "invoice", None)
    again = client.post(f"{base}{document.pk}/type/", {"document_type": "receipt"}, format="json")
    assert again.status_code == 409
    unknown = client.post(f"{base}{document.pk}/type/", {"document_type": "no-such"}, format="json")
    assert unknown.json()["problems"][0]["pointer"] == "/document_type"


def test_the_desk_is_told(cast: Cast, document: Document) -> None:
    client = APIClient()
    client.force_login(cast.reviewer)
    given = client.post(f"/api/v1/projects/{cast.project.slug}/review-tasks/lease/").json()
    assert given["task"]["suggestion"] == {"document_type": "invoice", "chance": 0.934, "n_documents": 40}
    page = client.get(reverse("desk", args=[cast.project.slug])).content.decode()
    assert '{"slug": "invoice", "label": "Invoice"}' in page
    assert 'data-act="type"' in page


def test_who_may_not_move_it_is_shown_no_form_for_it(
    clients: dict[str, Client], cast: Cast, document: Document
) -> None:
    for who in ("viewer", "reviewer"):
        assert 'id="retype-to"' not in shown(clients[who], cast, document, "?retype")
    hold(cast.reviewer)
    assert 'id="retype-to"' in shown(clients["reviewer"], cast, document, "?retype")


def test_nothing_is_offered_for_a_lease_that_has_run_out(reviewer: Client, cast: Cast, document: Document) -> None:
    hold(cast.reviewer)
    ReviewTask.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    html = shown(reviewer, cast, document, "?retype")
    assert MOVE not in html
    assert 'id="retype-to"' not in html
    assert reviewer.post(address(cast, document), {"document_type": "invoice"}).status_code == 403


def test_the_desk_of_a_single_type_tells_of_no_key_for_types(reviewer: Client, cast: Cast) -> None:
    page = reviewer.get(reverse("desk", args=[cast.project.slug])).content.decode()
    assert "nobody can use the document" in page
    assert "say which document type it is" not in page
