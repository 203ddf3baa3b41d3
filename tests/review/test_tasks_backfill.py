"""A language model goes through an archive: in batches, begun anew at any moment, with the same records and routing."""

from dataclasses import replace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings

from inference.engines.scripted_vlm import ScriptedVlmEngine
from inference.errors import EngineDiedError, EngineUnavailableError
from inference.imaging.hashing import content_hash
from review import tasks_backfill
from review.actions.engines import use_engine
from review.actions.intake import receive_document
from review.actions.leasing import lease_next_task
from review.models import (
    Document,
    EngineVersion,
    ExtractionRun,
    Page,
    PageRead,
    RawAnswer,
    Reading,
    Record,
    RoutingDecision,
)
from review.selectors.access import SYSTEM, Actor
from review.tasks import open_document
from review.tasks_backfill import Backfill, backfill
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off
from tests.review.vlm import SCRIPTED, answering, read_with_vlm


@pytest.fixture
def version(cast: Cast, script: Script) -> EngineVersion:
    script(default=answering())
    return read_with_vlm(cast.project)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pages the model was asked for at once, batch after batch."""
    sizes: list[int] = []
    read_pages = ScriptedVlmEngine.read_pages

    def counted(self: ScriptedVlmEngine, pages: Any) -> Any:
        sizes.append(len(pages))
        return read_pages(self, pages)

    monkeypatch.setattr(ScriptedVlmEngine, "read_pages", counted)
    return sizes


def take_in(cast: Cast, *texts: str, **how: Any) -> list[Document]:
    """Documents that nobody has opened yet: no worker runs."""
    return [
        receive_document(
            actor=SYSTEM,
            project=cast.project,
            document_type=cast.document_type,
            file=ContentFile(picture(text, **how)),
            filename=text,
        ).document
        for text in texts
    ]


def statuses() -> set[str]:
    return set(Document.objects.values_list("status", flat=True))


def outcome(document: Document) -> dict[str, Any]:
    """What became of a document, whoever read it."""
    document.refresh_from_db()
    run = document.runs.select_related("decision").get(is_current=True)
    return {
        "status": (document.status, document.band, document.reasons, document.n_pages_read),
        "fields": list(run.predictions.order_by("field_path").values_list("field_path", "value", "confidence", "bbox")),
        "decision": (run.decision.band, run.decision.reasons, run.decision.is_selected),
        "values": Record.objects.filter(document=document, is_current=True).values_list("values", flat=True).first(),
    }


def test_an_archive_is_read_in_batches(cast: Cast, version: EngineVersion, asked: list[int]) -> None:
    take_in(cast, "a", "b", "c", "d", "e")
    told: list[int] = []
    done = backfill(cast.project, batch_size=2, tell=lambda done: told.append(done.n_documents))
    assert (done, asked, told) == (Backfill(n_documents=5, n_read=5), [2, 2, 1], [2, 4, 5])
    assert statuses() <= {"stored", "review"}
    assert (ExtractionRun.objects.filter(state="routed").count(), RawAnswer.objects.count()) == (5, 5)


def test_pages_of_several_documents_go_side_by_side(cast: Cast, version: EngineVersion, asked: list[int]) -> None:
    take_in(cast, "a", "b", kind="TIFF", n_pages=3)
    backfill(cast.project)
    assert asked == [6]
    assert RoutingDecision.objects.count() == 2


def test_it_comes_to_the_same_as_when_workers_read(cast: Cast, version: EngineVersion) -> None:
    (by_worker,) = take_in(cast, "one", kind="TIFF", n_pages=2)
    work_off()
    before = outcome(by_worker)
    Document.objects.filter(pk=by_worker.pk).update(sha256="0" * 64)
    (by_backfill,) = take_in(cast, "one", kind="TIFF", n_pages=2)
    for reading in Reading.objects.all():
        Reading.objects.filter(pk=reading.pk).update(content_hash=f"forgotten {reading.pk}")
    assert backfill(cast.project).n_read == 2
    assert outcome(by_backfill) == before


def test_begun_anew_it_asks_for_nothing_twice(
    cast: Cast, version: EngineVersion, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed after the answers of a batch are kept and before any page is recorded."""
    take_in(cast, "a", "b", "c")

    def killed(page_read_id: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tasks_backfill, "read_page", killed)
        with pytest.raises(KeyboardInterrupt):
            backfill(cast.project, batch_size=2)
    assert statuses() == {"processing", "received"}
    done = backfill(cast.project, batch_size=2)
    assert (done.n_cached, done.n_read, asked) == (2, 1, [2, 1])
    assert (RawAnswer.objects.count(), RoutingDecision.objects.count()) == (3, 3)
    assert backfill(cast.project) == Backfill()


