"""A run is routed once: what is stored, what goes to a person and why, and what is kept of it."""

import functools
from collections import Counter
from typing import Any

import pytest

from inference.document_types import shipped_schema
from inference.fields.rows_left_out import ROWS_LEFT_OUT
from inference.types import (
    BBox,
    Candidate,
    FieldReading,
    parse_document_type,
)
from review.actions import reading as reading_actions
from review.actions.reading import (
    complete_run,
    rerun_document,
)
from review.models import (
    CandidateSet,
    DocumentType,
    Event,
    ExtractionRun,
    FieldDecision,
    FieldPrediction,
    Record,
    ReviewTask,
    RoutingDecision,
    RoutingPolicy,
)
from review.selectors.access import SYSTEM, Actor
from tests import factories
from tests.conftest import Cast
from tests.races.threads import all_at_once
from tests.review.actions.reading_room import (
    SPEC,
    SURE,
    UNSURE,
    complete,
    field,
    never_audited,
    opened,
    read,
    read_again,
    routed,
)


def always_audited(document_type: DocumentType) -> None:
    policy = document_type.policies.get()
    policy.rules = policy.rules | {"audit_auto_share": 1.0, "audit_sampled_share": 1.0}
    policy.save()


def test_a_sure_document_is_stored_with_its_provenance(cast: Cast) -> None:
    never_audited(cast.document_type)
    document = routed(cast.document_type)
    record = Record.objects.get()
    policy = cast.document_type.policies.get()
    assert (document.status, document.band, document.reasons) == ("stored", "auto", [])
    assert document.finished_at is not None
    assert record.values == {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "9.00"}
    assert record.provenance["/total"] == {
        "source": "model",
        "engine_version": ExtractionRun.objects.get().engine_version.digest,
        "policy": policy.number,
        "confidence": 0.99,
        "band": "auto",
    }
    assert not ReviewTask.objects.exists()


def test_an_audited_document_is_stored_and_looked_at(cast: Cast) -> None:
    always_audited(cast.document_type)
    document = routed(cast.document_type, priority=5)
    task = ReviewTask.objects.get()
    assert (document.status, document.reasons) == ("stored", ["audit_auto"])
    assert (task.document, task.priority, task.state) == (document, 5, "open")
    assert Record.objects.filter(document=document, is_current=True).exists()
    assert FieldDecision.objects.filter(is_to_examine=True).count() == 3
    assert Event.objects.get(name="review_task.created").payload["task_id"] == task.pk


