"""An OCR engine with another profile is declared, rolled out for a type, and keeps its readings apart."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from inference.engines.rapidocr import with_profile
from inference.errors import EngineUnavailableError
from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from inference.registry import build_engine, engine_for, forget_engines
from inference.types import OcrProfile
from review.actions.engines import declare_ocr_version
from review.actions.evaluation import register_engine
from review.actions.reading import rerun_document
from review.actions.rollouts import start_rollout
from review.exceptions import InvalidInputError
from review.models import AuditEntry, EngineVersion, ExtractionRun, Reading, ShadowRead
from review.selectors.access import SYSTEM
from review.selectors.rollouts import champion_of, versions_to_roll_out
from review.tasks_engines import exact_reader, identity_of, profiled_identity
from tests.conftest import Cast
from tests.review.conftest import Script
from tests.review.live_room import live, read, total
from tests.review.queueing import work_off

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = [
    ["Total", 0.1, 0.5, 0.3, 0.53, 0.99],
    ["9.00", 0.7, 0.5, 0.8, 0.53, 0.99],
    ["faint", 0.7, 0.3, 0.8, 0.33, 0.6],
]
STRICT = OcrProfile(min_text_score=0.9)
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.fixture
def house(script: Script) -> EngineVersion:
    script(default={"words": WORDS})
    return register_engine(engine=identity_of(engine_for("scripted")))


def declared(profile: OcrProfile = STRICT) -> EngineVersion:
    return declare_ocr_version(actor=SYSTEM, identity=profiled_identity("scripted", profile))


def texts(version: EngineVersion) -> list[list[str]]:
    readings = Reading.objects.filter(engine_version=version).order_by("pk")
    return [sorted(word[0] for word in reading.payload["words"]) for reading in readings]


def test_it_reads_the_type_it_is_live_for_and_keeps_its_readings_apart(cast: Cast, house: EngineVersion) -> None:
    first = read(cast)
    assert first.engine_version == house
    version = live(cast, declared())
    # The same pixels: nothing that the house has read is taken for a reading of this version.
    rerun_document(actor=SYSTEM, document=first.document)
    work_off()
    run = ExtractionRun.objects.select_related("engine_version").get(document=first.document, is_current=True)
    assert run.engine_version == version
    assert total(run).value == "9.00"
    assert texts(house) == [["9.00", "Total", "faint"]]
    assert texts(version) == [["9.00", "Total"]]


def test_it_is_offered_and_can_be_started_and_the_house_engine_cannot(cast: Cast, house: EngineVersion) -> None:
    read(cast)
    version = declared()
    assert versions_to_roll_out(cast.document_type, champion_of(cast.document_type)) == [version]
    with pytest.raises(InvalidInputError):
        start_rollout(actor=SYSTEM, document_type=cast.document_type, engine_version=house)
    assert start_rollout(actor=SYSTEM, document_type=cast.document_type, engine_version=version).stage == "shadow"


def test_the_same_profile_twice_is_one_version_and_another_is_another(house: EngineVersion) -> None:
    version = declared()
    assert declared() == version
    assert AuditEntry.objects.filter(action="engine_version.declared").count() == 1
    assert declared(OcrProfile(min_text_score=0.8)) != version
    assert version.digest != house.digest
    assert exact_reader(version).identity.digest == version.digest


def test_after_an_upgrade_the_house_reads_and_nobody_takes_its_word_for_the_other(
    cast: Cast, house: EngineVersion, script: Script
) -> None:
    version = live(cast, declared())
    forget_engines()
    script(default={"words": WORDS[:2]})
    stand_in = read(cast).engine_version
    assert stand_in not in (version, house)
    assert "profile" not in stand_in.spec
    with pytest.raises(EngineUnavailableError):
        exact_reader(version)


def test_it_is_declared_by_a_command_that_names_each_mistake(house: EngineVersion) -> None:
    out = io.StringIO()
    given = ("--ocr", "scripted", "--set", "min_text_score=0.9")
    call_command("add_engine_version", *given, stdout=out, stderr=io.StringIO())
    assert EngineVersion.objects.get(pk=int(out.getvalue())) == declared()
    with pytest.raises(CommandError, match="/legible_px: must be a number from 8 to 64"):
        call_command("add_engine_version", "--ocr", "scripted", "--set", "legible_px=0")
    with pytest.raises(CommandError, match="--weights is for language models"):
        call_command("add_engine_version", *given, "--weights", ".")


def test_a_specification_with_a_broken_profile_cannot_be_had() -> None:
    with pytest.raises(EngineUnavailableError):
        build_engine("rapidocr", {"profile": {"legible_px": 0}})


def test_the_real_engine_sees_a_receipt_as_its_profile_says() -> None:
    limits = Limits(max_bytes=10**8, max_pixels=10**8, max_pages=1, pdf_memory_bytes=10**9, pdf_seconds=30)
    page = next(iter(open_pages(min(SAMPLES.glob("*.jpg")), limits))).image
    house, small = build_engine("rapidocr"), with_profile(OcrProfile(probe_long_side=320, max_long_side=640))
    assert identity_of(house).digest != identity_of(small).digest
    assert len(house.read_page(page).words) > len(small.read_page(page).words) > 0


def test_in_shadow_it_reads_beside_the_house_and_makes_no_record(cast: Cast, house: EngineVersion) -> None:
    read(cast)
    version = declared()
    start_rollout(actor=SYSTEM, document_type=cast.document_type, engine_version=version, shadow_share=1.0)
    run = read(cast, "another")
    assert run.engine_version == house
    shadow = ShadowRead.objects.select_related("run__engine_version").get(document=run.document_id)
    assert (shadow.state, shadow.run and shadow.run.engine_version) == ("done", version)
    assert texts(version) == [["9.00", "Total"]]
