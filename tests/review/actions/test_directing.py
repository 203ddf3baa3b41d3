"""Directed audits, through the product's own actions: known, positive chances, as many audits, unbiased estimates."""

import math
import random
from typing import Any

import pytest

from inference.types import FieldReading
from review.actions._interest import interest_of
from review.actions.directing import ENOUGH, draft_directed_audits
from review.actions.policies import activate_policy
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    AuditEntry,
    Document,
    ExtractionRun,
    FieldDecision,
    FieldReview,
    Page,
    Reading,
    ReviewTask,
    RoutingDecision,
    RoutingPolicy,
)
from review.routing.policy import Directed, PolicyRules
from review.routing.sampling import Purpose, draw
from review.selectors.access import Actor
from tests.conftest import Cast
from tests.review.actions.reading_room import field, opened, routed
from tests.review.targets_room import answer

pytestmark = pytest.mark.django_db

RATE = 0.25


def sampled_rules(cast: Cast) -> None:
    """Everything is sampled, at the rate."""
    policy = cast.document_type.policies.get()
    policy.rules = policy.rules | {"default": {"auto": None, "review": 0.0}, "audit_sampled_share": RATE}
    policy.save()


def send(cast: Cast, confidence: float, **evidence: Any) -> Document:
    more: dict[str, Any] = {"evidence": evidence} if evidence else {}
    return routed(cast.document_type, [field("/total", confidence=confidence, **more)])


def direct(cast: Cast, floor_share: float | None = 0.5) -> RoutingPolicy:
    return draft_directed_audits(actor=Actor(cast.manager), document_type=cast.document_type, floor_share=floor_share)


def decision_of(document: Document) -> RoutingDecision:
    return RoutingDecision.objects.get(document=document)


def test_what_the_reader_doubts_is_more_interesting_and_that_is_written_down(cast: Cast) -> None:
    sampled_rules(cast)
    sure, unsure = decision_of(send(cast, 0.99)), decision_of(send(cast, 0.5))
    assert sure.interest is not None
    assert unsure.interest is not None
    assert 0 <= sure.interest < unsure.interest <= 1


def test_readers_that_differ_make_a_document_more_interesting(cast: Cast) -> None:
    run = ExtractionRun.objects.get(document=send(cast, 0.9))

    def interest(**evidence: float) -> float:
        return interest_of([FieldReading("/total", "9.00", "9.00", 0.9, evidence=evidence)], run)

    assert interest(readers_agree=0.0) > interest() > interest(readers_agree=1.0)
    assert interest(vote_agreement=0.2) == interest(readers_agree=0.2)


def test_a_page_that_looks_like_none_before_is_more_interesting(cast: Cast) -> None:
    document, _reads = opened(cast.document_type)
    run = ExtractionRun.objects.get(document=document)
    Page.objects.filter(document=document).update(perceptual_hash="0" * 16)
    fields = [field("/total", confidence=0.9)]

    def interest_beside(look: str) -> float:
        Reading.objects.all().delete()
        Reading.objects.create(
            project=cast.project,
            engine_version=run.engine_version,
            content_hash="other",
            perceptual_hash=look,
            payload={},
            cpu_seconds=0,
        )
        return interest_of(fields, run)

    alike, half, unlike = (interest_beside(look) for look in ("0" * 16, "0" * 12 + "ffff", "f" * 16))
    assert alike < half < unlike
    Reading.objects.all().delete()
    # Where nothing was read before everything is new.
    assert interest_of(fields, run) == unlike


def test_a_draft_directs_as_many_audits_as_before_and_can_be_taken_back(cast: Cast) -> None:
    sampled_rules(cast)
    generator = random.Random(1)
    for _ in range(ENOUGH):
        send(cast, generator.random())
    policy = direct(cast)
    rules = PolicyRules.from_json(policy.rules)
    assert policy.state == "draft"
    assert rules.directed is not None
    interests = [one.interest for one in RoutingDecision.objects.all()]
    chances = [rules.sampled_share(one) for one in interests]
    assert math.fsum(chances) / len(chances) == pytest.approx(RATE, abs=1e-6)
    assert min(chances) >= RATE / 2
    assert max(chances) > min(chances)
    entry = AuditEntry.objects.get(action="policy.drafted")
    assert (entry.actor, entry.detail["floor_share"]) == (cast.manager, 0.5)
    activate_policy(actor=Actor(cast.manager), policy=policy)
    assert PolicyRules.from_json(direct(cast, None).rules).directed is None


