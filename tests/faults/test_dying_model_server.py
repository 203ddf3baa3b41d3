"""A model server that dies of a page ends that page's reading; one that is away is waited for."""

import http.client
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from tests.faults.house import ROOT, House, free_port
from tests.review.conftest import picture
from tests.review.vlm import SPEC

DECLARE = """
from review.models import Project
from tests.review.vlm import SPEC, read_with_vlm
read_with_vlm(Project.objects.get(slug="p"), SPEC)
"""
READ_AGAIN = """
from review.models import PageRead
from review.tasks import read_page
for page_read in PageRead.objects.filter(state="pending"):
    read_page(page_read.pk)
"""
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def port(house: House) -> int:
    """Where the house looks for the server."""
    port = free_port()
    house.settings["STET_VLLM_URL"] = f"http://127.0.0.1:{port}"
    declared = house.run("shell", "-c", DECLARE)
    assert declared.returncode == 0, declared.stderr
    return port


@pytest.fixture
def start(house: House, port: int) -> Iterator[Start]:
    """Start the server, anew each time, as `serve_model` would."""
    started: list[subprocess.Popen[bytes]] = []

    def is_up() -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def run(module: str = "dying_server", *more: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"tests.faults.{module}", str(port), SPEC.tied_name, *more]
        started.append(subprocess.Popen(command, cwd=ROOT))
        house.wait_for(is_up, "the server is up")
        return started[-1]

    yield run
    for server in started:
        server.kill()
        server.wait()


def standing(house: House) -> tuple[object, ...]:
    [row] = house.rows(
        "SELECT d.status, d.reasons, r.state, r.n_attempts, r.error_code"
        " FROM review_document d JOIN review_extractionrun e ON e.document_id = d.id"
        " JOIN review_pageread r ON r.run_id = e.id"
    )
    return row


def read_again(house: House) -> None:
    """What the sweep brings about when the claim's time is over."""
    done = house.run("shell", "-c", READ_AGAIN)
    assert done.returncode == 0, done.stderr


def test_a_page_that_the_server_dies_of_ends_and_one_that_finds_it_away_waits(house: House, start: Start) -> None:
    server = start()
    house.send(one=picture("one"))
    house.start("work")
    lost = ("processing", '["answer_lost"]', "pending", 1, "")
    house.wait_for(lambda: house.count("pageread") == 1 and standing(house) == lost, "the page is given back")
    assert server.wait(30) == 137
    for _ in range(2):
        # Nothing listens: nothing counts, however often.
        read_again(house)
        assert standing(house) == ("processing", '["engine_unavailable"]', "pending", 1, "")
    for n_attempts in (2, 3):
        server = start()
        read_again(house)
        assert server.wait(30) == 137
        assert standing(house)[3] == n_attempts
    status, reasons, state, _, code = standing(house)
    assert (status, state, code) == ("review", "failed", "answer_lost")
    assert str(reasons).startswith('["answer_lost"')
    assert house.count("reviewtask") == 1


def killing_picture() -> bytes:
    """A page that `choosy_server` dies of: red."""
    red, rest = Image.effect_noise((200, 300), 60), Image.new("L", (200, 300), 60)
    buffer = io.BytesIO()
    Image.merge("RGB", (red, rest, rest)).save(buffer, "JPEG")
    return buffer.getvalue()


def reads(house: House) -> dict[str, tuple[object, ...]]:
    """State, attempts, error and whether the server broke off on it, of the page of each file."""
    rows = house.rows(
        "SELECT d.filename, r.state, r.n_attempts, r.error_code, r.broke_off_at IS NOT NULL"
        " FROM review_document d JOIN review_extractionrun e ON e.document_id = d.id"
        " JOIN review_pageread r ON r.run_id = e.id"
    )
    return {name: tuple(row) for name, *row in rows}


def is_over(house: House, server: "subprocess.Popen[bytes]") -> bool:
    return server.poll() is not None or not set(house.statuses().values()) & {"received", "processing"}


def test_pages_in_hand_beside_one_that_kills_the_server_lose_no_attempt(
    house: House, start: Start, tmp_path: Path
) -> None:
    """Nobody can know which of four it died of: each is asked alone then, and only the one that kills again counts."""
    house.settings["STET_WORKERS"] = "4"
    together, asked = tmp_path / "together", tmp_path / "asked"
    together.write_text("4")
    server = start("choosy_server", str(tmp_path))
    house.send(killer=killing_picture(), **{name: picture(name) for name in ("one", "two", "three")})
    house.start("work")
    house.wait_for(lambda: server.poll() == 137, "the server dies with four pages in hand")
    suspects = dict.fromkeys(("killer", "one", "two", "three"), ("pending", 0, "", 1))
    house.wait_for(lambda: reads(house) == suspects, "all are suspects, and none has lost an attempt")
    together.unlink()
    asked.unlink()
    n_deaths = 0
    while {state for state, *_ in reads(house).values()} & {"pending", "claimed"}:
        server = start("choosy_server", str(tmp_path))
        read_again(house)
        house.wait_for(partial(is_over, house, server), "the server dies again, or all are read")
        n_deaths += server.poll() == 137
        assert n_deaths <= 3
    assert reads(house) == {
        "killer": ("failed", 3, "answer_lost", 1),
        **dict.fromkeys(("one", "two", "three"), ("read", 1, "", 1)),
    }
    assert n_deaths == 3
    # One line a question: how many pages the server had in hand then.
    assert set(asked.read_text().split()) == {"1"}
    assert len(asked.read_text().split()) == 6
