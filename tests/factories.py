"""Rows for tests, written straight to the tables: what the actions would have left behind, without running them."""

import hashlib
import itertools
from dataclasses import dataclass, field
from typing import Any

from django.core.files.base import ContentFile

from review.models import (
    Document,
    DocumentStatus,
    DocumentType,
    EngineVersion,
    ExtractionRun,
    FieldDecision,
    FieldPrediction,
    Membership,
    Page,
    PolicyState,
    Project,
    ReviewTask,
    Role,
    RoutingDecision,
    RoutingPolicy,
    RunState,
    SchemaVersion,
    Tenant,
    User,
)

_numbers = itertools.count(1)

PASSWORD = "correct horse battery"

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "x-label": {"en": "Receipt", "zh": "收据"},
    "x-locale": "en-MY",
    "required": ["total"],
    "properties": {
        "company": {"type": "string", "x-label": {"en": "Company", "zh": "公司"}, "x-value-type": "name"},
        "date": {"type": "string", "x-label": {"en": "Date", "zh": "日期"}, "x-value-type": "date"},
        "total": {
            "type": "string",
            "x-label": {"en": "Total", "zh": "合计"},
            "x-value-type": "amount",
            "x-keywords": ["total"],
        },
    },
}

# Draws go by the document's key, which differs between databases and orders of tests; where one matters a test sets it.
NEVER_DRAWN = 1e-9

RULES: dict[str, Any] = {
    "default": {"auto": 0.9, "review": 0.6},
    "fields": {},
    "audit_auto_share": NEVER_DRAWN,
    "audit_sampled_share": NEVER_DRAWN,
    "full_examination_share": NEVER_DRAWN,
    "salt": "test",
}


def make_user(name: str | None = None, **values: Any) -> User:
    """A person whose password is PASSWORD."""
    return User.objects.create_user(username=name or f"user{next(_numbers)}", password=PASSWORD, **values)


def make_project(slug: str | None = None, tenant: Tenant | None = None) -> Project:
    """A project, in a tenant of its own unless one is given."""
    number = next(_numbers)
    tenant = tenant or Tenant.objects.create(slug=f"tenant{number}", name=f"Tenant {number}")
    return Project.objects.create(tenant=tenant, slug=slug or f"project{number}", name=f"Project {number}")


def make_member(project: Project, role: Role, name: str | None = None) -> User:
    """A user with that role in the project."""
    user = make_user(name)
    Membership.objects.create(project=project, user=user, role=role)
    return user


def make_document_type(project: Project, slug: str = "receipt", schema: dict[str, Any] | None = None) -> DocumentType:
    """A document type with an active schema version and an active policy."""
    document_type = DocumentType.objects.create(project=project, slug=slug, labels={"en": slug, "zh": slug})
    schema = schema or SCHEMA
    document_type.active_version = SchemaVersion.objects.create(
        document_type=document_type, number=1, schema=schema, digest=hashlib.sha256(repr(schema).encode()).hexdigest()
    )
    document_type.save()
    RoutingPolicy.objects.create(document_type=document_type, number=1, state=PolicyState.ACTIVE, rules=RULES)
    return document_type


def make_engine_version(name: str = "scripted") -> EngineVersion:
    """An engine version; the same name gives the same version."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return EngineVersion.objects.get_or_create(digest=digest, defaults={"name": name, "spec": {"name": name}})[0]


def make_document(document_type: DocumentType, **values: Any) -> Document:
    """A received document of one small text file (no real image)."""
    number = next(_numbers)
    content = f"document {number}".encode()
    values.setdefault("original", ContentFile(content, name=f"{number}.jpg"))
    defaults = {
        "schema_version": document_type.active_version,
        "filename": f"{number}.jpg",
        "media_type": "image/jpeg",
        "n_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return Document.objects.create(project=document_type.project, document_type=document_type, **(defaults | values))


@dataclass
class FieldPlan:
    """How one field of `make_routed` was read and routed."""

    value: str | None = "9.00"
    confidence: float | None = 0.95
    band: str = "auto"
    inclusion_probability: float = 1.0
    is_to_examine: bool = True
    reasons: list[str] = field(default_factory=list)


DEFAULT_PLANS = {
    "/company": FieldPlan(value="BOOK TA K", confidence=0.97, inclusion_probability=0.1, is_to_examine=False),
    "/date": FieldPlan(value="2018-12-25", confidence=0.96, inclusion_probability=0.1, is_to_examine=False),
    "/total": FieldPlan(value="9.00", confidence=0.4, band="review", reasons=["low_confidence"]),
}


def make_routed(
    document_type: DocumentType,
    plans: dict[str, FieldPlan] | None = None,
    *,
    band: str = "review",
    is_selected: bool = True,
    priority: int = 0,
    **values: Any,
) -> Document:
    """A document that was read and routed; with an open review task when it is selected."""
    plans = plans if plans is not None else DEFAULT_PLANS
    assert document_type.active_version is not None
    status = DocumentStatus.REVIEW if band == "review" else DocumentStatus.STORED
    document = make_document(
        document_type, status=status, band=band, n_pages=1, n_pages_read=1, priority=priority, **values
    )
    Page.objects.create(
        document=document,
        page_number=1,
        image=ContentFile(b"page", name=f"page{document.pk}.jpg"),
        width=800,
        height=1600,
        content_hash=f"{document.pk:064x}",
    )
    run = ExtractionRun.objects.create(
        document=document,
        engine_version=make_engine_version(),
        schema_version=document_type.active_version,
        state=RunState.ROUTED,
    )
    FieldPrediction.objects.bulk_create(
        FieldPrediction(
            run=run,
            field_path=path,
            raw_text=plan.value,
            value=plan.value,
            confidence=plan.confidence,
            page_number=1,
            bbox=[0.1, 0.1, 0.4, 0.2],
        )
        for path, plan in plans.items()
    )
    decision = RoutingDecision.objects.create(
        run=run,
        document=document,
        policy=document_type.policies.get(state=PolicyState.ACTIVE),
        band=band,
        is_selected=is_selected,
        is_full_examination=False,
        draw=0.5,
        full_examination_draw=0.5,
    )
    FieldDecision.objects.bulk_create(
        FieldDecision(
            decision=decision,
            field_path=path,
            band=plan.band,
            reasons=plan.reasons,
            inclusion_probability=plan.inclusion_probability,
            is_to_examine=plan.is_to_examine,
        )
        for path, plan in plans.items()
    )
    if is_selected:
        make_task(document, run)
    return document


def make_task(document: Document, run: ExtractionRun) -> ReviewTask:
    """An open review task of a routed document."""
    return ReviewTask.objects.create(
        project=document.project,
        document_type=document.document_type,
        document=document,
        run=run,
        priority=document.priority,
    )
