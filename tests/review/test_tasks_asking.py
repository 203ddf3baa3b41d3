"""What a language model is asked: the same of all pages of a run, settled once; what of its answers is taken."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from inference.types import PageReading, page_digest
from inference.types.requests import QUESTION_VERSION
from review.actions.engines import record_self_test, use_engine
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
    RoutingDecision,
    RoutingPolicy,
)
from review.selectors.access import SYSTEM
from review.selectors.raw_answers import raw_answers_of
from review.tasks import open_document, read_page
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off
from tests.review.reading_through import finished, send
from tests.review.scripted import WORDS
from tests.review.vlm import SCRIPTED, VALUES, answering, read_with_vlm


def test_all_pages_of_a_run_are_asked_the_same(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=3))
    work_off()
    digests = Reading.objects.filter(engine_version=vlm).values_list("request_digest", flat=True)
    asked = ExtractionRun.objects.get().request_digest
    assert list(digests.order_by("pk")) == [asked, page_digest(asked, 2), page_digest(asked, 3)]
    assert finished(document).n_pages_read == 3
    assert RoutingDecision.objects.count() == 1


def send_again(cast: Cast, data: bytes) -> Document:
    """Send the same pixels as another document."""
    Document.objects.update(sha256="not a duplicate")
    return send(cast, data)


def test_words_of_another_reader_are_not_taken_from_a_reading_of_before(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    """Its answer was grounded among words that nobody reads there any more."""
    script(default=answering())
    send(cast, picture())
    work_off()
    script(default={**answering(), "words": [*WORDS, ["Cash", 0.1, 0.7, 0.3, 0.73, 0.99]]})
    send_again(cast, picture())
    work_off()
    assert list(PageRead.objects.order_by("pk").values_list("is_cached", flat=True)) == [False, False]
    newest = Reading.objects.filter(engine_version=vlm).latest("pk")
    assert [word.text for word in PageReading.from_json(newest.payload).words][-1] == "Cash"


def test_other_code_that_makes_the_questions_asks_anew(
    cast: Cast, script: Script, vlm: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(default=answering())
    send(cast, picture())
    work_off()
    monkeypatch.setattr("inference.types.requests.QUESTION_VERSION", QUESTION_VERSION + 1)
    for is_cached in (False, True):
        send_again(cast, picture())
        work_off()
        assert PageRead.objects.latest("pk").is_cached is is_cached


def test_the_same_pixels_as_a_first_and_as_a_later_page_are_two_readings(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    """An answer without values is a failure there and a reading here."""
    script(default=answering())
    frame = Image.open(io.BytesIO(picture()))
    data = io.BytesIO()
    frame.save(data, "TIFF", save_all=True, append_images=[frame, frame])
    send(cast, data.getvalue())
    work_off()
    run = ExtractionRun.objects.get()
    reads = PageRead.objects.order_by("page__page_number").select_related("reading")
    assert len({read.page.content_hash for read in reads}) == 1
    assert [read.is_cached for read in reads] == [False, False, True]
    first, later = run.request_digest, page_digest(run.request_digest, 2)
    assert [read.reading.request_digest for read in reads if read.reading] == [first, later, later]
    # What the model said is told once for each page that asked.
    said = raw_answers_of(cast.project.pk, run, list(Page.objects.order_by("page_number")))
    assert [one.page_number for one in said] == [1, 2]


def test_a_run_whose_words_would_be_read_otherwise_by_now_begins_anew(
    cast: Cast, script: Script, vlm: EngineVersion
) -> None:
    """As after an upgrade between two pages: what is left would be kept under a question that nobody asked."""
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    first, second = PageRead.objects.order_by("page__page_number")
    read_page(first.pk)
    script(default={**answering(), "words": [*WORDS, ["Cash", 0.1, 0.7, 0.3, 0.73, 0.99]]})
    read_page(second.pk)
    work_off()
    old, new = ExtractionRun.objects.order_by("pk")
    assert (old.state, old.error_code, new.state) == ("failed", "engine_changed", "routed")
    kept = Reading.objects.filter(engine_version=vlm).values_list("request_digest", flat=True)
    assert old.request_digest != new.request_digest
    assert sorted(kept) == sorted([old.request_digest, new.request_digest, page_digest(new.request_digest, 2)])


def test_what_is_asked_is_settled_once(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    run, late = ExtractionRun.objects.get(), ExtractionRun.objects.get()
    settle_request(run=run, request_digest="a" * 64, examples=[{"page": 1}])
    settled = settle_request(run=late, request_digest="b" * 64, examples=[])
    assert (settled.request_digest, settled.examples) == ("a" * 64, [{"page": 1}])
    stored = ExtractionRun.objects.get()
    assert (stored.request_digest, stored.examples) == ("a" * 64, [{"page": 1}])


def test_a_project_that_changes_its_reader_begins_anew(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    script(default=answering())
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    newer = read_with_vlm(cast.project, replace(SCRIPTED, prompt_version="v2"))
    work_off()
    old, new = ExtractionRun.objects.order_by("pk")
    assert (old.error_code, old.engine_version, new.engine_version) == ("engine_changed", vlm, newer)
    assert finished(document).n_pages_read == 2
    use_engine(actor=SYSTEM, project=cast.project)
    send(cast, picture("other"))
    work_off()
    assert ExtractionRun.objects.order_by("-pk")[0].engine_version.spec.get("kind") is None


def test_a_page_delivered_twice_is_answered_once(cast: Cast, script: Script, vlm: EngineVersion) -> None:
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
    cast: Cast, script: Script, vlm: EngineVersion, monkeypatch: pytest.MonkeyPatch
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
    cast: Cast, script: Script, vlm: EngineVersion, tests: list[bool]
) -> None:
    for is_passed in tests:
        record_self_test(actor=SYSTEM, engine_version=vlm, report={}, is_passed=is_passed)
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
    cast: Cast, script: Script, vlm: EngineVersion
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


def test_a_value_that_is_not_on_the_page_goes_to_a_person(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    record_self_test(actor=SYSTEM, engine_version=vlm, report={}, is_passed=True)
    script(default=answering({**VALUES, "total": "91.40"}))
    document = send(cast, picture())
    work_off()
    assert finished(document).status == "review"
    assert "not_grounded" in FieldPrediction.objects.get(field_path="/total").findings


def test_a_mended_answer_is_never_stored_unseen(cast: Cast, script: Script, vlm: EngineVersion) -> None:
    record_self_test(actor=SYSTEM, engine_version=vlm, report={}, is_passed=True)
    script(default=answering(is_repaired=True))
    document = send(cast, picture())
    work_off()
    assert finished(document).status == "review"
    assert all("answer_repaired" in one.findings for one in FieldPrediction.objects.exclude(value=None))
