"""What stands examined to certify: the right values, each once, with the floor of its own policy."""

import pytest
from pytest_django import DjangoAssertNumQueries

from review.actions.policies import activate_policy, draft_policy
from review.exceptions import NotFoundError
from review.models import (
    DocumentType,
    EngineVersion,
    FieldCertificate,
    FieldMonitor,
    FieldReview,
    PolicyState,
    RolloutStage,
    RoutingPolicy,
)
from review.selectors.access import Actor
from review.selectors.targets import (
    ExaminedField,
    access_stopped,
    access_target,
    examined_fields,
    left_behind_in,
    newest_certificates,
    stopped_in,
    targets_for,
)
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.rollout_room import rolled_out
from tests.review.targets_room import AUDIT_SHARE, audited, examine, promise, set_audits

pytestmark = pytest.mark.django_db


def publish(document_type: DocumentType, required: list[str]) -> None:
    """The next version of the receipt's schema, with these fields required."""
    schema = factories.SCHEMA | {"required": required}
    document_type.active_version = document_type.schema_versions.create(
        number=document_type.schema_versions.count() + 1, schema=schema, digest=str(required)
    )
    document_type.save()


def total(cast: Cast) -> ExaminedField:
    _engine, fields = examined_fields(cast.document_type)
    return fields.get("/total", ExaminedField())


def test_a_type_that_was_never_read_has_nothing_examined(cast: Cast) -> None:
    assert examined_fields(cast.document_type) == (None, {})


def test_an_examined_value_comes_with_its_document_and_its_chance(cast: Cast) -> None:
    set_audits(cast.document_type, 0.05)
    examine(cast.document_type, [(0.9, False)])
    (value,) = total(cast).values
    document = cast.document_type.documents.get()
    assert (value.document, value.field_path, value.confidence, value.is_wrong) == (
        document.sha256,
        "/total",
        0.9,
        True,
    )
    assert (value.inclusion_probability, value.floor) == (AUDIT_SHARE, 0.05)
    assert total(cast).frame == (0.9,)


def test_each_period_has_the_floor_of_its_own_policy(cast: Cast) -> None:
    set_audits(cast.document_type, 0.2)
    examine(cast.document_type, [(0.9, True)])
    rules = cast.document_type.policies.get().rules | {"audit_auto_share": 0.1}
    policy = draft_policy(actor=Actor(cast.manager), document_type=cast.document_type, rules=rules)
    activate_policy(actor=Actor(cast.manager), policy=policy)
    examine(cast.document_type, [(0.8, True)])
    assert {value.confidence: value.floor for value in total(cast).values} == {0.9: 0.2, 0.8: 0.1}


def test_a_field_that_decides_only_since_then_raises_no_floor_of_before(cast: Cast) -> None:
    """While it did not decide, values of it lay in documents of band AUTO too, which were looked at least."""
    document_type = cast.document_type
    publish(document_type, required=["date"])
    policy = document_type.policies.get()
    policy.rules |= {"fields": {"/total": {"auto": None, "review": 0.6}}, "audit_auto_share": 0.02}
    policy.rules |= {"audit_sampled_share": AUDIT_SHARE, "full_examination_share": AUDIT_SHARE}
    policy.save()
    examine(document_type, [(0.9, True)])
    publish(document_type, required=["date", "total"])
    examine(document_type, [(0.8, True)])
    assert {value.confidence: value.floor for value in total(cast).values} == {0.9: 0.02, 0.8: AUDIT_SHARE}


@pytest.mark.parametrize("reason", ["stopped_by_monitor", "not_certified"])
def test_of_a_field_that_was_held_back_every_value_was_seen_and_all_count_in_full(cast: Cast, reason: str) -> None:
    set_audits(cast.document_type)
    examine(cast.document_type, [(0.9, True)], reasons=[reason], inclusion_probability=1.0)
    (value,) = total(cast).values
    assert (value.inclusion_probability, value.floor, value.weight) == (1.0, 1.0, 1.0)


def test_a_floor_never_lies_above_the_chance_that_was_written_down(cast: Cast) -> None:
    set_audits(cast.document_type, 0.9)
    examine(cast.document_type, [(0.9, True)])
    assert [value.floor for value in total(cast).values] == [AUDIT_SHARE]


