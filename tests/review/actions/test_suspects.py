"""Of pages on which a server broke off, one at a time is asked, and nothing beside it: so the one it was is found."""

from datetime import timedelta

import pytest

from review.actions.reading import ClaimedPage, claim_page, fail_page, record_page_read, release_page
from review.actions.shadows import claim_shadow
from review.models import EngineVersion, ExtractionRun, PageRead, Rollout, ShadowRead, WorkState
from review.selectors.access import SYSTEM
from review.selectors.suspects import was_alone
from tests.conftest import Cast
from tests.review.actions.reading_room import claim, opened, page_reading
from tests.review.queueing import queued
from tests.review.rollout_room import rolled_out


@pytest.fixture
def pages(cast: Cast) -> list[int]:
    """Three pages of three documents, read by one version behind a server."""
    found = [opened(cast.document_type)[1][0] for _ in range(3)]
    EngineVersion.objects.update(spec={"kind": "vllm_server"})
    return found


def break_off(*claims: ClaimedPage) -> None:
    for one in claims:
        release_page(claim=one, is_counted=False, has_broken_off=True)


def server_of(one: ClaimedPage) -> int:
    return one.run.engine_version_id


def woken(n_before: int) -> list[int]:
    """The pages that were queued since."""
    return [page_read_id for name, page_read_id in queued()[n_before:] if name == "read_page"]


def test_a_page_beside_which_another_is_in_hand_was_not_alone(pages: list[int]) -> None:
    first, second = claim(pages[0]), claim(pages[1])
    assert not was_alone(first.page_read, server_of(first))
    break_off(first)
    # It is no longer claimed, and was in hand a moment ago.
    assert not was_alone(second.page_read, server_of(second))


def test_a_page_whose_neighbours_were_done_before_was_alone(pages: list[int]) -> None:
    other, one = claim(pages[0]), claim(pages[1])
    record_page_read(actor=SYSTEM, claim=other, reading=page_reading())
    assert was_alone(one.page_read, server_of(one))


def test_what_broke_off_before_a_page_was_claimed_was_not_beside_it(pages: list[int]) -> None:
    break_off(claim(pages[0]), claim(pages[1]))
    one = claim(pages[0])
    assert was_alone(one.page_read, server_of(one))


def test_pages_of_another_version_are_beside_nobody(pages: list[int], cast: Cast) -> None:
    one = claim(pages[0])
    other = claim(pages[1])
    version = EngineVersion.objects.create(name="vllm_server", digest="e" * 64, spec={"kind": "vllm_server"})
    other.run.engine_version = version
    other.run.save()
    assert was_alone(one.page_read, server_of(one))


def test_pages_of_what_was_learned_on_a_model_are_in_the_hands_of_the_same_server(pages: list[int]) -> None:
    one, other = claim(pages[0]), claim(pages[1])
    other.run.engine_version = EngineVersion.objects.create(
        name="learned", digest="f" * 64, spec={}, base=one.run.engine_version
    )
    other.run.save()
    assert not was_alone(one.page_read, server_of(one))


def test_a_page_that_is_read_in_a_shadow_is_in_the_servers_hand_too(pages: list[int], cast: Cast) -> None:
    one = claim(pages[0])
    waiting = ExtractionRun.objects.get(page_reads=pages[2])
    rollout = rolled_out(cast, one.run.engine_version)
    shadow = ShadowRead.objects.create(rollout=rollout, document=waiting.document, champion_run=waiting)
    assert was_alone(one.page_read, server_of(one))
    ShadowRead.objects.filter(pk=shadow.pk).update(state=WorkState.RUNNING)
    assert not was_alone(one.page_read, server_of(one))


def test_one_suspect_at_a_time_is_asked_and_nothing_beside_it(pages: list[int]) -> None:
    break_off(claim(pages[0]), claim(pages[1]))
    assert claim_page(page_read_id=pages[2]) is None
    suspect = claim(pages[0])
    assert claim_page(page_read_id=pages[1]) is None
    assert claim_page(page_read_id=pages[2]) is None
    assert PageRead.objects.get(pk=pages[1]).n_attempts == 0
    record_page_read(actor=SYSTEM, claim=suspect, reading=page_reading())
    assert claim_page(page_read_id=pages[1]) is not None


def test_a_suspect_waits_until_what_is_in_hand_is_done(pages: list[int]) -> None:
    other, suspect = claim(pages[0]), claim(pages[1])
    break_off(suspect)
    assert claim_page(page_read_id=pages[1]) is None
    record_page_read(actor=SYSTEM, claim=other, reading=page_reading())
    assert claim_page(page_read_id=pages[1]) is not None


def test_who_ends_wakes_the_next_suspect_and_the_last_of_them_all_others(pages: list[int]) -> None:
    break_off(claim(pages[0]), claim(pages[1]))
    n_before = len(queued())
    record_page_read(actor=SYSTEM, claim=claim(pages[0]), reading=page_reading())
    assert woken(n_before) == [pages[1]]
    fail_page(actor=SYSTEM, claim=claim(pages[1]), code="answer_lost")
    assert woken(n_before) == [pages[1], pages[2]]
    record_page_read(actor=SYSTEM, claim=claim(pages[2]), reading=page_reading())
    assert woken(n_before) == [pages[1], pages[2]]


def test_a_shadow_read_of_the_server_waits_for_the_suspect(pages: list[int], cast: Cast) -> None:
    suspect = claim(pages[0])
    version, other = suspect.run.engine_version, PageRead.objects.get(pk=pages[1]).run
    rollout = Rollout.objects.create(document_type=cast.document_type, engine_version=version, salt="salt")
    shadow = ShadowRead.objects.create(rollout=rollout, document=other.document, champion_run=other)
    break_off(suspect)
    assert claim_shadow(shadow_id=shadow.pk) is None
    shadow.refresh_from_db()
    assert (shadow.state, shadow.n_attempts) == ("queued", 0)
    record_page_read(actor=SYSTEM, claim=claim(pages[0]), reading=page_reading())
    assert claim_shadow(shadow_id=shadow.pk) is not None


def test_an_engine_in_the_process_makes_nobody_wait(pages: list[int]) -> None:
    EngineVersion.objects.update(spec={"kind": "vllm_offline"})
    break_off(claim(pages[0]))
    assert claim_page(page_read_id=pages[1]) is not None
    assert claim_page(page_read_id=pages[0]) is not None


def test_a_suspect_of_a_run_that_is_over_holds_nobody_up(pages: list[int]) -> None:
    suspect = claim(pages[0])
    break_off(suspect)
    suspect.run.is_current = False
    suspect.run.save()
    assert claim_page(page_read_id=pages[1]) is not None


def test_the_time_of_a_claim_is_the_one_that_is_written_down(pages: list[int]) -> None:
    one = claim(pages[0])
    written = PageRead.objects.get(pk=pages[0]).claimed_at
    assert written is not None
    assert one.page_read.claimed_at is not None
    assert abs(written - one.page_read.claimed_at) < timedelta(milliseconds=1)
