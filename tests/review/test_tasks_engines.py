"""Who reads a document: its project's engine, or what was learned on top of one; where that cannot be had, the base."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.utils import timezone

from inference.errors import EngineUnavailableError
from inference.registry import engine_for
from review.actions._compositions import ensure_composed_version
from review.actions.engines import use_engine
from review.actions.evaluation import register_engine
from review.actions.reading import rerun_document
from review.actions.recovery import beat
from review.models import (
    AuditEntry,
    EngineVersion,
    ExtractionRun,
    ModelKind,
    PageRead,
    RawAnswer,
    Reading,
    TrainedModel,
)
from review.selectors.access import SYSTEM
from review.selectors.documents import shown_status
from review.selectors.raw_answers import raw_answers_of
from review.selectors.reading import RunToRoute, run_to_route
from review.selectors.rollouts import stand_in_of
from review.selectors.workers import worker_summary
from review.tasks import open_document, sweep
from review.tasks_engines import exact_reader, identity_of, model_errors, name_worker, reader_of, words_engine_of
from review.tasks_models import forget_models
from tests import factories
from tests.conftest import Cast
from tests.inference.classifiers import sure_of
from tests.inference.serving.self_test.fake_vllm import FakeVllm
from tests.inference.serving.specs import SMALL
from tests.review.conftest import Script, picture
from tests.review.live_room import live, read, total
from tests.review.queueing import work_off
from tests.review.reading_through import send
from tests.review.served import put_behind
from tests.review.trained import make_calibrator, make_locator, make_model
from tests.review.vlm import answering, read_with_vlm

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_nothing_loaded")]

TWO_TOTALS = [
    ["Total", 0.1, 0.5, 0.3, 0.53, 0.99],
    ["9.00", 0.7, 0.5, 0.8, 0.53, 0.99],
    ["Paid", 0.1, 0.7, 0.3, 0.73, 0.99],
    ["20.00", 0.7, 0.7, 0.8, 0.73, 0.99],
]
LOWEST_ON_THE_PAGE: Mapping[str, Mapping[str, float]] = {"/total": {"top": -50.0, "bias": 30.0}}


@pytest.fixture
def _nothing_loaded() -> None:
    forget_models()


@pytest.fixture
def base(script: Script) -> EngineVersion:
    script(default={"words": TWO_TOTALS})
    return register_engine(engine=identity_of(engine_for("scripted")))


def learned(cast: Cast, base: EngineVersion) -> EngineVersion:
    return live(cast, ensure_composed_version(base, make_locator(cast.document_type, LOWEST_ON_THE_PAGE)))


def test_what_was_learned_finds_the_fields_of_what_its_base_read(cast: Cast, base: EngineVersion) -> None:
    assert total(read(cast)).value == "9.00"
    version = learned(cast, base)
    run = read(cast, "another")
    assert (run.engine_version, run.state) == (version, "routed")
    assert total(run).value == "20.00"
    assert set(Reading.objects.values_list("engine_version", flat=True)) == {base.pk}


def test_pages_that_the_base_has_read_are_not_read_again(cast: Cast, base: EngineVersion) -> None:
    run = read(cast)
    learned(cast, base)
    rerun_document(actor=SYSTEM, document=run.document)
    work_off()
    again = ExtractionRun.objects.get(document=run.document, is_current=True)
    assert PageRead.objects.get(run=again).is_cached
    assert Reading.objects.count() == 1
    assert total(again).value == "20.00"


def test_a_calibrator_weighs_what_is_routed(cast: Cast, base: EngineVersion) -> None:
    model = make_calibrator(cast.document_type, base.digest, {"/total": 0.25})
    assert total(read(cast)).confidence != 0.25
    live(cast, ensure_composed_version(base, None, model))
    run = read(cast, "another")
    assert (total(run).confidence, total(run).value) == (0.25, "9.00")
    assert run.decision.fields.get(field_path="/total").band == "review"


def test_another_engine_than_the_base_reads_alone_and_people_are_told(
    cast: Cast, base: EngineVersion, script: Script
) -> None:
    version = learned(cast, base)
    script(default={"words": [*TWO_TOTALS, ["Thanks", 0.1, 0.9, 0.3, 0.93, 0.99]]})
    run = read(cast)
    assert run.engine_version not in (version, base)
    assert (run.state, total(run).value) == ("routed", "9.00")
    assert stand_in_of(cast.document_type) == run.engine_version
    with pytest.raises(EngineUnavailableError):
        exact_reader(version)


def test_a_damaged_model_reads_nothing_and_its_base_reads_alone(cast: Cast, base: EngineVersion) -> None:
    version = learned(cast, base)
    TrainedModel.objects.update(payload=b"damaged")
    run = read(cast)
    assert (run.engine_version, run.state, total(run).value) == (base, "routed", "9.00")
    with pytest.raises(EngineUnavailableError):
        exact_reader(version)


def test_a_model_that_is_damaged_between_reading_and_finding_restarts_the_document(
    cast: Cast, base: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned(cast, base)
    document = send(cast, picture())

    def damaged_before(run_id: int) -> RunToRoute | None:
        forget_models()
        TrainedModel.objects.update(payload=b"damaged")
        return run_to_route(run_id)

    # As another process would find it that had not loaded it before.
    monkeypatch.setattr("review.tasks.run_to_route", damaged_before)
    work_off()
    runs = ExtractionRun.objects.filter(document=document).order_by("pk")
    assert [(run.state, run.engine_version == base) for run in runs] == [("failed", False), ("routed", True)]


def test_exactly_the_version_that_is_installed_can_be_had(cast: Cast, base: EngineVersion) -> None:
    reader = exact_reader(base)
    assert reader.identity.digest == reader.reads_as.digest == base.digest
    version = learned(cast, base)
    reader = exact_reader(version)
    assert (reader.identity.digest, reader.reads_as.digest) == (version.digest, base.digest)
    with pytest.raises(EngineUnavailableError):
        exact_reader(EngineVersion.objects.create(name="scripted", spec={}, digest="f" * 64))


def test_a_live_base_reads_like_any_version(cast: Cast, base: EngineVersion) -> None:
    live(cast, base)
    assert read(cast).engine_version == base


def test_an_engine_that_is_no_more_is_replaced_by_the_projects(cast: Cast, base: EngineVersion) -> None:
    live(cast, factories.make_engine_version("gone"))
    document = factories.make_document(cast.document_type)
    assert reader_of(document).identity.digest == base.digest
    assert words_engine_of(document) is engine_for("scripted")


def test_what_was_learned_on_a_language_model_keeps_its_answers_under_the_model(cast: Cast, script: Script) -> None:
    script(default=answering())
    declared = read_with_vlm(cast.project)
    version = live(cast, ensure_composed_version(declared, make_locator(cast.document_type, LOWEST_ON_THE_PAGE)))
    run = read(cast)
    assert (run.engine_version, run.state) == (version, "routed")
    assert set(RawAnswer.objects.values_list("engine_version", flat=True)) == {declared.pk}
    assert Reading.objects.filter(engine_version=version).count() == 0
    assert len(raw_answers_of(cast.project.pk, run, list(run.document.pages.all()))) == 1
    assert words_engine_of(run.document) is engine_for("scripted")


def test_the_heartbeat_says_which_language_model_is_away_and_when_it_is_back(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The OCR engine of the house is there all the while: nothing of it hides that a project cannot go on."""
    server = FakeVllm()
    put_behind(server, monkeypatch)
    version = read_with_vlm(cast.project, SMALL)
    name_worker("w")
    try:
        beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())
        for state, errors in (
            (SMALL, {}),
            (replace(SMALL, quantisation="fp8"), {version.pk: "version_not_served"}),
            (SMALL, {}),
            (None, {version.pk: "engine_unavailable"}),
            (None, {version.pk: "engine_unavailable"}),
            (SMALL, {}),
        ):
            server.is_away, server.spec = state is None, state or SMALL
            sweep()
            summary = worker_summary()
            assert (summary.engine_error, summary.model_errors) == ("", errors)
            assert summary.standstill(cast.document_type.pk) == ("waiting_for_model" if errors else "")
            assert summary.standstill(cast.other_document_type.pk) == ""
    finally:
        name_worker("")


