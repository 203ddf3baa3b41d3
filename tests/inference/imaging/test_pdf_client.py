import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import numpy as np
import pytest

from inference.errors import EngineUnavailableError, UnreadableFileError
from inference.imaging import pdf_client
from inference.imaging.limits import Limits
from inference.imaging.pdf_client import count_pdf_pages, draw_pdf_pages
from inference.imaging.pdf_protocol import HEADER, Message
from tests.inference.imaging.documents import (
    assert_quarters,
    encrypted_pdf,
    pdf_of_quarters,
    pdf_with_picture,
    quarters,
    slow_pdf,
)


def stored(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "file.pdf"
    path.write_bytes(data)
    return path


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize(
    ("page", "shape"),
    [
        ((100, 200, 0), (1600, 800, 3)),
        ((200, 100, 0), (800, 1600, 3)),
        ((595, 842, 0), (1600, 1131, 3)),
    ],
)
def test_page_is_drawn_with_the_long_side(tmp_path: Path, page: tuple[int, int, int], shape: tuple[int, ...]) -> None:
    (drawn,) = draw_pdf_pages(stored(tmp_path, pdf_of_quarters(page)), Limits())
    assert drawn.pixels.shape == shape
    assert_quarters(drawn.pixels)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_page_rotation_is_applied_exactly_once(tmp_path: Path, rotation: int) -> None:
    path = stored(tmp_path, pdf_of_quarters((100, 200, rotation)))
    (drawn,) = draw_pdf_pages(path, Limits(long_side=400))
    # /Rotate turns clockwise, NumPy the other way.
    upright = np.rot90(np.asarray(quarters((200, 400))), -rotation // 90)
    assert drawn.pixels.shape == upright.shape
    difference = np.abs(drawn.pixels.astype(int) - upright)
    assert (difference.max(axis=2) > 12).mean() < 0.02


def test_mixed_page_sizes_are_each_drawn_to_their_own(tmp_path: Path) -> None:
    path = stored(tmp_path, pdf_of_quarters((100, 200, 0), (300, 100, 0), (50, 50, 90)))
    pages = list(draw_pdf_pages(path, Limits(long_side=300)))
    assert [page.page_number for page in pages] == [1, 2, 3]
    assert [page.size for page in pages] == [(150, 300), (300, 100), (300, 300)]


def test_text_layer_is_drawn(tmp_path: Path) -> None:
    plain, written = (
        next(iter(draw_pdf_pages(stored(tmp_path, pdf_of_quarters((300, 100, 0), text=text)), Limits())))
        for text in ("", "TOTAL 12.00")
    )
    assert (written.pixels.max(axis=2) < 60).sum() > (plain.pixels.max(axis=2) < 60).sum() + 1000


def test_empty_password_is_tried(tmp_path: Path) -> None:
    (drawn,) = draw_pdf_pages(stored(tmp_path, encrypted_pdf("")), Limits())
    assert_quarters(drawn.pixels)


@pytest.mark.parametrize("open_it", [count_pdf_pages, lambda path, limits: list(draw_pdf_pages(path, limits))])
def test_password_protected_pdf_says_so(tmp_path: Path, open_it: Callable[[Path, Limits], object]) -> None:
    with pytest.raises(UnreadableFileError, match="encrypted"):
        open_it(stored(tmp_path, encrypted_pdf("secret")), Limits())


def test_page_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    path = stored(tmp_path, slow_pdf())
    assert count_pdf_pages(path, Limits(pdf_seconds=30)) == 1
    with pytest.raises(UnreadableFileError, match="time_limit"):
        list(draw_pdf_pages(path, Limits(pdf_seconds=0.5)))


def test_page_that_takes_too_much_memory_is_given_up(tmp_path: Path) -> None:
    path = stored(tmp_path, pdf_of_quarters((100, 100, 0)))
    with pytest.raises(UnreadableFileError, match="memory_limit"):
        list(draw_pdf_pages(path, Limits(pdf_memory_bytes=3_000_000)))


def test_picture_too_large_to_unpack_is_refused_and_not_left_out(tmp_path: Path) -> None:
    path = stored(tmp_path, pdf_with_picture(300, 300))
    (drawn,) = draw_pdf_pages(path, Limits(max_pixels=90_000))
    assert np.abs(drawn.pixels.astype(int) - 127).max() <= 1
    with pytest.raises(UnreadableFileError, match="too_many_pixels"):
        list(draw_pdf_pages(path, Limits(max_pixels=89_999)))


def test_caller_that_stops_early_ends_the_process(tmp_path: Path) -> None:
    pages = draw_pdf_pages(stored(tmp_path, pdf_of_quarters(*[(100, 200, 0)] * 50)), Limits())
    next(pages)
    assert isinstance(pages, Generator)
    pages.close()
    # The fixture sees that nothing is left.


def fake_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """Put a program of ours in the PDF process's place; `say(message, a, b, c)` is there for it."""
    script = tmp_path / "fake"
    root = Path(pdf_client.__file__).resolve().parents[2]
    script.write_text(
        f"#!{sys.executable}\nimport os, signal, sys, time\nsys.path.insert(0, {str(root)!r})\n"
        "from inference.imaging.pdf_protocol import HEADER, Message\n"
        "def say(message, a=0, b=0, c=0):\n    os.write(1, HEADER.pack(message, a, b, c))\n" + body
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(script))
    return stored(tmp_path, pdf_of_quarters((10, 10, 0)))


def die(number: signal.Signals) -> str:
    return f"say(Message.READY)\nos.kill(os.getpid(), {int(number)})\n"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (die(signal.SIGSEGV), "damaged"),
        (die(signal.SIGABRT), "memory_limit"),
        (die(signal.SIGTRAP), "damaged"),
        (die(signal.SIGKILL), "memory_limit"),
        (die(signal.SIGXCPU), "time_limit"),
        ("say(Message.READY)\nsys.exit(3)\n", "damaged"),
        ("say(Message.READY)\ntime.sleep(60)\n", "time_limit"),
        ("say(Message.READY)\nsay(Message.COUNT, 1)\nos.write(1, b'xx')\n", "damaged"),
        ("say(Message.READY)\nsay(Message.PAGE, 1, 5, 5)\n", "damaged"),
        ("say(Message.READY)\nsay(Message.FAILED, 99)\n", "damaged"),
    ],
)
def test_process_that_dies_or_babbles_becomes_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, code: str
) -> None:
    path = fake_process(tmp_path, monkeypatch, body)
    with pytest.raises(UnreadableFileError) as caught:
        count_pdf_pages(path, Limits(pdf_seconds=1))
    assert caught.value.code == code


