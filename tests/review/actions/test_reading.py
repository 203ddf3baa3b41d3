"""Pages are read once each, the last one routes, and a rerun touches nothing that a person confirmed."""

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from inference.document_types import shipped_schema
from inference.fields.rows_left_out import ROWS_LEFT_OUT
from inference.types import (
    BBox,
    Candidate,
    DocumentTypeSpec,
    FieldReading,
    PageReading,
    RawAnswer,
    Word,
    parse_document_type,
)
from review.actions import reading as reading_actions
from review.actions._routing import _kept_families, family_of
from review.actions.opening import EngineIdentity, StoredPage, begin_opening, record_opened
from review.actions.reading import (
    ClaimedPage,
    begin_routing,
    claim_page,
    complete_run,
    fail_page,
    record_page_read,
    release_page,
    rerun_document,
    restart_document,
)
from review.exceptions import ConflictError
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
    Page,
    PageRead,
    Reading,
    Record,
    ReviewTask,
    RoutingDecision,
    RoutingPolicy,
)
from review.models import RawAnswer as StoredAnswer
from review.selectors.access import SYSTEM, Actor
from tests import factories
from tests.conftest import Cast
from tests.review.queueing import queued

SPEC = parse_document_type(factories.SCHEMA)
WORDS = (Word("9.00", BBox(0.1, 0.1, 0.2, 0.2), 0.9),)
ENGINE = EngineIdentity("scripted", "d" * 64)


def page_reading(**values: Any) -> PageReading:
    defaults: dict[str, Any] = {"width": 100, "height": 200, "words": WORDS, "cpu_seconds": 1.5}
    return PageReading(**{**defaults, **values})


def opened(document_type: DocumentType, n_pages: int = 1, **values: Any) -> tuple[Document, list[int]]:
    """A document that is being read, and the ids of its page reads."""
    document = begin_opening(actor=SYSTEM, document_id=factories.make_document(document_type, **values).pk)
    assert document is not None
    pages = [
        StoredPage(number, f"{document.pk}-{number}.jpg", 100, 200, f"{document.pk}-{number}")
        for number in range(1, n_pages + 1)
    ]
    reads = record_opened(actor=SYSTEM, document=document, pages=pages, engine=ENGINE)
    assert reads is not None
    return document, [read.pk for read in reads]


def claim(page_read_id: int) -> ClaimedPage:
    claimed = claim_page(page_read_id=page_read_id)
    assert claimed is not None
    return claimed


def read(page_read_id: int) -> bool:
    return record_page_read(actor=SYSTEM, claim=claim(page_read_id), reading=page_reading())


def field(path: str, value: str | None = "9.00", confidence: float | None = 0.99, **values: Any) -> FieldReading:
    more = {"raw_text": value, "evidence": {"ocr_score": 0.9}, "page_number": 1, "bbox": BBox(0, 0, 1, 1)} | values
    return FieldReading(field_path=path, value=value, confidence=confidence, **more)


SURE = (field("/company", "BOOK TA K"), field("/date", "2018-12-25"), field("/total", "9.00"))
UNSURE = (field("/company", "BOOK TA K"), field("/date", "2018-12-25"), field("/total", "8.00", 0.1))


def routed(
    document_type: DocumentType,
    fields: Sequence[FieldReading] = SURE,
    *,
    failures: Sequence[str] = (),
    spec: DocumentTypeSpec = SPEC,
    **values: Any,
) -> Document:
    document, (page_read_id,) = opened(document_type, **values)
    read(page_read_id)
    complete(document, fields, failures=failures, spec=spec)
    document.refresh_from_db()
    return document


def complete(
    document: Document,
    fields: Sequence[FieldReading] = SURE,
    *,
    failures: Sequence[str] = (),
    spec: DocumentTypeSpec = SPEC,
) -> bool:
    run = ExtractionRun.objects.select_related("schema_version", "document__document_type").get(
        document=document, is_current=True
    )
    return complete_run(actor=SYSTEM, run=run, spec=spec, fields=fields, failures=failures, cpu_seconds=1.5)


