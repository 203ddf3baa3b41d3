"""Run as a process of its own inside a house: a fresh project with people and tasks; prints what a test needs.

python -m tests.browser.seed KIND SLUG N
"""

import json
import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ocrsite.settings")
django.setup()

from django.core.files.base import ContentFile  # noqa: E402 - only after the set-up
from django.db import transaction  # noqa: E402
from django.test import Client  # noqa: E402

from inference.document_types import shipped_schema  # noqa: E402
from inference.types import BBox, PageReading, Word  # noqa: E402
from review.models import Document, DocumentType, FieldPrediction, Page, PageRead, PageReadState, Reading, Role, Tenant  # noqa: E402
from tests import factories  # noqa: E402
from tests.browser import pages  # noqa: E402
from tests.factories import FieldPlan  # noqa: E402

BACKEND = "django.contrib.auth.backends.ModelBackend"
PEOPLE = {"rui": Role.REVIEWER, "ana": Role.REVIEWER, "mia": Role.MANAGER, "ada": Role.ADMIN}


def receipt(document_type: DocumentType, number: int) -> Document:
    """A receipt: the total was misread, the date is in doubt, the rest is sure."""
    plans = {
        "/company": FieldPlan("BOOK TA K (TAMAN DAYA) SDN BHD", 0.98, "auto", 0.1, is_to_examine=False),
        "/date": FieldPlan("2018-12-25", 0.95, "auto", 0.1, is_to_examine=False),
        "/address": FieldPlan("NO.53 55, JALAN SAGU 18\nTAMAN DAYA\n81100 JOHOR BAHRU", 0.97, is_to_examine=False),
        "/total": FieldPlan("9.10", 0.45, "review", reasons=["low_confidence"]),
    }
    return with_page(document_type, plans, [pages.RECEIPT], filename=f"receipt {number:06d}.jpg")


def invoice(document_type: DocumentType, number: int) -> Document:
    """An invoice with three lines, one amount misread."""
    rows = [("Copy paper A4", "2", "12.00"), ("Ring binder", "1", "4.50"), ("Pen blue", "10", "8.60")]
    plans = {"/total": FieldPlan("24.10", 0.97, "auto", is_to_examine=False)}
    for row, (description, quantity, amount) in enumerate(rows):
        is_doubtful = row == 2
        plans[f"/line_items/{row}/description"] = FieldPlan(description, 0.95, is_to_examine=False)
        plans[f"/line_items/{row}/quantity"] = FieldPlan(quantity, 0.95, is_to_examine=False)
        band = "review" if is_doubtful else "auto"
        reasons = ["low_confidence"] if is_doubtful else []
        plans[f"/line_items/{row}/amount"] = FieldPlan(amount, 0.4, band, is_to_examine=is_doubtful, reasons=reasons)
    return with_page(document_type, plans, [pages.INVOICE], filename=f"invoice {number:06d}.jpg")


def ruled(document_type: DocumentType, number: int) -> Document:
    """An invoice as shipped, whose type says what its rows add up to; they do not, since one amount was misread."""
    rows = [("Copy paper A4", "12.00"), ("Ring binder", "4.50"), ("Pen blue", "8.60")]
    plans = {
        "/number": FieldPlan("A1", 0.97, "auto", is_to_examine=False),
        "/net": FieldPlan("24.10", 0.5, "review", is_to_examine=False, reasons=["rule_failed"]),
    }
    for row, (description, amount) in enumerate(rows):
        is_asked = row == 2
        plans[f"/line_items/{row}/description"] = FieldPlan(description, 0.95, is_to_examine=False)
        plans[f"/line_items/{row}/amount"] = FieldPlan(
            amount, 0.5, "review", is_to_examine=is_asked, reasons=["rule_failed"]
        )
    document = with_page(document_type, plans, [pages.INVOICE], filename=f"ruled {number}.jpg")
    broken = [path for path in plans if path.endswith(("/net", "/amount"))]
    run = document.runs.get()
    run.predictions.filter(field_path__in=broken).update(findings=["rule:rows_add_up"])
    return document


def long(document_type: DocumentType, number: int) -> Document:
    """Three pages, the total on the last."""
    plans = {
        "/company": FieldPlan("BOOK TA K (TAMAN DAYA) SDN BHD", 0.98, "auto", is_to_examine=False),
        "/total": FieldPlan("9.10", 0.45, "review", reasons=["low_confidence"]),
    }
    return with_page(document_type, plans, [pages.PLAIN, pages.PLAIN, pages.RECEIPT], filename=f"long {number}.pdf")