def test_a_language_model_that_no_project_reads_with_is_nobodys_error(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_behind(FakeVllm(is_away=True), monkeypatch)
    read_with_vlm(cast.project, SMALL)
    use_engine(actor=SYSTEM, project=cast.project)
    assert model_errors() == {}


def test_a_model_that_runs_within_a_worker_is_not_loaded_to_be_looked_after(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_with_vlm(cast.project, replace(SMALL, kind="vllm_offline"))
    monkeypatch.setattr("review.tasks_engines.engine_for", None)
    assert model_errors() == {}


def test_a_page_that_meets_its_language_model_away_says_so_at_once(cast: Cast, script: Script) -> None:
    script(default=answering(fault="engine_unavailable", times=1))
    version = read_with_vlm(cast.project)
    name_worker("w")
    try:
        beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())
        document = send(cast, picture())
        work_off()
        assert worker_summary().model_errors == {version.pk: "engine_unavailable"}
        assert worker_summary().engine_error == ""
        document.refresh_from_db()
        assert shown_status(document) == "waiting_for_model"
        sweep()
        assert shown_status(document) == "processing"
    finally:
        name_worker("")


def test_what_was_learned_on_a_language_model_waits_for_that_model(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type may be read by another model than its project: documents wait for the base of its live version."""
    put_behind(FakeVllm(is_away=True), monkeypatch)
    declared = read_with_vlm(cast.project, SMALL)
    use_engine(actor=SYSTEM, project=cast.project)
    live(cast, ensure_composed_version(declared, make_locator(cast.document_type, LOWEST_ON_THE_PAGE)))
    assert model_errors() == {declared.pk: "engine_unavailable"}
    name_worker("w")
    try:
        beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())
        sweep()
        assert shown_status(send(cast, picture())) == "waiting_for_model"
        other = factories.make_document_type(cast.project, "other")
        assert worker_summary().standstill(other.pk) == ""
    finally:
        name_worker("")


def test_a_document_that_looks_like_another_type_goes_to_a_person_who_is_told_why(
    cast: Cast, base: EngineVersion
) -> None:
    other = factories.make_document_type(cast.project, "invoice")
    payload = sure_of(other.pk, other_than=cast.document_type.pk).as_bytes()
    make_model(cast.document_type, ModelKind.CLASSIFIER, payload, "json")
    document = read(cast).document
    document.refresh_from_db()
    assert (document.status, "type_doubtful" in document.reasons) == ("review", True)
    detail = AuditEntry.objects.get(action="document.routed").detail
    assert (detail["suggested_type"], detail["chance"]) == ("invoice", 0.999)
    assert (document.suggested_type, document.suggested_from) == (other, 24)
    assert document.suggested_chance == pytest.approx(0.999)
    # Read again when it looks like what it is, nothing is left of that.
    TrainedModel.objects.all().delete()
    rerun_document(actor=SYSTEM, document=document)
    open_document(document.pk)
    document.refresh_from_db()
    assert (document.suggested_type, document.suggested_chance, document.suggested_from) == (None, None, None)
