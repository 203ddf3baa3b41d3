"""Off-loaded weights are gigabytes: they go with the model, with the process, and with the next one at the latest."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from inference.engines.offload_folder import OffloadFolder, remove_leftovers


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def filled() -> OffloadFolder:
    folder = OffloadFolder()
    (folder.path / "weights.dat").write_bytes(b"weights")
    return folder


def test_folder_is_there_for_this_process(place: Path) -> None:
    folder = filled()
    assert folder.path.parent == place
    assert str(os.getpid()) in folder.path.name


def test_folder_goes_when_it_is_closed(place: Path) -> None:
    folder = filled()
    folder.close()
    folder.close()
    assert list(place.iterdir()) == []


def test_folder_goes_with_the_model_that_holds_it(place: Path) -> None:
    folder = filled()
    del folder
    assert list(place.iterdir()) == []


LEAVES = """
import multiprocessing, tempfile, sys
from inference.engines.offload_folder import OffloadFolder
tempfile.tempdir = sys.argv[1]

def work():
    global kept
    kept = OffloadFolder()
    (kept.path / "weights.dat").write_bytes(b"weights")
    print(kept.path.name)

if sys.argv[2] == "forked":
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
else:
    work()
"""


@pytest.mark.parametrize("how", ["plain", "forked"])
def test_folder_goes_with_its_process(place: Path, how: str) -> None:
    """A forked worker ends past Python's own `atexit`."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVES, str(place), how], capture_output=True, check=True, text=True, timeout=60
    )
    assert done.stdout.startswith("stet-offload-")
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_goes_when_the_next_one_loads(place: Path) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left, other = place / f"stet-offload-{int(gone.stdout)}-abc", place / "stet-offload-notes"
    for folder in (left, other):
        folder.mkdir()
        (folder / "weights.dat").write_bytes(b"weights")
    living = filled()
    assert sorted(place.iterdir()) == sorted([living.path, other])
    assert remove_leftovers() == 0
