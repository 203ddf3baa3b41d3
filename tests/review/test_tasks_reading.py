"""Two readers on every page: words first, then a language model's answer; each kept under what makes it one read."""

import gzip
from dataclasses import replace

import pytest
from django.core.files.base import ContentFile

from inference.imaging.hashing import content_hash
from inference.imaging.pages import decode_page
from inference.types import PageReading
from review.actions.engines import record_self_test, use_engine
from review.actions.intake import receive_document
from review.actions.readings import settle_request
from review.models import (
    Document,
    EngineVersion,
    ExtractionRun,
    FieldDecision,
    FieldPrediction,
    Page,
    PageRead,
    RawAnswer,
    Reading,
    ReviewTask,
    RoutingDecision,
    RoutingPolicy,
)
from review.selectors.access import SYSTEM
from review.selectors.page_words import page_words
from review.tasks import open_document, read_page
from review.tasks_reading import request_of
from tests import factories
from tests.conftest import Cast
from tests.replay.scenarios import INSTRUCTION
from tests.review.conftest import WORDS, Script, picture
from tests.review.queueing import work_off
from tests.review.vlm import SCRIPTED, VALUES, answering, read_with_vlm


@pytest.fixture
def version(cast: Cast) -> EngineVersion:
    return read_with_vlm(cast.project)


def send(cast: Cast, data: bytes) -> Document:
    return receive_document(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, file=ContentFile(data), filename="scan"
    ).document


def finished(document: Document) -> Document:
    document.refresh_from_db()
    return document


def hash_of(data: bytes) -> str:
    return content_hash(decode_page(data))


def kept(version: EngineVersion) -> Reading:
    return Reading.objects.get(engine_version=version)


def test_a_page_has_words_from_one_reader_and_an_answer_from_the_other(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering())
    document = send(cast, picture())
    work_off()
    run = ExtractionRun.objects.get()
    assert (run.engine_version, run.state) == (version, "routed")
    reading = PageReading.from_json(kept(version).payload)
    assert [word.text for word in reading.words] == [row[0] for row in WORDS]
    assert reading.answer is not None
    assert reading.answer.values == VALUES
    assert finished(document).n_pages_read == 1


