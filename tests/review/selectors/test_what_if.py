"""Thresholds tried on stored documents: what is read has a limit, and the error is that of a simulated world."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.exceptions import InvalidInputError
from review.models import DocumentType, ExtractionRun, FieldReview, RoutingDecision
from review.routing.policy import Directed, PolicyRules, Thresholds
from review.routing.what_if import BandCounts
from review.selectors import what_if
from review.selectors.what_if import ENOUGH, parse_rules, routed_documents
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.labels import Label, add_labels

pytestmark = pytest.mark.django_db


def route(document_type: DocumentType, total: float, *, company: float = 0.1, reasons: tuple[str, ...] = ()) -> None:
    factories.make_routed(
        document_type,
        {
            "/total": FieldPlan(confidence=total, band="review" if reasons else "auto", reasons=list(reasons)),
            "/company": FieldPlan(confidence=company, band="review", reasons=["low_confidence"]),
        },
    )


def rules(auto: float | None, review: float) -> PolicyRules:
    return PolicyRules(default=Thresholds(auto=auto, review=review))


def test_documents_are_banded_by_their_required_field(cast: Cast) -> None:
    for confidence in (0.5, 0.7, 0.95):
        route(cast.document_type, confidence)
    outcome = routed_documents(cast.document_type).under(rules(0.9, 0.6))
    assert outcome.bands.documents == BandCounts(1, 1, 1)
    assert outcome.bands.fields["/total"] == BandCounts(1, 1, 1)
    assert outcome.bands.fields["/company"] == BandCounts(0, 0, 3)


def test_lower_thresholds_store_more_but_not_what_broke_a_rule(cast: Cast) -> None:
    route(cast.document_type, 0.5)
    route(cast.document_type, 0.5, reasons=("rule_failed", "low_confidence"))
    routed = routed_documents(cast.document_type)
    assert routed.under(rules(0.9, 0.6)).bands.documents == BandCounts(0, 0, 2)
    assert routed.under(rules(0.4, 0.3)).bands.documents == BandCounts(1, 0, 1)


def test_old_documents_replaced_runs_and_other_types_are_left_out(cast: Cast) -> None:
    route(cast.document_type, 0.95)
    RoutingDecision.objects.update(created_at=timezone.now() - timedelta(days=31))
    route(cast.document_type, 0.95)
    replaced = RoutingDecision.objects.order_by("-id")[0].run
    replaced.is_current = False
    replaced.save()
    route(factories.make_document_type(cast.project, "invoice"), 0.95)
    route(cast.other_document_type, 0.95)
    assert routed_documents(cast.document_type).documents == ()
    assert len(routed_documents(cast.document_type, n_days=60).documents) == 1


def test_only_what_the_version_that_reads_now_read_is_counted(cast: Cast) -> None:
    route(cast.document_type, 0.95)
    add_labels(cast.document_type, [Label(confidence=0.95, is_correct=False) for _ in range(40)])
    alone = routed_documents(cast.document_type)
    assert (alone.engine, alone.has_others) == (factories.make_engine_version(), False)
    newer = factories.make_engine_version("newer")
    route(cast.document_type, 0.5)
    ExtractionRun.objects.filter(pk=ExtractionRun.objects.order_by("-id")[0].pk).update(engine_version=newer)
    routed = routed_documents(cast.document_type)
    assert (routed.engine, routed.has_others) == (newer, True)
    assert [field.confidence for field in routed.documents[0] if field.field_path == "/total"] == [0.5]
    assert len(routed.documents) == 1
    # What the other version got wrong says nothing about this one.
    assert routed.examined == ()


def test_a_type_that_was_never_read_has_no_version(cast: Cast) -> None:
    routed = routed_documents(cast.document_type)
    assert (routed.engine, routed.has_others, routed.documents) == (None, False, ())


def test_nothing_examined_leaves_no_error_estimate(cast: Cast) -> None:
    route(cast.document_type, 0.95)
    assert routed_documents(cast.document_type).under(rules(0.9, 0.6)).errors == {}


def test_the_error_counts_only_values_that_would_be_stored(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(confidence=0.95, inclusion_probability=0.5) for _ in range(40)])
    add_labels(cast.document_type, [Label(confidence=0.4, is_correct=False) for _ in range(40)])
    FieldReview.objects.update(band="auto")
    routed = routed_documents(cast.document_type)
    strict = routed.under(rules(0.9, 0.6)).errors["/total"]
    assert strict.point == pytest.approx(0)
    assert strict.n == 40
    loose = routed.under(rules(0.9, 0.3)).errors["/total"]
    assert loose.n == 80
    assert loose.point is not None
    assert loose.lower < loose.point < loose.upper
    assert loose.point > 0.2


@pytest.mark.parametrize(("n", "is_enough"), [(ENOUGH - 1, False), (ENOUGH, True)])
def test_too_few_examined_fields_say_nothing(cast: Cast, n: int, is_enough: bool) -> None:
    add_labels(cast.document_type, [Label(confidence=0.95, inclusion_probability=0.5) for _ in range(n)])
    FieldReview.objects.update(band="auto")
    assert routed_documents(cast.document_type).under(rules(0.9, 0.6)).errors["/total"].is_enough is is_enough


def test_nothing_that_would_be_stored_says_nothing(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(confidence=0.3) for _ in range(ENOUGH)])
    error = routed_documents(cast.document_type).under(rules(0.9, 0.6)).errors["/total"]
    assert (error.point, error.is_enough) == (None, False)


def test_touched_unasked_and_illegible_fields_are_no_part_of_it(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(is_in_sample=False), Label(is_correct=None)])
    assert routed_documents(cast.document_type).examined == ()


def test_the_interval_holds_the_truth_of_a_simulated_world(cast: Cast) -> None:
    """Fields drawn with very different chances, errors by confidence: the estimate for new limits is near the truth."""
    generator = np.random.default_rng(7)
    confidence = generator.beta(6, 1, 5_000)
    is_correct = generator.random(5_000) < 0.5 + 0.5 * confidence
    probability = np.where(confidence < 0.7, 1.0, np.where(confidence < 0.9, 0.3, 0.1))
    drawn = generator.random(5_000) < probability
    add_labels(
        cast.document_type,
        [
            Label(confidence=float(c), is_correct=bool(y), inclusion_probability=float(p))
            for c, y, p in zip(confidence[drawn], is_correct[drawn], probability[drawn], strict=True)
        ],
    )
    FieldReview.objects.update(band="sampled")
    for limits in (rules(0.95, 0.8), rules(0.8, 0.6)):
        auto = limits.default.auto or 1.0
        share = np.where(confidence >= auto, limits.audit_auto_share, limits.audit_sampled_share)
        unseen = (1 - share) * (confidence >= limits.default.review)
        truth = float((unseen * ~is_correct).sum() / unseen.sum())
        error = routed_documents(cast.document_type).under(limits).errors["/total"]
        assert error.lower <= truth <= error.upper
        assert error.upper - error.lower < 0.08


def add_examined(document_type: DocumentType, n: int, *, interest: float, probability: float, is_correct: bool) -> None:
    """Examined totals that were fairly sure, each looked at with `probability`, of a document of `interest`."""
    label = Label(confidence=0.7, inclusion_probability=probability, is_correct=is_correct)
    reviews = add_labels(document_type, [label] * n)
    FieldReview.objects.filter(pk__in=[one.pk for one in reviews]).update(band="sampled")
    RoutingDecision.objects.create(
        run=reviews[0].task.run,
        document=reviews[0].task.document,
        policy=document_type.policies.get(),
        band="sampled",
        is_selected=True,
        is_full_examination=False,
        draw=0.0,
        full_examination_draw=0.5,
        interest=interest,
    )


def test_each_document_is_reckoned_with_its_own_chance_where_audits_are_directed(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """An interest of x is a chance of 0.1 + x: right values of no interest stand for nine each, wrong ones for 1/9."""
    add_examined(cast.document_type, 40, interest=0.0, probability=0.1, is_correct=True)
    add_examined(cast.document_type, 40, interest=0.8, probability=0.9, is_correct=False)
    for interest in (0.0, 0.5, None):
        route(cast.document_type, 0.7)
        RoutingDecision.objects.filter(pk=RoutingDecision.objects.order_by("-id")[0].pk).update(interest=interest)
    directed = PolicyRules(
        default=Thresholds(auto=0.9, review=0.6),
        audit_sampled_share=0.4,
        directed=Directed(floor_share=0.25, scale=0.3),
    )
    with django_assert_num_queries(5):
        outcome = routed_documents(cast.document_type).under(directed)
    assert outcome.errors["/total"].point == pytest.approx((40 / 9) / (40 * 9 + 40 / 9))
    assert outcome.errors["/total"].n == 80
    assert outcome.bands.documents == BandCounts(n_sampled=3)
    assert outcome.bands.n_looked_at == pytest.approx(0.1 + 0.6 + 0.4)


def test_what_is_read_has_a_limit_and_says_so(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        route(cast.document_type, 0.95)
    assert not routed_documents(cast.document_type).is_cut
    monkeypatch.setattr(what_if, "MAX_ROWS", 5)
    cut = routed_documents(cast.document_type)
    assert cut.is_cut
    assert [len(fields) for fields in cut.documents] == [2, 2]
    monkeypatch.setattr(what_if, "MAX_ROWS", 100)
    monkeypatch.setattr(what_if, "MAX_DOCUMENTS", 3)
    cut = routed_documents(cast.document_type)
    assert (cut.is_cut, len(cut.documents)) == (True, 3)


def test_it_costs_the_same_queries_for_more_documents(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        route(cast.document_type, 0.95)
        add_labels(cast.document_type, [Label(), Label("/company")])
        with django_assert_num_queries(5):
            routed_documents(cast.document_type).under(rules(0.9, 0.6))


def test_wrong_rules_are_refused_with_every_problem() -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_rules({"default": {"auto": 2, "review": "x"}, "audit_auto_share": 0})
    pointers = [problem["pointer"] for problem in refused.value.details["problems"]]
    assert pointers == ["/default/auto", "/default/review", "/audit_auto_share"]