def test_too_few_documents_set_no_scale(cast: Cast) -> None:
    sampled_rules(cast)
    send(cast, 0.5)
    with pytest.raises(ConflictError) as refused:
        direct(cast)
    assert f"at least {ENOUGH}" in str(refused.value.message)


@pytest.mark.parametrize("floor_share", [0.0, -1.0, 1.1, float("nan")])
def test_a_floor_that_is_none_is_refused(cast: Cast, floor_share: float) -> None:
    with pytest.raises(InvalidInputError):
        direct(cast, floor_share)


def test_estimates_from_directed_audits_are_unbiased(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """400 documents, wrong the more often the less sure; audited as routed, answered by a person with the truth."""
    # Keys differ between databases and orders of tests; with draws of its own the test is the same on all.
    draws = random.Random(12)
    monkeypatch.setattr("review.routing.decide.draw", lambda *_key: draws.random())
    sampled_rules(cast)
    policy = cast.document_type.policies.get()
    policy.rules = PolicyRules.from_json(policy.rules | {"directed": {"floor_share": 0.3, "scale": 0.5}}).as_json()
    policy.save()
    generator = random.Random(11)
    truth: dict[int, bool] = {}
    for _ in range(400):
        confidence = generator.random() ** 0.5
        truth[send(cast, confidence).pk] = generator.random() < confidence
    rules = PolicyRules.from_json(policy.rules)

    # Every chance is the rule's, stored, and never below the floor.
    for decided in FieldDecision.objects.select_related("decision"):
        assert decided.inclusion_probability == rules.sampled_share(decided.decision.interest)
        assert decided.inclusion_probability >= RATE * 0.3
    for task in ReviewTask.objects.filter(state="open"):
        answer(task.document, cast.reviewer, is_right=truth[task.document_id])
    labels = list(FieldReview.objects.all())
    assert all(label.is_in_sample for label in labels)
    assert {label.document_id for label in labels} == set(
        RoutingDecision.objects.filter(is_selected=True).values_list("document_id", flat=True)
    )

    # Horvitz and Thompson's total of wrong ones, against its own standard error.
    n_wrong = sum(not is_right for is_right in truth.values())
    weighted = [(label.inclusion_probability, not label.is_correct) for label in labels]
    total = math.fsum(is_wrong / chance for chance, is_wrong in weighted)
    variance = math.fsum(is_wrong * (1 - chance) / chance**2 for chance, is_wrong in weighted)
    assert abs(total - n_wrong) < 3 * math.sqrt(variance)
    # The plain mean of what was looked at says another thing: audits went where errors are.
    assert sum(is_wrong for _chance, is_wrong in weighted) / len(weighted) > n_wrong / len(truth)

    # And without bias: the same documents, drawn anew under 2,000 salts.
    chances = {
        one.document_id: (rules.sampled_share(one.interest), f"document {number}")
        for number, one in enumerate(RoutingDecision.objects.order_by("document"))
    }
    wrong = [chances[document_id] for document_id, is_right in truth.items() if not is_right]
    totals = [
        math.fsum(1 / chance for chance, key in wrong if draw(key, "1", str(salt), Purpose.AUDIT) < chance)
        for salt in range(2_000)
    ]
    spread = math.sqrt(math.fsum((1 - chance) / chance for chance, _key in wrong) / len(totals))
    assert abs(math.fsum(totals) / len(totals) - n_wrong) < 4 * spread


def test_without_a_rule_or_an_interest_the_chance_is_that_of_the_band() -> None:
    rules = PolicyRules(audit_sampled_share=RATE)
    assert rules.sampled_share(0.9) == RATE
    assert PolicyRules(audit_sampled_share=RATE, directed=Directed(0.5, 0.5)).sampled_share(None) == RATE