@pytest.mark.parametrize("page", ["1, 9000, 9000", "2, 5, 5", "1, 0, 5"])
def test_raster_that_was_not_asked_for_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    body = f"say(Message.READY)\nsay(Message.COUNT, 1)\nsay(Message.PAGE, {page})\n"
    path = fake_process(tmp_path, monkeypatch, body)
    with pytest.raises(UnreadableFileError, match="damaged"):
        list(draw_pdf_pages(path, Limits()))


def test_process_that_dies_after_its_first_page_does_not_look_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "say(Message.READY)\nsay(Message.COUNT, 2)\nsay(Message.PAGE, 1, 2, 2)\nos.write(1, bytes(12))\n"
        "os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    pages = draw_pdf_pages(fake_process(tmp_path, monkeypatch, body), Limits())
    assert next(pages).size == (2, 2)
    with pytest.raises(UnreadableFileError, match="damaged"):
        next(pages)


@pytest.mark.parametrize("body", ["sys.exit(1)\n", "os.kill(os.getpid(), 9)\n"])
def test_process_that_cannot_start_does_not_condemn_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    path = fake_process(tmp_path, monkeypatch, body)
    with pytest.raises(EngineUnavailableError):
        count_pdf_pages(path, Limits())


def test_process_that_ignores_the_end_of_its_pipe_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_client, "_PATIENCE_SECONDS", 0.1)
    path = fake_process(tmp_path, monkeypatch, "say(Message.READY)\nos.close(1)\ntime.sleep(600)\n")
    with pytest.raises(UnreadableFileError):
        count_pdf_pages(path, Limits(pdf_seconds=30))


def test_secrets_of_the_service_stay_out_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    body = "say(Message.READY)\nsay(Message.COUNT, 2 if 'SECRET_KEY' in os.environ else 1)\nsay(Message.DONE)\n"
    assert count_pdf_pages(fake_process(tmp_path, monkeypatch, body), Limits()) == 1


def test_path_that_looks_like_an_option_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-c").write_bytes(pdf_of_quarters((10, 10, 0)))
    assert count_pdf_pages(Path("-c"), Limits()) == 1


def test_process_leaves_no_files_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path, slow_pdf())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(UnreadableFileError):
        list(draw_pdf_pages(path, Limits(pdf_seconds=0.3)))
    assert list(tmp_path.iterdir()) == [path]


def test_opening_pdfs_does_not_load_the_pdf_library_here() -> None:
    code = "import sys, inference.imaging.pages; sys.exit('pypdfium2' in sys.modules)"
    root = Path(pdf_client.__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_header_has_room_for_every_page_within_the_limits() -> None:
    assert HEADER.unpack(HEADER.pack(Message.PAGE, 10_000, 100_000, 100_000))[1:] == (10_000, 100_000, 100_000)