@pytest.mark.parametrize(
    "changes", [{"is_in_sample": False}, {"is_correct": None}, {"confidence": None}, {"reasons": ["rule_failed"]}]
)
def test_what_is_no_part_of_the_sample_speaks_for_nothing(cast: Cast, changes: dict[str, object]) -> None:
    set_audits(cast.document_type)
    examine(cast.document_type, [(0.9, True)], **changes)
    assert total(cast).values == ()


def test_of_a_value_that_was_examined_twice_the_newer_label_counts(cast: Cast) -> None:
    set_audits(cast.document_type)
    examine(cast.document_type, [(0.9, True), (0.9, False)])
    first, second = FieldReview.objects.order_by("id")
    FieldReview.objects.filter(pk=second.pk).update(document=first.document)
    assert [value.is_wrong for value in total(cast).values] == [True]


def test_the_digest_goes_by_the_values_and_not_by_their_order(cast: Cast) -> None:
    set_audits(cast.document_type)
    examine(cast.document_type, [(0.9, True), (0.8, True)])
    one = total(cast)
    assert ExaminedField(one.values[::-1]).digest(1) == one.digest(1)
    assert ExaminedField(one.values[:1]).digest(1) != one.digest(1) != one.digest(2)


def test_cells_of_a_column_count_together(cast: Cast) -> None:
    cells = {f"/items/{row}/price": FieldPlan(confidence=0.9, band="auto") for row in range(3)}
    factories.make_routed(cast.document_type, cells, band="auto")
    _engine, fields = examined_fields(cast.document_type)
    assert fields["/items/*/price"].frame == (0.9,) * 3


def test_targets_are_found_by_field_and_only_while_they_are_active(cast: Cast) -> None:
    target = promise(cast.document_type, cast.manager)
    assert access_target(cast.document_type, "/total") == target
    target.is_active = False
    target.save()
    assert list(targets_for(cast.document_type)) == []
    with pytest.raises(NotFoundError):
        access_target(cast.document_type, "/total")


def test_only_a_field_that_is_stopped_now_can_be_turned_on(cast: Cast) -> None:
    target = promise(cast.document_type, cast.manager)
    for changes in ({}, {"tripped_at": target.set_at, "ended_at": target.set_at}):
        FieldMonitor.objects.update(**changes)
        assert not stopped_in(cast.project).exists()
        with pytest.raises(NotFoundError):
            access_stopped(cast.document_type, "/total")
    FieldMonitor.objects.update(ended_at=None)
    assert access_stopped(cast.document_type, "/total") == stopped_in(cast.project).get()
    assert not stopped_in(cast.other_project).exists()


def test_it_costs_the_same_queries_for_more_labels(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    set_audits(cast.document_type)
    for _ in range(2):
        examine(cast.document_type, [(0.9, True)] * 3)
        with django_assert_num_queries(8):
            examined_fields(cast.document_type)


def test_a_type_without_certificates_has_none(cast: Cast) -> None:
    audited(cast.document_type)
    assert newest_certificates(cast.document_type) == {}


def test_a_target_is_left_behind_until_the_version_that_is_live_carries_it(cast: Cast) -> None:
    target, reads = promise(cast.document_type, cast.manager), factories.make_engine_version("new")

    def certify(engine: EngineVersion, threshold: float | None) -> None:
        FieldCertificate.objects.create(
            document_type=cast.document_type,
            policy=RoutingPolicy.objects.create(
                document_type=cast.document_type,
                number=cast.document_type.policies.count() + 1,
                state=PolicyState.RETIRED,
                rules=factories.RULES,
                activated_at=target.set_at,
            ),
            field_path="/total",
            engine_version=engine,
            look=1,
            examined_digest="d",
            n_examined=400,
            threshold=threshold,
            target=target.wrong_share,
            confidence=target.confidence,
            n_trials=400,
            n_wrong=0,
            upper_limit=0.01,
            n_frame=10,
            n_stored=10,
        )

    certify(factories.make_engine_version(), 0.9)
    assert not left_behind_in(cast.project).exists(), "nothing is live: who reads cannot be told from here"
    rolled_out(cast, reads, RolloutStage.LIVE)
    assert left_behind_in(cast.project).get() == target
    assert not left_behind_in(cast.other_project).exists()
    certify(reads, None)
    assert left_behind_in(cast.project).exists(), "an attempt that carried nothing is no certificate"
    certify(reads, 0.9)
    assert not left_behind_in(cast.project).exists()
