"""Files are found, and taken only when nobody writes to them any more."""

import threading
import time
from pathlib import Path

from review.management.folders import files_under, settled_files


def test_files_are_found_in_all_folders_by_name(tmp_path: Path) -> None:
    for name in ("b.jpg", "a.jpg", "deep/er/c.pdf", ".DS_Store", "deep/.hidden/d.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = [str(path.relative_to(tmp_path)) for path in files_under(tmp_path)]
    assert found == ["a.jpg", "b.jpg", "deep/er/c.pdf"]


def test_a_file_is_a_folder_of_one(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    assert files_under(tmp_path / "a.jpg") == [tmp_path / "a.jpg"]


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert files_under(tmp_path) == []
    assert list(settled_files([], 10.0, 10.0)) == []


def test_quiet_files_are_taken_after_two_looks(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.write_bytes(b"x")
    assert list(settled_files(paths, 0.0, 10.0)) == [(path, True) for path in paths]


def test_a_file_that_is_still_being_written_is_taken_when_it_is_complete(tmp_path: Path) -> None:
    quiet, busy = tmp_path / "quiet", tmp_path / "busy"
    quiet.write_bytes(b"x")
    busy.write_bytes(b"")

    def scan() -> None:
        with busy.open("ab") as file:
            for _ in range(20):
                file.write(b"x" * 1000)
                file.flush()
                time.sleep(0.02)

    scanner = threading.Thread(target=scan)
    scanner.start()
    taken = [(path, is_settled, path.stat().st_size) for path, is_settled in settled_files([quiet, busy], 0.2, 60.0)]
    scanner.join()
    assert taken == [(quiet, True, 1), (busy, True, 20_000)]


def test_a_file_that_never_settles_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "busy"
    path.write_bytes(b"x")
    looks = settled_files([path], 0.0, 0.0)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            path.write_bytes(path.read_bytes() + b"x")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        # Between two looks at no distance it may seem quiet; it must come to an end either way.
        assert [found for found, _ in looks] == [path]
    finally:
        stop.set()
        writer.join()


def test_a_file_that_goes_away_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    assert list(settled_files([path], 0.0, 10.0)) == [(path, False)]
