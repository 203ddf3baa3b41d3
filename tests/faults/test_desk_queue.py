"""What somebody waits for at a desk is read before everything that waits in the queue, and goes on after a crash."""

import os
import signal
import subprocess
import sys

from inference.imaging.hashing import content_hash
from inference.imaging.pages import decode_page
from inference.imaging.regions import region_image
from inference.types import BBox
from tests.faults.house import ROOT, House
from tests.review.conftest import picture
from tests.review.scripted import WORDS, hash_of

DOUBTFUL = picture("doubtful")
N_WAITING = 12


def region_hash(data: bytes) -> str:
    """The picture that the engine is shown for the region of `ask_region`."""
    return content_hash(region_image(decode_page(data), BBox(0.1, 0.1, 0.5, 0.2)))


def open_house(house: House) -> None:
    """A worker at work, and one document that waits for a person: its total was not read."""
    house.script(pages={hash_of(DOUBTFUL): {"words": WORDS[:2]}, region_hash(DOUBTFUL): {"words": WORDS[3:]}})
    house.send(doubtful=DOUBTFUL)
    house.start("work")
    house.wait_until_finished(1)
    assert house.statuses() == {"doubtful": "review"}


def ask(house: House) -> int:
    asked = subprocess.run(
        [sys.executable, "-m", "tests.faults.ask_region"],
        cwd=ROOT,
        env=house.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    return int(asked.stdout.split()[-1])


def region(house: House, number: int) -> tuple[str, str, str]:
    state, text, token = house.rows("SELECT state, text, claim_token FROM review_regionreading WHERE id = ?", number)[0]
    return state, text, token


def test_a_region_is_read_while_everything_else_waits(house: House) -> None:
    # The only worker of the queue is busy with the first of many, for longer than this test takes.
    busy = {hash_of(picture(str(number))): {"sleep_seconds": 100} for number in range(N_WAITING)}
    house.script(
        pages={
            hash_of(DOUBTFUL): {"words": WORDS[:2]},
            region_hash(DOUBTFUL): {"words": WORDS[3:]},
            **busy,
        }
    )
    house.send(doubtful=DOUBTFUL)
    house.start("work")
    house.wait_until_finished(1)
    house.send(**{f"n{number}": picture(str(number)) for number in range(N_WAITING)})
    house.claimed_by()
    number = ask(house)
    house.wait_for(lambda: region(house, number)[0] == "done", "the region is read")
    assert region(house, number)[1] == "9.00"
    # It was read past all of them.
    unfinished = [name for name, status in house.statuses().items() if status in {"received", "processing"}]
    assert len(unfinished) == N_WAITING


def test_a_desk_that_loses_its_worker_gets_another(house: House) -> None:
    open_house(house)
    first = ask(house)
    house.wait_for(lambda: region(house, first)[0] == "done", "the first region is read")
    os.kill(int(region(house, first)[2][8:16], 16), signal.SIGKILL)
    second = ask(house)
    house.wait_for(lambda: region(house, second)[0] == "done", "the second region is read")
    assert region(house, second)[2] != region(house, first)[2]