def test_a_doubtful_document_waits_for_a_person_without_a_record(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    assert (document.status, document.band, document.finished_at) == ("review", "review", None)
    assert "low_confidence" in document.reasons
    assert ReviewTask.objects.get().run == ExtractionRun.objects.get()
    assert not Record.objects.exists()


def test_a_missing_required_value_is_review_never_skip(cast: Cast) -> None:
    document = routed(cast.document_type, (*SURE[:2], field("/total", None, None, findings=("not_found",))))
    assert (document.status, document.reasons[0]) == ("review", "missing_value")


def test_a_value_that_breaks_its_schema_goes_to_a_person(cast: Cast) -> None:
    schema = factories.SCHEMA | {
        "properties": factories.SCHEMA["properties"]
        | {"total": factories.SCHEMA["properties"]["total"] | {"pattern": "^[0-9]+[.][0-9]{2}$"}}
    }
    document_type = factories.make_document_type(cast.project, "strict", schema)
    document = routed(document_type, (*SURE[:2], field("/total", "nine")))
    assert (document.status, document.reasons[0]) == ("review", "schema_invalid")
    assert FieldPrediction.objects.get(field_path="/total").findings == ["schema_pattern"]


def test_a_failed_page_sends_every_field_to_a_person(cast: Cast) -> None:
    document = routed(cast.document_type, failures=["time_limit"])
    assert (document.status, document.reasons[0]) == ("review", "engine_failed")
    assert set(FieldDecision.objects.values_list("band", "is_to_examine")) == {("review", True)}
    assert ExtractionRun.objects.get().error_code == "time_limit"


@pytest.mark.parametrize(
    "code", ["answer_cut_short", "answer_repeats", "answer_empty", "answer_unreadable", "answer_invalid"]
)
def test_what_was_wrong_with_an_answer_is_the_reason(cast: Cast, code: str) -> None:
    document = routed(cast.document_type, failures=[code, "engine_failed"])
    assert (document.status, document.reasons[:2]) == ("review", ["engine_failed", code])


def test_a_table_that_the_model_left_out_goes_to_a_person_though_no_row_is_required(cast: Cast) -> None:
    schema = shipped_schema("invoice")
    document_type = factories.make_document_type(cast.project, "invoice", schema)
    never_audited(document_type)
    spec = parse_document_type(schema)
    singles = [field(one.path, "1") for one in spec.fields]
    left_out = FieldReading("/line_items", None, None, None, {}, (ROWS_LEFT_OUT,))
    for fields, status in ((singles, "stored"), ([*singles, left_out], "review")):
        document = routed(document_type, fields, spec=spec)
        assert document.status == status
        assert ("rows_left_out" in document.reasons) is (status == "review")
        assert ReviewTask.objects.filter(document=document).exists() is (status == "review")
        assert not FieldPrediction.objects.filter(run__document=document, field_path="/line_items").exists()


def test_predictions_candidates_and_decision_are_kept(cast: Cast) -> None:
    candidate = Candidate("9.00", "9.00", 1, BBox(0, 0, 1, 1), {"keyword": 1.0}, 0.8)
    document = routed(cast.document_type, (*SURE[:2], field("/total", candidates=(candidate,))))
    prediction = FieldPrediction.objects.get(field_path="/total")
    assert (prediction.value, prediction.raw_text, prediction.confidence) == ("9.00", "9.00", 0.99)
    assert (prediction.evidence, prediction.bbox, prediction.page_number) == ({"ocr_score": 0.9}, [0, 0, 1, 1], 1)
    assert list(FieldPrediction.objects.order_by("pk").values_list("field_path", flat=True)) == [
        "/company",
        "/date",
        "/total",
    ]
    assert CandidateSet.objects.get().payload == {"/total": [candidate_json(candidate)]}
    decision = RoutingDecision.objects.get()
    assert (decision.document, decision.policy) == (document, cast.document_type.policies.get())
    assert 0 <= decision.draw < 1
    assert ExtractionRun.objects.get().cpu_seconds == 1.5


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    return FieldReading("/x", None, None, None, {}, candidates=(candidate,)).candidates_as_json()[0]


def test_the_same_document_draws_the_same_again(cast: Cast) -> None:
    document = routed(cast.document_type)
    rerun_document(actor=Actor(cast.manager), document=document)
    read_again(document)
    first, second = RoutingDecision.objects.order_by("pk")
    assert (first.draw, first.full_examination_draw) == (second.draw, second.full_examination_draw)


def test_a_type_without_an_active_policy_gets_the_default_one(cast: Cast) -> None:
    RoutingPolicy.objects.all().delete()
    routed(cast.document_type)
    policy = RoutingPolicy.objects.get()
    assert (policy.state, policy.document_type) == ("active", cast.document_type)
    assert policy.rules["audit_auto_share"] == 0.02
    assert RoutingDecision.objects.get().policy == policy


def test_a_run_is_routed_once(cast: Cast) -> None:
    document = routed(cast.document_type)
    run = ExtractionRun.objects.select_related("schema_version", "document__document_type").get(document=document)
    assert not complete_run(actor=SYSTEM, run=run, spec=SPEC, fields=UNSURE)
    document.refresh_from_db()
    assert document.status == "stored"
    assert (FieldPrediction.objects.count(), Record.objects.count()) == (3, 1)


@pytest.mark.django_db(transaction=True)
def test_of_many_that_route_at_once_exactly_one_does() -> None:
    document_type = factories.make_document_type(factories.make_project())
    document, (page_read_id,) = opened(document_type)
    read(page_read_id)
    answers = all_at_once([functools.partial(complete, document)] * 6)
    assert Counter(answers) == {False: 5, True: 1}
    assert (RoutingDecision.objects.count(), Record.objects.count()) == (1, 1)


def test_a_failure_while_routing_leaves_no_half(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    read(page_read_id)
    monkeypatch.setattr(reading_actions, "settle_document", lambda *args, **values: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        complete(document)
    assert ExtractionRun.objects.get().state == "reading"
    assert not FieldPrediction.objects.exists()
    assert not Record.objects.exists()


def test_routing_costs_a_constant_number_of_queries(cast: Cast, django_assert_max_num_queries: Any) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    read(page_read_id)
    run = ExtractionRun.objects.select_related("schema_version", "document__document_type").get(document=document)
    with django_assert_max_num_queries(24):
        complete_run(actor=SYSTEM, run=run, spec=SPEC, fields=SURE)
