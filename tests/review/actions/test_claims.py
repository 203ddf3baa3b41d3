"""A claim tells who holds it."""

import os
import subprocess
import sys

import pytest

from review.actions._claims import is_of_dead_process, is_of_living_process, new_claim_token, process_mark


@pytest.fixture
def dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_no_two_tokens_are_the_same() -> None:
    tokens = {new_claim_token() for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {32}


def test_our_own_claim_is_of_a_living_process() -> None:
    assert is_of_living_process(new_claim_token())
    assert not is_of_dead_process(new_claim_token())


def test_the_claim_of_a_dead_process_is_known(dead_pid: int) -> None:
    token = process_mark(dead_pid) + "0" * 16
    assert is_of_dead_process(token)
    assert not is_of_living_process(token)


def test_nothing_is_known_of_another_host(dead_pid: int) -> None:
    token = "00000000" + process_mark(dead_pid)[8:] + "0" * 16
    assert not is_of_dead_process(token)
    assert not is_of_living_process(token)


@pytest.mark.parametrize("token", ["", "x"])
def test_a_token_of_nobody_is_neither(token: str) -> None:
    assert not is_of_dead_process(token)
    assert not is_of_living_process(token)


def test_a_process_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert is_of_living_process(process_mark(os.getpid()))