def test_an_answer_that_cannot_be_used_goes_to_a_person(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering(fault="answer_repeats"))
    (document,) = take_in(cast, "a")
    assert backfill(cast.project).n_failed == 1
    document.refresh_from_db()
    assert (document.status, document.reasons[0]) == ("review", "answer_repeats")
    assert RawAnswer.objects.get().error_code == "answer_repeats"
    assert PageRead.objects.get().reading is not None


def test_what_another_version_has_read_is_read_again_only_when_asked(cast: Cast, script: Script) -> None:
    script(default=answering())
    take_in(cast, "a", "b")
    work_off()
    version = read_with_vlm(cast.project)
    assert backfill(cast.project) == Backfill()
    assert backfill(cast.project, is_rereading=True) == Backfill(n_documents=2, n_read=2)
    current = ExtractionRun.objects.filter(is_current=True)
    assert set(current.values_list("engine_version", flat=True)) == {version.pk}
    assert backfill(cast.project, is_rereading=True) == Backfill()


def test_a_document_on_which_a_reviewer_has_begun_is_left_alone(cast: Cast, version: EngineVersion) -> None:
    document = factories.make_routed(cast.document_type)
    assert lease_next_task(actor=Actor(cast.reviewer), project=cast.project) is not None
    assert backfill(cast.project, is_rereading=True) == Backfill(n_left_out=1)
    document.refresh_from_db()
    assert document.status == "review"


def test_other_types_are_left_alone_where_one_is_named(cast: Cast, version: EngineVersion) -> None:
    (document,) = take_in(cast, "a")
    other = factories.make_document_type(cast.project, "other")
    assert backfill(cast.project, other) == Backfill()
    assert backfill(cast.project, cast.document_type).n_documents == 1
    document.refresh_from_db()
    assert document.status in ("stored", "review")


def test_a_document_begun_by_another_version_begins_anew(cast: Cast, version: EngineVersion) -> None:
    (document,) = take_in(cast, "a", kind="TIFF", n_pages=2)
    open_document(document.pk)
    newer = read_with_vlm(cast.project, replace(SCRIPTED, prompt_version="v2"))
    assert backfill(cast.project).n_read == 2
    assert ExtractionRun.objects.get(is_current=True).engine_version == newer
    assert RoutingDecision.objects.count() == 1


def test_a_page_that_the_model_breaks_off_on_ends_and_holds_nobody_up(
    cast: Cast, script: Script, version: EngineVersion
) -> None:
    script(default=answering(fault="answer_lost"))
    take_in(cast, "a", "b")
    for n in range(1, 4):
        backfill(cast.project)
        assert set(PageRead.objects.values_list("n_attempts", flat=True)) == {n}
    assert set(PageRead.objects.values_list("state", "error_code")) == {("failed", "answer_lost")}
    assert statuses() == {"review"}


def test_answers_are_kept_with_the_page_that_they_were_asked_for(cast: Cast, version: EngineVersion) -> None:
    take_in(cast, "a")
    backfill(cast.project)
    assert RawAnswer.objects.get().page_read == PageRead.objects.get()


