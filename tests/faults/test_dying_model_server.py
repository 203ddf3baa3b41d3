"""A model server that dies of a page ends that page's reading; one that is away is waited for."""

import http.client
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.faults.house import ROOT, House
from tests.faults.test_served import free_port
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
read_page(PageRead.objects.get().pk)
"""


@pytest.fixture
def port(house: House) -> int:
    """Where the house looks for the server."""
    port = free_port()
    house.settings["STET_VLLM_URL"] = f"http://127.0.0.1:{port}"
    declared = house.run("shell", "-c", DECLARE)
    assert declared.returncode == 0, declared.stderr
    return port


@pytest.fixture
def start(house: House, port: int) -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
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

    def run() -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.faults.dying_server", str(port), SPEC.tied_name]
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


def test_a_page_that_the_server_dies_of_ends_and_one_that_finds_it_away_waits(
    house: House, start: Callable[[], "subprocess.Popen[bytes]"]
) -> None:
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
