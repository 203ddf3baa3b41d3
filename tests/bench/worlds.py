"""Projects with documents in them: a few go through the product itself, many more are copies of their rows."""

import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.signing import SignedPackage
from PIL import Image

import inference.document_types
from inference.engines.scripted import ANSWERS_VARIABLE
from review.actions.intake import receive_document
from review.actions.policies import activate_policy, draft_policy
from review.actions.schemas import create_document_type
from review.actions.tenancy import add_member, create_project, create_tenant, create_user
from review.models import (
    AuditEntry,
    CandidateSet,
    Document,
    DocumentType,
    Event,
    ExtractionRun,
    FieldDecision,
    FieldEdit,
    FieldPrediction,
    FieldReview,
    Page,
    PageRead,
    Project,
    Reading,
    Record,
    ReviewTask,
    Role,
    RoutingDecision,
    User,
)
from review.routing.policy import PolicyRules
from review.selectors.access import SYSTEM

# In the order in which rows refer to each other.
DOCUMENT_ROWS: tuple[type[models.Model], ...] = (
    Document, Page, Reading, ExtractionRun, PageRead, FieldPrediction, CandidateSet, RoutingDecision, FieldDecision,
    Record, ReviewTask, FieldEdit, FieldReview, AuditEntry, Event,
)  # fmt: skip
_HASHES = {"sha256", "content_hash"}
_COPIES_PER_STATEMENT = 50

LINES = """\
BOOK TA K (TAMAN DAYA) SDN BHD
789417-W
NO. 53 55,57 & 59, JALAN SAGU 18,
TAMAN DAYA,
81100 JOHOR BAHRU,
JOHOR.
DOCUMENT NO : TD01167104
DATE: 25/12/2018 8:13:39 PM
CASHIER: MANIS
CASH BILL
CODE/DESC PRICE DISC AMOUNT
9556939040118 KF MODELLING CLAY KIDDY FISH
1 PC * 9.000 0.00 9.00
TOTAL: 9.00
ROUNDING ADJUSTMENT: 0.00
ROUND D TOTAL (RM): 9.00
CASH 10.00
CHANGE 1.00
GOODS SOLD ARE NOT RETURNABLE OR EXCHANGEABLE
***THANK YOU***
PLEASE COME AGAIN !
""".splitlines()


def use_scripted_engine() -> None:
    """Make this process read with the engine that costs nothing and sees the same receipt on every page."""
    height = 1 / (len(LINES) + 2)
    words = [
        [text, 0.1, (n + 1) * height, 0.1 + 0.018 * len(text), (n + 1.7) * height, 0.97] for n, text in enumerate(LINES)
    ]
    script = Path(settings.DATA_DIR) / "answers.json"
    script.write_text(json.dumps({"default": {"words": words}}), encoding="utf-8")
    os.environ[ANSWERS_VARIABLE] = str(script)
    settings.STET_ENGINE = "scripted"


def receipt_schema() -> dict[str, Any]:
    """Return the schema of the shipped type."""
    path = Path(inference.document_types.__file__).with_name("receipt.json")
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def make_type(project: Project, slug: str, rules: PolicyRules | None = None) -> DocumentType:
    """Return a new document type, a receipt by its schema, routed by `rules`."""
    document_type = create_document_type(actor=SYSTEM, project=project, slug=slug, schema=receipt_schema())
    if rules is not None:
        policy = draft_policy(actor=SYSTEM, document_type=document_type, rules=rules.as_json())
        activate_policy(actor=SYSTEM, policy=policy)
    return document_type


def make_project(slug: str = "bench") -> Project:
    """Return a new project in a new tenant."""
    tenant = create_tenant(actor=SYSTEM, slug=slug, name="Bench")
    return create_project(actor=SYSTEM, tenant=tenant, slug=slug, name="Bench")


def make_member(project: Project, name: str, role: Role) -> User:
    """Return a new person of that role in the project."""
    user = create_user(actor=SYSTEM, username=name, password="a long pass phrase 17")
    add_member(actor=SYSTEM, project=project, user=user, role=role)
    return user