def test_a_model_that_goes_away_stops_it_and_loses_nothing(cast: Cast, script: Script, version: EngineVersion) -> None:
    script(default=answering(fault="engine_unavailable"))
    take_in(cast, "a")
    with pytest.raises(EngineUnavailableError):
        backfill(cast.project)
    script(default=answering())
    assert backfill(cast.project).n_read == 1
    assert statuses() <= {"stored", "review"}


def test_an_ocr_engine_is_left_to_the_workers(cast: Cast, script: Script) -> None:
    use_engine(actor=SYSTEM, project=cast.project, engine_name="scripted")
    with pytest.raises(EngineUnavailableError, match="workers"):
        backfill(cast.project)


@pytest.fixture
def mortal(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedVlmEngine]:
    """A model in this process that does not survive the page of the file "killer.jpg": each one that died."""
    dead: list[ScriptedVlmEngine] = []
    read_page = ScriptedVlmEngine.read_page

    def mortally(self: ScriptedVlmEngine, page: Any, request: Any = None) -> Any:
        if self in dead:
            raise EngineDiedError("it is dead")
        if Page.objects.filter(document__filename="killer", content_hash=content_hash(page)).exists():
            dead.append(self)
            raise EngineDiedError("died of a page")
        return read_page(self, page, request)

    def side_by_side(self: ScriptedVlmEngine, asked: Any) -> Any:
        return [mortally(self, page, request) for page, request in asked]

    monkeypatch.setattr(ScriptedVlmEngine, "read_page", mortally)
    monkeypatch.setattr(ScriptedVlmEngine, "read_pages", side_by_side)
    return dead


def test_a_model_that_dies_of_a_page_is_built_anew_and_the_others_are_read(
    cast: Cast, version: EngineVersion, mortal: list[ScriptedVlmEngine], settings: Settings
) -> None:
    killer, *others = take_in(cast, "killer", "one", "two", "three", "four")
    done = backfill(cast.project, batch_size=3)
    assert done.n_documents == 5
    read = PageRead.objects.select_related("run__document")
    ended = read.get(run__document=killer)
    assert (ended.state, ended.error_code, ended.n_attempts) == ("failed", "answer_lost", settings.STET_MAX_ATTEMPTS)
    for document in others:
        one = read.get(run__document=document)
        assert (one.state, one.n_attempts) == ("read", 1)
    assert len(mortal) == 1 + settings.STET_MAX_ATTEMPTS
    assert statuses() <= {"stored", "review"}


def test_a_batch_that_is_over_has_counted_no_attempt(cast: Cast, version: EngineVersion) -> None:
    take_in(cast, "one", "two")
    backfill(cast.project)
    assert set(PageRead.objects.values_list("n_attempts", flat=True)) == {1}


def test_what_was_in_a_batch_that_took_its_process_with_it_is_asked_alone(
    cast: Cast, version: EngineVersion, asked: list[int]
) -> None:
    (document,) = take_in(cast, "two pages", kind="TIFF", n_pages=2)
    open_document(document.pk)
    suspect, other = PageRead.objects.order_by("pk")
    PageRead.objects.filter(pk=suspect.pk).update(n_attempts=1)
    backfill(cast.project)
    assert asked == [1], "the other one, in a batch without it"
    found = PageRead.objects.order_by("pk").values_list("pk", "state", "n_attempts")
    assert list(found) == [(suspect.pk, "read", 2), (other.pk, "read", 1)]


def test_a_batch_counts_an_attempt_of_its_pages_while_the_model_has_them_in_hand(
    cast: Cast, version: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    read_pages = ScriptedVlmEngine.read_pages

    def looking(self: ScriptedVlmEngine, pages: Any) -> Any:
        seen.extend(PageRead.objects.values_list("n_attempts", flat=True))
        return read_pages(self, pages)

    monkeypatch.setattr(ScriptedVlmEngine, "read_pages", looking)
    take_in(cast, "one", "two")
    backfill(cast.project)
    assert seen == [1, 1]