def dense(document_type: DocumentType, number: int) -> Document:
    """Two thousand words on one page."""
    plans = {"/total": FieldPlan("9.10", 0.45, "review", reasons=["low_confidence"])}
    return with_page(document_type, plans, [pages.DENSE], filename=f"dense {number}.jpg")


def clean(document_type: DocumentType, number: int) -> Document:
    """Drawn for a check; everything was read right."""
    plans = {
        "/date": FieldPlan("2018-12-25", 0.95, "auto", 0.1),
        "/total": FieldPlan("9.00", 0.96, "auto", 0.1, reasons=["audit_auto"]),
    }
    return with_page(document_type, plans, [pages.RECEIPT], filename=f"clean {number}.jpg")


def looking_like_an_invoice(document_type: DocumentType, number: int) -> Document:
    """A receipt that a classifier takes for an invoice, a type that the project has."""
    document = receipt(document_type, number)
    invoice_type = DocumentType.objects.filter(project=document.project, slug="invoice").first()
    if invoice_type is None:
        invoice_type = factories.make_document_type(document.project, "invoice", pages.SCHEMAS["invoice"])
        DocumentType.objects.filter(pk=invoice_type.pk).update(labels={"en": "Invoice", "zh": "发票"})
    Document.objects.filter(pk=document.pk).update(
        suggested_type=invoice_type, suggested_chance=0.934, suggested_from=40
    )
    return document


KINDS = {
    "lookalike": looking_like_an_invoice,
    "receipt": receipt,
    "invoice": invoice,
    "ruled": ruled,
    "long": long,
    "dense": dense,
    "clean": clean,
}


def with_page(
    document_type: DocumentType, plans: dict[str, FieldPlan], drawn: list[pages.Drawn], **values: Any
) -> Document:
    """A routed document whose pages are real pictures, with the words that were read on them."""
    document = factories.make_routed(document_type, plans, **values)
    Page.objects.filter(document=document).delete()
    run = document.runs.get()
    for number, page in enumerate(drawn, 1):
        made = Page.objects.create(
            document=document,
            page_number=number,
            image=ContentFile(page.jpeg, name=f"page{number}.jpg"),
            width=page.width,
            height=page.height,
            content_hash=f"{document.pk:032x}{number:032x}",
        )
        words = tuple(Word(text, BBox(*box), 0.97) for text, box in page.words)
        payload = PageReading(page.width, page.height, words, 0.1).as_json()
        reading = Reading.objects.create(
            project=document.project,
            engine_version=run.engine_version,
            content_hash=made.content_hash,
            payload=payload,
            cpu_seconds=0.1,
        )
        PageRead.objects.create(run=run, page=made, state=PageReadState.READ, reading=reading)
    document.n_pages = document.n_pages_read = len(drawn)
    document.save()
    place(run.predictions.all(), drawn)
    return document


def place(predictions: Any, drawn: list[pages.Drawn]) -> None:
    """Put each prediction where its page says that it stands."""
    for prediction in predictions:
        for number, page in enumerate(drawn, 1):
            if (box := page.boxes.get(prediction.field_path)) is not None:
                prediction.page_number, prediction.bbox = number, list(box)
                prediction.evidence = {"margin": 0.4, "ocr_score": 0.93, "keyword": 0.8}
                break
        else:
            prediction.page_number, prediction.bbox = None, None
    FieldPrediction.objects.bulk_update(predictions, ["page_number", "bbox", "evidence"])


def make(kind: str, slug: str, n: int) -> dict[str, Any]:
    """Make the project; return {"people": {name: session key}, "tasks": [...], "documents": [...]}."""
    project = factories.make_project(slug, Tenant.objects.create(slug=slug, name=slug))
    project.name = "Receipts"
    project.save()
    schema = pages.SCHEMAS.get(kind) or shipped_schema("receipt")
    document_type = factories.make_document_type(project, "invoice" if kind == "invoice" else "receipt", schema)
    people = {}
    for name, role in PEOPLE.items():
        user = factories.make_member(project, role, f"{name}-{slug}")
        client = Client()
        client.force_login(user, backend=BACKEND)
        people[name] = client.cookies["sessionid"].value
    documents = [KINDS[kind](document_type, number) for number in range(1, n + 1)]
    tasks = [document.review_tasks.get().pk for document in documents]
    return {"people": people, "tasks": tasks, "documents": [one.pk for one in documents]}


def main() -> None:
    """Answer line by line until there is no more."""
    for line in sys.stdin:
        with transaction.atomic():
            answer = make(**json.loads(line))
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
