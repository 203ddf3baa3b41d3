"""Documents with one audited total each: what tests of targets, monitors and their pages start from."""

from collections.abc import Sequence
from typing import Any

from review.actions.leasing import lease_task
from review.actions.submitting import FieldVerdict, submit_task
from review.actions.targets import set_target
from review.models import Document, DocumentType, FieldReview, FieldTarget, ReviewTask, User
from review.selectors.access import Actor
from tests import factories
from tests.factories import FieldPlan

AUDIT_SHARE = 0.2
TARGET = 0.01


def promise(
    document_type: DocumentType, manager: User, wrong_share: float = TARGET, field_path: str = "/total"
) -> FieldTarget:
    """A target for the total."""
    return set_target(actor=Actor(manager), document_type=document_type, field_path=field_path, wrong_share=wrong_share)


def set_audits(document_type: DocumentType, share: float = AUDIT_SHARE) -> None:
    """From now on the policy looks at this share of every band."""
    policy = document_type.policies.get(state="active")
    names = ("audit_auto_share", "audit_sampled_share", "full_examination_share")
    policy.rules = policy.rules | dict.fromkeys(names, share)
    policy.save()


def audited(document_type: DocumentType, *, confidence: float = 0.97, band: str = "sampled") -> Document:
    """A stored document whose total was drawn for an audit."""
    plan = FieldPlan(
        confidence=confidence,
        band=band,
        inclusion_probability=AUDIT_SHARE,
        reasons=["low_confidence"][: band != "auto"],
    )
    return factories.make_routed(document_type, {"/total": plan}, band=band)


def answer(document: Document, reviewer: User, *, is_right: bool) -> None:
    """A person finishes the audit: the total is right, or it is another."""
    task = ReviewTask.objects.get(document=document, state="open")
    lease = lease_task(actor=Actor(reviewer), task=task)
    verdict = FieldVerdict("/total", "confirmed") if is_right else FieldVerdict("/total", "corrected", "7.77")
    submit_task(actor=Actor(reviewer), task=lease.task, lease_token=lease.token, verdicts=[verdict])


def examine(document_type: DocumentType, outcomes: Sequence[tuple[float, bool]], **changes: Any) -> None:
    """One examined document for each (confidence, is right), all drawn with the same chance."""
    reasons = changes.pop("reasons", ["low_confidence"])
    for confidence, is_right in outcomes:
        plan = FieldPlan(confidence=confidence, band="sampled", inclusion_probability=AUDIT_SHARE, reasons=reasons)
        document = factories.make_routed(document_type, {"/total": plan}, band="sampled")
        values: dict[str, Any] = {
            "task": document.review_tasks.get(),
            "document": document,
            "field_path": "/total",
            "verdict": "confirmed" if is_right else "corrected",
            "is_correct": is_right,
            "is_in_sample": True,
            "inclusion_probability": AUDIT_SHARE,
            "project_id": document.project_id,
            "document_type": document_type,
            "engine_version": factories.make_engine_version(),
            "confidence": confidence,
            "band": "sampled",
        }
        FieldReview.objects.create(**values | changes)