def never_audited(document_type: DocumentType) -> None:
    policy = document_type.policies.get()
    policy.rules = policy.rules | {"audit_auto_share": 1e-9, "audit_sampled_share": 1e-9}
    policy.save()


def always_audited(document_type: DocumentType) -> None:
    policy = document_type.policies.get()
    policy.rules = policy.rules | {"audit_auto_share": 1.0, "audit_sampled_share": 1.0}
    policy.save()


# --- pages --------------------------------------------------------------------------------------------------------


def test_a_claim_counts_the_attempt(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    claimed = claim(page_read_id)
    stored = PageRead.objects.get()
    assert (stored.state, stored.n_attempts, stored.claim_token) == ("claimed", 1, claimed.token)
    assert claimed.page_read.n_attempts == 1


def test_a_claimed_page_cannot_be_claimed_again(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    claim(page_read_id)
    assert claim_page(page_read_id=page_read_id) is None
    assert PageRead.objects.get().n_attempts == 1


def test_a_claim_that_is_too_old_is_taken_over(cast: Cast, settings: Settings) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    first = claim(page_read_id)
    PageRead.objects.update(claimed_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    second = claim(page_read_id)
    assert second.token != first.token
    assert second.page_read.n_attempts == 2


def test_who_lost_a_claim_records_nothing(cast: Cast, settings: Settings) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    first = claim(page_read_id)
    PageRead.objects.update(claimed_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    second = claim(page_read_id)
    assert not record_page_read(actor=SYSTEM, claim=first, reading=page_reading())
    assert not fail_page(actor=SYSTEM, claim=first, code="engine_failed")
    document.refresh_from_db()
    assert (document.n_pages_read, Reading.objects.count()) == (0, 0)
    assert record_page_read(actor=SYSTEM, claim=second, reading=page_reading())


@pytest.mark.parametrize(("is_counted", "n_attempts"), [(True, 1), (False, 0)])
def test_a_released_page_is_pending_again(cast: Cast, is_counted: bool, n_attempts: int) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    release_page(claim=claim(page_read_id), is_counted=is_counted)
    stored = PageRead.objects.get()
    assert (stored.state, stored.n_attempts, stored.claim_token) == ("pending", n_attempts, "")


def test_a_page_that_waits_says_on_its_document_for_what(cast: Cast) -> None:
    document, (first, second) = opened(cast.document_type, 2)
    touched_at = Document.objects.get(pk=document.pk).touched_at
    release_page(claim=claim(first), is_counted=False, code="engine_unavailable")
    document.refresh_from_db()
    assert (document.status, document.reasons, document.touched_at) == (
        "processing",
        ["engine_unavailable"],
        touched_at,
    )
    read(second)
    document.refresh_from_db()
    assert document.reasons == []


def test_who_lost_a_claim_says_nothing_on_the_document(cast: Cast, settings: Settings) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    lost = claim(page_read_id)
    PageRead.objects.update(claimed_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    claim(page_read_id)
    release_page(claim=lost, is_counted=False, code="engine_unavailable")
    document.refresh_from_db()
    assert document.reasons == []
    assert PageRead.objects.get().state == "claimed"


def test_answers_that_came_before_the_model_was_lost_are_kept(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    release_page(
        claim=claim(page_read_id), is_counted=True, code="answer_lost", attempts=[RawAnswer("the the", "stop")]
    )
    kept = StoredAnswer.objects.get()
    assert (kept.page_read_id, kept.error_code) == (page_read_id, "answer_lost")


@pytest.mark.parametrize(("n_attempts", "is_last"), [(1, False), (2, False), (3, True)])
def test_a_claim_knows_whether_anybody_will_try_again(cast: Cast, n_attempts: int, is_last: bool) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    PageRead.objects.update(n_attempts=n_attempts - 1)
    assert claim(page_read_id).is_last_attempt is is_last


def test_each_attempt_to_route_is_counted_before_it_is_made(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    run_id = ExtractionRun.objects.get().pk
    assert begin_routing(run_id=run_id) is None
    read(page_read_id)
    assert [begin_routing(run_id=run_id) for _ in range(2)] == [1, 2]
    complete(Document.objects.get())
    assert begin_routing(run_id=run_id) is None
    assert ExtractionRun.objects.get().n_routing_attempts == 2


def test_a_read_page_keeps_its_reading_and_moves_the_document(cast: Cast) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    quality = {"sharpness": 12.0}
    record_page_read(actor=SYSTEM, claim=claim(page_read_id), reading=page_reading(quality=quality))
    stored = PageRead.objects.select_related("reading").get()
    document.refresh_from_db()
    assert stored.reading is not None
    assert PageReading.from_json(stored.reading.payload) == page_reading(quality=quality)
    assert (stored.state, stored.is_cached, document.n_pages_read) == ("read", False, 1)
    assert Page.objects.get().quality == quality
    assert Event.objects.get(name="document.page_read").payload["n_pages_read"] == 1
    assert AuditEntry.objects.get(action="document.page_read").detail["page_number"] == 1


def test_only_the_last_page_is_told_so(cast: Cast) -> None:
    _, ids = opened(cast.document_type, 3)
    assert [read(page_read_id) for page_read_id in (ids[2], ids[0], ids[1])] == [False, False, True]


def test_a_failed_page_may_be_the_last(cast: Cast) -> None:
    document, ids = opened(cast.document_type, 2)
    assert not read(ids[0])
    assert fail_page(actor=SYSTEM, claim=claim(ids[1]), code="engine_failed")
    document.refresh_from_db()
    assert document.n_pages_read == 1
    assert PageRead.objects.get(pk=ids[1]).error_code == "engine_failed"


@pytest.mark.parametrize("state", ["read", "failed"])
def test_a_finished_page_is_not_read_again(cast: Cast, state: str) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    PageRead.objects.update(state=state)
    assert claim_page(page_read_id=page_read_id) is None


def test_a_page_of_an_earlier_run_is_not_read(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    ExtractionRun.objects.update(is_current=False)
    assert claim_page(page_read_id=page_read_id) is None


def test_a_cached_reading_is_linked(cast: Cast) -> None:
    _, (first,) = opened(cast.document_type)
    read(first)
    _, (second,) = opened(cast.document_type)
    assert record_page_read(actor=SYSTEM, claim=claim(second), reading=Reading.objects.get().pk)
    assert PageRead.objects.get(pk=second).is_cached
    assert Reading.objects.count() == 1


def test_the_same_pixels_read_at_the_same_moment_make_one_reading(cast: Cast) -> None:
    _, (first,) = opened(cast.document_type)
    _, (second,) = opened(cast.document_type)
    Page.objects.update(content_hash="same")
    claims = [claim(first), claim(second)]
    assert all(record_page_read(actor=SYSTEM, claim=one, reading=page_reading()) for one in claims)
    assert Reading.objects.count() == 1
    assert PageRead.objects.filter(reading__isnull=False).count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_last_pages_that_finish_at_once_exactly_one_is_the_last() -> None:
    document_type = factories.make_document_type(factories.make_project())
    for _ in range(3):
        _, ids = opened(document_type, 4)
        claims = [claim(page_read_id) for page_read_id in ids]
        gate = threading.Barrier(4)
        answers: list[bool] = []

        def finish(one: ClaimedPage, gate: threading.Barrier = gate, answers: list[bool] = answers) -> None:
            try:
                gate.wait()
                answers.append(record_page_read(actor=SYSTEM, claim=one, reading=page_reading()))
            finally:
                connection.close()

        threads = [threading.Thread(target=finish, args=(one,)) for one in claims]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [False, False, False, True]


# --- routing ------------------------------------------------------------------------------------------------------


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
    gate = threading.Barrier(6)
    answers: list[bool] = []

    def route() -> None:
        try:
            gate.wait()
            answers.append(complete(document))
        finally:
            connection.close()

    threads = [threading.Thread(target=route) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 5 + [True]
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


# --- reruns -------------------------------------------------------------------------------------------------------


def read_again(document: Document, fields: Sequence[FieldReading] = SURE) -> None:
    begun = begin_opening(actor=SYSTEM, document_id=document.pk)
    assert begun is not None
    pages = [StoredPage(1, "new.jpg", 100, 200, "new")]
    reads = record_opened(actor=SYSTEM, document=begun, pages=pages, engine=EngineIdentity("better", "e" * 64))
    assert reads is not None
    read(reads[0].pk)
    complete(document, fields)
    document.refresh_from_db()


def confirm(document: Document, person: Any, **values: str) -> Record:
    """A person's record: each given value confirmed, the rest as the model read it."""
    record = Record.objects.filter(document=document, is_current=True).first()
    run = ExtractionRun.objects.get(document=document, is_current=True)
    accepted = {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "9.00"} | {
        f"/{name}": value for name, value in values.items()
    }
    provenance = {
        path: {"source": "person", "reviewer": person.pk, "verdict": "corrected", "task": 1}
        if path[1:] in values
        else {"source": "model", "engine_version": run.engine_version.digest, "policy": 1, "confidence": 0.9}
        for path in accepted
    }
    Record.objects.filter(document=document).update(is_current=False)
    return Record.objects.create(
        project=document.project,
        document=document,
        revision=(record.revision if record else 0) + 1,
        run=run,
        reviewer=person,
        values=accepted,
        provenance=provenance,
    )


def test_a_rerun_reads_anew_and_keeps_the_old_run(cast: Cast) -> None:
    never_audited(cast.document_type)
    document = routed(cast.document_type)
    rerun = rerun_document(actor=Actor(cast.manager), document=document)
    assert (rerun.status, rerun.band, rerun.n_attempts) == ("received", "", 0)
    assert queued() == [("open_document", document.pk)]
    assert AuditEntry.objects.get(action="document.rerun").actor == cast.manager
    read_again(document, (*SURE[:2], field("/total", "10.00")))
    old, new = ExtractionRun.objects.order_by("pk")
    assert (old.is_current, old.state, new.is_current, new.state) == (False, "routed", True, "routed")
    assert old.predictions.get(field_path="/total").value == "9.00"
    assert Record.objects.get(is_current=True).values["/total"] == "10.00"
    assert Record.objects.count() == 2


def test_a_rerun_never_touches_what_a_person_confirmed(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    ReviewTask.objects.update(state="done")
    Document.objects.update(status="stored")
    confirm(document, cast.reviewer, total="12.34")
    rerun_document(actor=Actor(cast.manager), document=document)
    read_again(document, (field("/company", "OTHER"), field("/date", "2020-01-01"), field("/total", "8.00")))
    record = Record.objects.get(is_current=True)
    assert record.values == {"/company": "OTHER", "/date": "2020-01-01", "/total": "12.34"}
    assert record.provenance["/total"]["source"] == "person"
    assert record.provenance["/company"]["source"] == "model"
    assert record.reviewer == cast.reviewer


def test_a_rerun_of_a_confirmed_document_asks_nobody_and_puts_no_doubt_in_the_record(cast: Cast) -> None:
    document = routed(cast.document_type)
    confirm(document, cast.reviewer, total="12.34")
    rerun_document(actor=Actor(cast.manager), document=document)
    read_again(document, (field("/company", "X", 0.1), field("/date", "2020-01-01"), field("/total", "8.00", 0.1)))
    assert document.status == "stored"
    assert not ReviewTask.objects.filter(state="open").exists()
    assert Record.objects.get(is_current=True).values == {
        "/company": "BOOK TA K",
        "/date": "2020-01-01",
        "/total": "12.34",
    }
    decision = RoutingDecision.objects.get(run__is_current=True)
    assert not decision.is_selected
    assert not decision.fields.filter(is_to_examine=True).exists()


def test_a_document_marked_unusable_is_read_again_only_by_whoever_says_so(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    ReviewTask.objects.update(state="unusable")
    Document.objects.update(status="unreadable", reasons=["unusable"])
    with pytest.raises(ConflictError) as refused:
        rerun_document(actor=Actor(cast.manager), document=document)
    assert refused.value.code == "marked_unusable"
    document.refresh_from_db()
    assert document.status == "unreadable"
    assert rerun_document(actor=Actor(cast.manager), document=document, is_reopening=True).status == "received"


def test_rows_of_a_group_are_kept_together() -> None:
    confirmed = Record(
        values={"/items/0/a": "1", "/items/1/a": "2", "/total": "3"},
        provenance={
            "/items/0/a": {"source": "person"},
            "/items/1/a": {"source": "model"},
            "/total": {"source": "model"},
        },
    )
    assert _kept_families(confirmed, {}) == {"/items"}
    assert family_of("/items/12/a") == "/items"
    assert family_of("/seller/name") == "/seller/name"


def test_a_document_that_is_being_read_is_not_read_again(cast: Cast) -> None:
    document, _ = opened(cast.document_type)
    with pytest.raises(ConflictError):
        rerun_document(actor=Actor(cast.manager), document=document)


def test_a_rerun_cancels_the_task_that_nobody_began(cast: Cast) -> None:
    document = routed(cast.document_type, UNSURE)
    rerun_document(actor=Actor(cast.manager), document=document)
    assert ReviewTask.objects.get().state == "cancelled"
    assert Event.objects.filter(name="review_task.cancelled").exists()
    read_again(document, UNSURE)
    assert ReviewTask.objects.filter(state="open").count() == 1


@pytest.mark.parametrize("begun", ["held", "edited"])
def test_a_rerun_does_not_take_a_task_out_of_a_reviewers_hands(cast: Cast, begun: str) -> None:
    document = routed(cast.document_type, UNSURE)
    task = ReviewTask.objects.get()
    if begun == "held":
        later = timezone.now() + timedelta(minutes=5)
        ReviewTask.objects.update(lease_holder=cast.reviewer, lease_expires_at=later, lease_token="t")
    else:
        FieldEdit.objects.create(task=task, field_path="/total", version=1, verdict="confirmed", author=cast.reviewer)
    with pytest.raises(ConflictError):
        rerun_document(actor=Actor(cast.manager), document=document)
    document.refresh_from_db()
    task.refresh_from_db()
    assert (document.status, task.state) == ("review", "open")


def test_a_rerun_of_a_copy_reads_the_first(cast: Cast) -> None:
    document = routed(cast.document_type)
    copy = factories.make_document(cast.document_type, duplicate_of=document, status="stored")
    assert rerun_document(actor=Actor(cast.manager), document=copy) == document
    copy.refresh_from_db()
    assert copy.status == "received"


def test_a_run_of_another_engine_version_is_begun_anew(cast: Cast) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    run = ExtractionRun.objects.get()
    assert restart_document(actor=SYSTEM, document_id=document.pk, run_id=run.pk)
    assert not restart_document(actor=SYSTEM, document_id=document.pk, run_id=run.pk)
    run.refresh_from_db()
    document.refresh_from_db()
    assert (run.state, run.error_code, document.status) == ("failed", "engine_changed", "received")
    assert claim_page(page_read_id=page_read_id) is None
    assert queued() == [("open_document", document.pk)]
    read_again(document)
    assert document.status == "stored"
