"""Two readers on every page: words first, then a language model's answer; each kept under what makes it one read."""

import gzip
import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from pytest_django import Settings

from inference.engines.scripted_vlm import ScriptedVlmEngine
from inference.engines.vlm import VlmEngine
from inference.errors import AnswerLostError, EngineDiedError, EngineError, EngineUnavailableError
from inference.registry import forget_engines
from inference.types import PageImage, PageReading, PageRequest, VlmSpec
from inference.types import RawAnswer as Attempt
from review import tasks_reading
from review.actions.engines import record_self_test
from review.actions.intake import receive_document
from review.actions.recovery import beat
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
    WorkerHeartbeat,
)
from review.selectors.access import SYSTEM
from review.selectors.page_words import page_words
from review.tasks import read_page
from review.tasks_engines import name_worker
from review.tasks_reading import request_of
from tests import factories
from tests.conftest import Cast
from tests.inference.serving.asking import ScriptedModel
from tests.replay.scenarios import INSTRUCTION
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off
from tests.review.reading_through import finished, send
from tests.review.scripted import WORDS
from tests.review.vlm import VALUES, answering, read_with_vlm


def kept(version: EngineVersion) -> Reading:
    return Reading.objects.get(engine_version=version)


def test_a_page_has_words_from_one_reader_and_an_answer_from_the_other(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    script(default=answering())
    document = send(cast, picture())
    work_off()
    run = ExtractionRun.objects.get()
    assert (run.engine_version, run.state) == (vlm, "routed")
    reading = PageReading.from_json(kept(vlm).payload)
    assert [word.text for word in reading.words] == [row[0] for row in WORDS]
    assert reading.answer is not None
    assert reading.answer.values == VALUES
    assert finished(document).n_pages_read == 1


def test_the_words_are_kept_under_the_version_of_who_read_them(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    words = Reading.objects.exclude(engine_version=vlm).get()
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


def test_an_answer_is_kept_under_what_was_asked(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    run = ExtractionRun.objects.select_related("schema_version").get()
    assert kept(vlm).request_digest == run.request_digest == request_of(run).digest
    assert len(run.request_digest) == 64


def test_the_same_pixels_asked_the_same_are_answered_from_the_cache(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    script(default=answering(times=1))
    for _ in range(2):
        document = send(cast, picture())
        work_off()
        Document.objects.filter(pk=document.pk).update(sha256="not a duplicate")
    assert list(PageRead.objects.order_by("pk").values_list("is_cached", flat=True)) == [False, True]
    assert RawAnswer.objects.count() == 1


def test_another_type_of_document_asks_for_something_else(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering())
    send(cast, picture())
    schema = factories.SCHEMA | {"x-label": {"en": "Bill", "zh": "账单"}}
    other = factories.make_document_type(cast.project, "bill", schema)
    receive_document(actor=SYSTEM, project=cast.project, document_type=other, file=ContentFile(picture()), filename="x")
    work_off()
    assert Reading.objects.filter(engine_version=vlm).count() == 2
    assert not PageRead.objects.filter(is_cached=True).exists()


def test_every_attempt_is_kept_word_for_word(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering({**VALUES, "company": "书达文具"}))
    send(cast, picture())
    work_off()
    answer = RawAnswer.objects.get()
    assert gzip.decompress(answer.text_gzip).decode() == (
        '{"company": "书达文具", "date": "25/12/2018", "total": "9.00"}'
    )
    assert (answer.attempt, answer.finish_reason, answer.n_tokens, answer.error_code) == (1, "stop", 40, "")
    assert answer.page_read == PageRead.objects.get()
    reading = kept(vlm)
    assert (answer.engine_version, answer.content_hash, answer.request_digest) == (
        vlm,
        reading.content_hash,
        reading.request_digest,
    )


@pytest.mark.parametrize("code", ["answer_cut_short", "answer_repeats", "answer_empty"])
def test_an_answer_that_cannot_be_used_is_kept_and_goes_to_a_person(
    cast: Cast, script: Script, vlm: EngineVersion, code: str
) -> None:
    script(default=answering(fault=code))
    document = send(cast, picture())
    work_off()
    document = finished(document)
    assert (document.status, document.reasons[0]) == ("review", code)
    assert (RawAnswer.objects.get().error_code, PageRead.objects.get().error_code) == (code, code)
    assert RawAnswer.objects.get().page_read == PageRead.objects.get()
    assert not Reading.objects.filter(engine_version=vlm).exists()
    assert ReviewTask.objects.filter(document=document, state="open").exists()


def test_a_model_that_obeys_what_is_printed_on_the_page_is_looked_at(
    cast: Cast, script: Script, vlm: EngineVersion
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


def test_an_answer_that_is_no_text_is_kept_as_it_can_be(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering({**VALUES, "company": "BOOK\ud800"}, fault="answer_unreadable"))
    document = send(cast, picture())
    work_off()
    assert finished(document).status == "review"
    assert '"BOOK\\ud800"' in gzip.decompress(RawAnswer.objects.get().text_gzip).decode()


def test_a_page_whose_answer_failed_has_its_words_to_pick_from(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering(fault="answer_unreadable"))
    send(cast, picture())
    work_off()
    words = page_words(Page.objects.get()).words
    assert [word.text for word in words][:3] == ["BOOK", "TA", "K"]
    # What the words alone say is a proposal to the person who looks.
    assert ExtractionRun.objects.get().predictions.get(field_path="/total").value == "9.00"


def test_a_page_waits_for_a_model_that_is_away_and_keeps_its_words(
    cast: Cast, script: Script, vlm: EngineVersion
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


@pytest.mark.parametrize("code", ["answer_lost", "answer_late"])
def test_a_page_that_the_model_breaks_off_on_each_time_goes_to_a_person_with_its_words(
    cast: Cast, script: Script, vlm: EngineVersion, settings: Settings, code: str
) -> None:
    script(default=answering(fault=code))
    document = send(cast, picture())
    work_off()
    for n in range(1, settings.STET_MAX_ATTEMPTS):
        page_read = PageRead.objects.get()
        assert (page_read.state, page_read.n_attempts, finished(document).reasons) == ("pending", n, [code])
        read_page(page_read.pk)
    page_read = PageRead.objects.get()
    assert (page_read.state, page_read.error_code, page_read.n_attempts) == ("failed", code, settings.STET_MAX_ATTEMPTS)
    document = finished(document)
    assert (document.status, document.reasons[0]) == ("review", code)
    assert [word.text for word in page_words(Page.objects.get()).words][:3] == ["BOOK", "TA", "K"]
    assert ExtractionRun.objects.get().predictions.get(field_path="/total").value == "9.00"


def test_a_page_that_the_model_breaks_off_on_says_nothing_against_the_engine(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    name_worker("w")
    try:
        beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())
        script(default=answering(fault="answer_lost"))
        send(cast, picture())
        work_off()
        assert WorkerHeartbeat.objects.get().engine_error == ""
    finally:
        name_worker("")


def test_a_page_that_the_model_refuses_has_its_words_to_pick_from(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    script(default=answering(fault="engine_failed"))
    document = send(cast, picture())
    work_off()
    assert (finished(document).status, document.reasons[0]) == ("review", "engine_failed")
    assert [word.text for word in page_words(Page.objects.get()).words][:3] == ["BOOK", "TA", "K"]


def test_what_the_words_took_of_the_pages_time_the_model_does_not_have(
    cast: Cast, script: Script, vlm: EngineVersion, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One deadline for a page, or the task's own would end the worker first."""
    now = [1000.0]
    given: list[float | None] = []
    script(default=answering())
    words, ask = tasks_reading.words_of, ScriptedVlmEngine.read_page

    def slowly(*args: Any, **named: Any) -> Any:
        now[0] += 30.0
        return words(*args, **named)

    def read_page(self: ScriptedVlmEngine, page: PageImage, request: PageRequest | None = None) -> PageReading:
        assert request is not None
        given.append(request.seconds)
        return ask(self, page, request)

    monkeypatch.setattr(tasks_reading, "words_of", slowly)
    monkeypatch.setattr(tasks_reading, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(ScriptedVlmEngine, "read_page", read_page)
    send(cast, picture())
    work_off()
    assert given == [settings.STET_MODEL_SECONDS - 30.0]


@pytest.fixture
def talking(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[Any]], None]:
    """Have the scripted version answered by a real dialogue that meets these, in their order."""

    def talk(answers: Sequence[Any]) -> None:
        model = ScriptedModel(answers)
        monkeypatch.setattr(
            "inference.engines.scripted_vlm.build", lambda spec: VlmEngine(spec, model, page_seconds=60)
        )
        forget_engines()

    return talk


HIGH_VALUE = {
    **factories.SCHEMA,
    "properties": {
        name: {**hints, "x-high-value": True} if name == "total" else hints
        for name, hints in factories.SCHEMA["properties"].items()
    },
}


SAID = json.dumps(VALUES)


@pytest.mark.parametrize("failure", [EngineError("refused"), AnswerLostError("answer_lost", "reset")])
def test_a_second_look_that_failed_loses_nothing_and_stores_nothing_unseen(
    cast: Cast,
    script: Script,
    vlm: EngineVersion,
    talking: Callable[[Sequence[Any]], None],
    failure: Exception,
) -> None:
    record_self_test(actor=SYSTEM, engine_version=vlm, report={}, is_passed=True)
    talking([Attempt(SAID, "stop"), failure])
    high = factories.make_document_type(cast.project, "high", HIGH_VALUE)
    document = receive_document(
        actor=SYSTEM, project=cast.project, document_type=high, file=ContentFile(picture()), filename="x"
    ).document
    work_off()
    found = {one.field_path: one for one in FieldPrediction.objects.all()}
    assert found["/total"].value == "9.00"
    assert "second_look_failed" in found["/total"].findings
    assert found["/total"].confidence is not None
    assert found["/total"].confidence <= 0.5
    assert finished(document).status == "review"
    assert gzip.decompress(RawAnswer.objects.get().text_gzip).decode() == SAID
    reading = PageReading.from_json(kept(vlm).payload)
    assert reading.answer is not None
    assert reading.answer.has_second_look_failed
    assert [word.text for word in reading.words] == [row[0] for row in WORDS]


def test_a_retry_that_was_refused_keeps_the_first_answer_and_its_reason(
    cast: Cast, script: Script, vlm: EngineVersion, talking: Callable[[Sequence[Any]], None]
) -> None:
    talking([Attempt("the the quick", "stop"), EngineError("refused")])
    document = send(cast, picture())
    work_off()
    assert (finished(document).status, document.reasons[0]) == ("review", "answer_unreadable")
    answer = RawAnswer.objects.get()
    assert (gzip.decompress(answer.text_gzip), answer.error_code) == (b"the the quick", "answer_unreadable")
    assert [word.text for word in page_words(Page.objects.get()).words][:3] == ["BOOK", "TA", "K"]


def test_a_server_that_went_away_between_two_questions_leaves_what_it_said(
    cast: Cast, script: Script, vlm: EngineVersion, talking: Callable[[Sequence[Any]], None]
) -> None:
    gone = EngineUnavailableError("gone")
    talking([Attempt("the the quick", "stop"), gone, Attempt(SAID, "stop")])
    document = send(cast, picture())
    work_off()
    page_read = PageRead.objects.get()
    assert (page_read.state, page_read.n_attempts) == ("pending", 0)
    assert RawAnswer.objects.get().error_code == "engine_unavailable"
    read_page(page_read.pk)
    assert finished(document).n_pages_read == 1
    assert list(RawAnswer.objects.order_by("pk").values_list("error_code", "page_read")) == [
        ("engine_unavailable", page_read.pk),
        ("", page_read.pk),
    ]


def test_an_engine_that_died_is_built_anew_for_the_next_attempt(
    cast: Cast, script: Script, vlm: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[VlmEngine] = []

    def build(spec: VlmSpec) -> VlmEngine:
        first: list[Any] = [EngineDiedError("vLLM failed with EngineDeadError")] if not built else []
        built.append(VlmEngine(spec, ScriptedModel([*first, Attempt(SAID, "stop")])))
        return built[-1]

    monkeypatch.setattr("inference.engines.scripted_vlm.build", build)
    forget_engines()
    document = send(cast, picture())
    work_off()
    read_page(PageRead.objects.get().pk)
    assert (finished(document).n_pages_read, len(built)) == (1, 2)
    assert PageRead.objects.get().n_attempts == 2
