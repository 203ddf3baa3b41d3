"""What directs audits, looked up: pages that were read before by the same reader, and the interests of late."""

import pytest

from review.models import EngineVersion, ExtractionRun, Page, Reading, RoutingDecision
from review.selectors.interest import looks_of, recent_interests
from tests import factories
from tests.conftest import Cast
from tests.review.actions.reading_room import opened


@pytest.fixture
def run(cast: Cast) -> ExtractionRun:
    document, _reads = opened(cast.document_type)
    Page.objects.filter(document=document).update(perceptual_hash="0" * 16)
    return ExtractionRun.objects.select_related("engine_version", "document").get(document=document)


def read_before(cast: Cast, version: EngineVersion, content: str, look: str) -> None:
    Reading.objects.create(
        project=cast.project,
        engine_version=version,
        content_hash=content,
        perceptual_hash=look,
        payload={},
        cpu_seconds=0,
    )


def test_other_pages_of_the_same_reader_are_compared_and_the_page_itself_is_not(cast: Cast, run: ExtractionRun) -> None:
    other = EngineVersion.objects.create(name="other", spec={}, digest="e" * 64)
    read_before(cast, run.engine_version, "elsewhere", "f" * 16)
    read_before(cast, run.engine_version, Page.objects.get(document=run.document).content_hash, "0" * 16)
    read_before(cast, other, "by another", "a" * 16)
    assert looks_of(run) == ("0" * 16, ["f" * 16])


def test_what_was_learned_on_top_has_read_what_its_base_read(cast: Cast, run: ExtractionRun) -> None:
    read_before(cast, run.engine_version, "elsewhere", "f" * 16)
    run.engine_version = EngineVersion.objects.create(
        name=run.engine_version.name, spec={}, digest="c" * 64, base=run.engine_version
    )
    assert looks_of(run) == ("0" * 16, ["f" * 16])


def test_a_page_whose_look_is_not_known_is_compared_with_none(cast: Cast, run: ExtractionRun) -> None:
    Page.objects.filter(document=run.document).update(perceptual_hash="")
    read_before(cast, run.engine_version, "elsewhere", "f" * 16)
    assert looks_of(run) == ("", [])


def test_interests_are_those_of_the_types_own_sampled_documents_newest_first(cast: Cast) -> None:
    for number, band in enumerate(["sampled", "review", "auto", "sampled"]):
        document = factories.make_routed(cast.document_type, band=band)
        RoutingDecision.objects.filter(document=document).update(interest=number / 10)
    factories.make_routed(cast.document_type, band="sampled")
    foreign = factories.make_routed(cast.other_document_type, band="sampled")
    RoutingDecision.objects.filter(document=foreign).update(interest=0.9)
    assert recent_interests(cast.document_type) == [0.3, 0.0]
