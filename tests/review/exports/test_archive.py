import hashlib
import io
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from review.exports.archive import ARCHIVES, SUMS, Archive


def files_of(data: bytes, kind: str) -> dict[str, bytes]:
    if kind == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            assert file.testzip() is None
            return {name: file.read(name) for name in file.namelist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def filled(kind: str, folder: Path) -> bytes:
    target = io.BytesIO()
    with Archive(target, kind, folder) as archive:
        archive.part("a.jsonl").write(b'{"n":1}\n')
        archive.put("images/1.jpg", b"\xff\xd8picture")
        archive.part("名.txt").write("字\n".encode())
        archive.part("a.jsonl").write(b'{"n":2}\n')
    return target.getvalue()


@pytest.mark.parametrize("kind", ARCHIVES)
def test_files_that_grow_in_turns_come_out_whole(kind: str, tmp_path: Path) -> None:
    files = files_of(filled(kind, tmp_path), kind)
    sums = files.pop(SUMS).decode()
    assert files == {
        "images/1.jpg": b"\xff\xd8picture",
        "a.jsonl": b'{"n":1}\n{"n":2}\n',
        "名.txt": "字\n".encode(),
    }
    assert sums == "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())


@pytest.mark.parametrize("kind", ARCHIVES)
def test_the_same_files_give_the_same_bytes(kind: str, tmp_path: Path) -> None:
    assert filled(kind, tmp_path) == filled(kind, tmp_path)


@pytest.mark.parametrize("kind", ARCHIVES)
def test_nothing_is_left_beside_the_archive(kind: str, tmp_path: Path) -> None:
    filled(kind, tmp_path)
    assert list(tmp_path.iterdir()) == []


def give_up(target: io.BytesIO, kind: str, folder: Path) -> None:
    with Archive(target, kind, folder) as archive:
        archive.part("a.jsonl").write(b"{}\n")
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_that_is_given_up_has_no_end(kind: str, tmp_path: Path) -> None:
    target = io.BytesIO()
    with pytest.raises(ZeroDivisionError):
        give_up(target, kind, tmp_path)
    assert SUMS.encode() not in target.getvalue()


def test_a_part_that_is_taken_is_no_file_of_the_archive(tmp_path: Path) -> None:
    target = io.BytesIO()
    with Archive(target, "zip", tmp_path) as archive:
        archive.part(".aside").write(b"one\ntwo\n")
        part = archive.take(".aside")
        assert part is not None
        assert (part.n_lines, list(part.rewound())) == (2, [b"one\n", b"two\n"])
        assert archive.take("never") is None
    assert files_of(target.getvalue(), "zip").keys() == {SUMS}


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="zip, tar"):
        Archive(io.BytesIO(), "rar", tmp_path)


class Sink(io.RawIOBase):
    """A file that keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        return len(data)  # type: ignore[arg-type]


def peak_of(n_files: int, folder: Path) -> int:
    tracemalloc.start()
    with Archive(Sink(), "tar", folder) as archive:  # type: ignore[arg-type]
        for number in range(n_files):
            archive.put(f"images/{number}.jpg", b"x" * 1000)
            archive.part("labels.txt").write(b"y" * 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_ten_times_the_files_take_no_more_memory(tmp_path: Path) -> None:
    peak_of(10, tmp_path)
    assert peak_of(3000, tmp_path) < 1.2 * peak_of(300, tmp_path)
