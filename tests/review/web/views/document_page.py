"""The page of a document, as a client is sent it."""

from django.test import Client
from django.urls import reverse

from review.models import (
    Document,
)


def page(client: Client, document: Document) -> str:
    response = client.get(reverse("document", args=[document.project.slug, document.pk]))
    assert response.status_code == 200
    return response.content.decode()