def receipt_image(number: int) -> bytes:
    """Return a JPEG of the size of a receipt, different for every number: dark strokes on white."""
    random = np.random.default_rng(number)
    pixels = np.full((1200, 600, 3), 255, np.uint8)
    for top in range(60, 1140, 48):
        for left in random.integers(40, 540, 18):
            pixels[top : top + 24, left : left + 8] = random.integers(0, 90)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=85)
    return file.getvalue()


def receive(document_type: DocumentType, files: Iterable[bytes], priority: int = 0) -> list[Document]:
    """Take files in as an upload does."""
    return [
        receive_document(
            actor=SYSTEM,
            project=document_type.project,
            document_type=document_type,
            file=ContentFile(content),
            filename=f"{number}.jpg",
            priority=priority,
        ).document
        for number, content in enumerate(files)
    ]


def work_off_queue() -> int:
    """Do in this process what waits in the queue, message by message as a worker does; return how many tasks."""
    broker = get_broker()
    n_tasks = 0
    while broker.queue_size():
        for message_id, message in broker.dequeue() or ():
            task = SignedPackage.loads(message)
            import_string(task["func"])(*task["args"], **task["kwargs"])
            broker.acknowledge(message_id)
            n_tasks += 1
    return n_tasks


@dataclass(frozen=True, slots=True)
class Originals:
    """The rows that there are to copy: of each model those up to an id."""

    last_ids: dict[type[models.Model], int]

    @classmethod
    def of(cls, copied: Sequence[type[models.Model]] = DOCUMENT_ROWS) -> "Originals":
        """Take what stands in the tables now."""
        last_ids = {model: model._default_manager.aggregate(last=models.Max("pk"))["last"] for model in copied}
        return cls({model: last for model, last in last_ids.items() if last})

    def copy(self, first: int, last: int, columns: dict[str, str] | None = None) -> None:
        """Write the copies number `first` to `last` (the first one is 1): ids shifted, hashes different.

        `columns` gives SQL for columns by name, in terms of `k`, the copy's number.
        """
        for start in range(first, last + 1, _COPIES_PER_STATEMENT):
            end = min(last, start + _COPIES_PER_STATEMENT - 1)
            with transaction.atomic(), connection.cursor() as cursor:
                for model, last_id in self.last_ids.items():
                    cursor.execute(self._statement(model, columns or {}), [start, end, last_id])
        reset = connection.ops.sequence_reset_sql(no_style(), list(self.last_ids))
        with connection.cursor() as cursor:
            for statement in reset:
                cursor.execute(statement)

    def _statement(self, model: type[models.Model], columns: dict[str, str]) -> str:
        table, names, values = model._meta.db_table, [], []
        for field in model._meta.concrete_fields:
            names.append(f'"{field.column}"')
            values.append(columns.get(str(field.column)) or self._value(model, field))
        return (
            f"INSERT INTO {table} ({', '.join(names)}) "
            "WITH RECURSIVE copies(k) AS (SELECT CAST(%s AS bigint) UNION ALL SELECT k + 1 FROM copies WHERE k < %s) "
            f"SELECT {', '.join(values)} FROM copies CROSS JOIN {table} AS t WHERE t.id <= %s"
        )

    def _value(self, model: type[models.Model], field: Any) -> str:
        column = f't."{field.column}"'
        shifted = model if field.primary_key else field.related_model
        if shifted in self.last_ids:
            return f"{column} + k * {self.last_ids[shifted]}"
        if field.column in _HASHES:
            return f"substr({column}, 1, 56) || CAST(10000000 + k AS varchar)"
        if field.column == "object_id":
            shift = self.last_ids.get(Document, 0)
            return (
                f"CASE WHEN t.object_type = 'document' THEN CAST(CAST({column} AS bigint) + k * {shift} AS varchar) "
                f"ELSE {column} END"
            )
        return column


def grow(database_originals: Originals, n_documents: int, n_wanted: int, columns: dict[str, str] | None = None) -> int:
    """Copy until there are about `n_wanted` documents; return how many there are. `n_documents` are the originals."""
    n_now = Document.objects.count()
    first, last = n_now // n_documents, n_wanted // n_documents - 1
    if last >= first:
        database_originals.copy(first, last, columns)
    return Document.objects.count()