def test_the_words_are_kept_under_the_version_of_who_read_them(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    words = Reading.objects.exclude(engine_version=version).get()
    assert (words.engine_version.name, words.request_digest) == ("scripted", "")
    assert "answer" not in words.payload
    assert words.engine_version.spec["script_sha256"]


def test_words_that_were_read_before_are_not_read_again(cast: Cast, script: Script) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    assert Reading.objects.count() == 1
    version = read_with_vlm(cast.project)
    other = factories.make_document_type(cast.project, "other")
    receive_document(actor=SYSTEM, project=cast.project, document_type=other, file=ContentFile(picture()), filename="x")
    work_off()
    assert Reading.objects.count() == 2
    assert Reading.objects.exclude(engine_version=version).count() == 1
    assert ExtractionRun.objects.order_by("-pk")[0].cpu_seconds == 0.0


def test_an_answer_is_kept_under_what_was_asked(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    run = ExtractionRun.objects.select_related("schema_version").get()
    assert kept(version).request_digest == run.request_digest == request_of(run).digest
    assert len(run.request_digest) == 64


def test_the_same_pixels_asked_the_same_are_answered_from_the_cache(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering(times=1))
    for _ in range(2):
        document = send(cast, picture())
        work_off()
        Document.objects.filter(pk=document.pk).update(sha256="not a duplicate")
    assert list(PageRead.objects.order_by("pk").values_list("is_cached", flat=True)) == [False, True]
    assert RawAnswer.objects.count() == 1


def test_another_type_of_document_asks_for_something_else(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering())
    send(cast, picture())
    schema = factories.SCHEMA | {"x-label": {"en": "Bill", "zh": "账单"}}
    other = factories.make_document_type(cast.project, "bill", schema)
    receive_document(actor=SYSTEM, project=cast.project, document_type=other, file=ContentFile(picture()), filename="x")
    work_off()
    assert Reading.objects.filter(engine_version=version).count() == 2
    assert not PageRead.objects.filter(is_cached=True).exists()


def test_every_attempt_is_kept_word_for_word(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering({**VALUES, "company": "书达文具"}))
    send(cast, picture())
    work_off()
    answer = RawAnswer.objects.get()
    assert gzip.decompress(answer.text_gzip).decode() == (
        '{"company": "书达文具", "date": "25/12/2018", "total": "9.00"}'
    )
    assert (answer.attempt, answer.finish_reason, answer.n_tokens, answer.error_code) == (1, "stop", 40, "")
    reading = kept(version)
    assert (answer.engine_version, answer.content_hash, answer.request_digest) == (
        version,
        reading.content_hash,
        reading.request_digest,
    )


@pytest.mark.parametrize("code", ["answer_cut_short", "answer_repeats", "answer_empty"])
def test_an_answer_that_cannot_be_used_is_kept_and_goes_to_a_person(
    cast: Cast, script: Script, version: EngineVersion, code: str
) -> None:
    script(default=answering(fault=code))
    document = send(cast, picture())
    work_off()
    document = finished(document)
    assert (document.status, document.reasons[0]) == ("review", code)
    assert (RawAnswer.objects.get().error_code, PageRead.objects.get().error_code) == (code, code)
    assert not Reading.objects.filter(engine_version=version).exists()
    assert ReviewTask.objects.filter(document=document, state="open").exists()


def test_a_model_that_obeys_what_is_printed_on_the_page_is_looked_at(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    printed = [[text, 0.1, 0.7 + 0.04 * n, 0.6, 0.73 + 0.04 * n, 0.99] for n, text in enumerate(INSTRUCTION)]
    for total, band in (("9.00", "sampled"), ("0.00", "review")):
        script(default={"words": [*WORDS, *printed], "answer": {"values": {**VALUES, "total": total}}})
        document = send(cast, picture(total))
        work_off()
        decided = FieldDecision.objects.get(decision__document=document, field_path="/total")
        predicted = FieldPrediction.objects.get(run__document=document, field_path="/total")
        assert (predicted.value, predicted.evidence["grounding"]) == (total, 1.0)
        assert (decided.band, predicted.evidence["readers_agree"]) == (band, float(band != "review"))
    assert decided.reasons == ["low_confidence", "engine_not_proven"]
    assert decided.is_to_examine
    assert finished(document).status == "review"
    assert ReviewTask.objects.filter(document=document, state="open").exists()


def test_an_answer_that_is_no_text_is_kept_as_it_can_be(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering({**VALUES, "company": "BOOK\ud800"}, fault="answer_unreadable"))
    document = send(cast, picture())
    work_off()
    assert finished(document).status == "review"
    assert '"BOOK\\ud800"' in gzip.decompress(RawAnswer.objects.get().text_gzip).decode()


def test_a_page_whose_answer_failed_has_its_words_to_pick_from(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering(fault="answer_unreadable"))
    send(cast, picture())
    work_off()
    words = page_words(Page.objects.get()).words
    assert [word.text for word in words][:3] == ["BOOK", "TA", "K"]
    # What the words alone say is a proposal to the person who looks.
    assert ExtractionRun.objects.get().predictions.get(field_path="/total").value == "9.00"


def test_a_page_waits_for_a_model_that_is_away_and_keeps_its_words(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering(fault="engine_unavailable", times=2))
    document = send(cast, picture())
    work_off()
    page_read = PageRead.objects.get()
    assert (page_read.state, page_read.n_attempts, Reading.objects.count()) == ("pending", 0, 1)
    read_page(page_read.pk)
    assert finished(document).status == "processing"
    read_page(page_read.pk)
    assert finished(document).status != "processing"
    assert Reading.objects.count() == 2


def test_all_pages_of_a_run_are_asked_the_same(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=3))
    work_off()
    digests = Reading.objects.filter(engine_version=version).values_list("request_digest", flat=True)
    assert (len(digests), len(set(digests))) == (3, 1)
    assert finished(document).n_pages_read == 3
    assert RoutingDecision.objects.count() == 1


def test_what_is_asked_is_settled_once(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    run, late = ExtractionRun.objects.get(), ExtractionRun.objects.get()
    settle_request(run=run, request_digest="a" * 64, examples=[{"page": 1}])
    settled = settle_request(run=late, request_digest="b" * 64, examples=[])
    assert (settled.request_digest, settled.examples) == ("a" * 64, [{"page": 1}])
    stored = ExtractionRun.objects.get()
    assert (stored.request_digest, stored.examples) == ("a" * 64, [{"page": 1}])


def test_a_project_that_changes_its_reader_begins_anew(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    newer = read_with_vlm(cast.project, replace(SCRIPTED, prompt_version="v2"))
    work_off()
    old, new = ExtractionRun.objects.order_by("pk")
    assert (old.error_code, old.engine_version, new.engine_version) == ("engine_changed", version, newer)
    assert finished(document).n_pages_read == 2
    use_engine(actor=SYSTEM, project=cast.project)
    send(cast, picture("other"))
    work_off()
    assert ExtractionRun.objects.order_by("-pk")[0].engine_version.spec.get("kind") is None


def test_a_page_delivered_twice_is_answered_once(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=2))
    for _ in range(2):
        open_document(document.pk)
        for page_read_id in PageRead.objects.values_list("pk", flat=True):
            read_page(page_read_id)
            read_page(page_read_id)
    assert RawAnswer.objects.count() == 2
    assert (RoutingDecision.objects.count(), finished(document).n_pages_read) == (1, 2)


def test_a_model_without_a_script_waits_like_any_engine(
    cast: Cast, script: Script, version: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = send(cast, picture())
    with monkeypatch.context() as patch:
        patch.delenv("STET_SCRIPTED_ANSWERS")
        work_off()
        assert (finished(document).status, document.n_attempts) == ("received", 0)
    script(default=answering())
    open_document(document.pk)
    assert finished(document).n_pages_read == 1


@pytest.mark.parametrize("tests", [[], [True, False], [False, True]])
def test_nothing_is_stored_for_sure_until_the_last_self_test_is_passed(
    cast: Cast, script: Script, version: EngineVersion, tests: list[bool]
) -> None:
    for is_passed in tests:
        record_self_test(actor=SYSTEM, engine_version=version, report={}, is_passed=is_passed)
    sure = {"default": {"auto": 0.0, "review": 0.0}}
    RoutingPolicy.objects.filter(document_type=cast.document_type).update(rules=factories.RULES | sure)
    script(default=answering())
    document = send(cast, picture())
    work_off()
    document = finished(document)
    if tests[-1:] == [True]:
        assert (document.band, "engine_not_proven" in document.reasons) == ("auto", False)
    else:
        assert (document.band, document.status) == ("sampled", "stored")
        assert "engine_not_proven" in document.reasons
        assert set(FieldDecision.objects.values_list("band", flat=True)) == {"sampled"}


def test_the_fields_are_those_of_the_answer_found_again_among_the_words(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    found = {one.field_path: one for one in FieldPrediction.objects.all()}
    assert {path: one.value for path, one in found.items()} == {
        "/company": "BOOK TA K SDN BHD",
        "/date": "2018-12-25",
        "/total": "9.00",
    }
    assert found["/total"].evidence["grounding"] == 1.0
    assert found["/total"].bbox == [0.7, 0.6, 0.8, 0.63]


def test_a_value_that_is_not_on_the_page_goes_to_a_person(cast: Cast, script: Script, version: EngineVersion) -> None:
    record_self_test(actor=SYSTEM, engine_version=version, report={}, is_passed=True)
    script(default=answering({**VALUES, "total": "91.40"}))
    document = send(cast, picture())
    work_off()
    assert finished(document).status == "review"
    assert "not_grounded" in FieldPrediction.objects.get(field_path="/total").findings


def test_a_mended_answer_is_never_stored_unseen(cast: Cast, script: Script, version: EngineVersion) -> None:
    record_self_test(actor=SYSTEM, engine_version=version, report={}, is_passed=True)
    script(default=answering(is_repaired=True))
    document = send(cast, picture())
    work_off()
    assert finished(document).status == "review"
    assert all("answer_repaired" in one.findings for one in FieldPrediction.objects.exclude(value=None))
