"""200 damaged files: cut and bit-flipped ones of every kind. Each opens or is refused with a reason, and none hangs."""

import contextlib
import random
from pathlib import Path

import pytest

from inference.errors import UnreadableFileError
from inference.imaging.inspection import inspect_file
from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from tests.inference.imaging.documents import SAMPLES, encoded, encrypted_pdf, pdf_of_quarters, quarters

pytestmark = [
    # Decoders warn of damage before they answer; in service a warning is a line in the log and not an error.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(60),
]

LIMITS = Limits(pdf_seconds=10, long_side=400)
N_PDFS, N_OTHERS = 40, 160


WHOLE: dict[str, bytes] = {
    "png": encoded(quarters((300, 420)), "PNG"),
    "palette": encoded(quarters().convert("P"), "PNG"),
    "webp": encoded(quarters((300, 420)), "WEBP"),
    "lossless": encoded(quarters(), "WEBP", lossless=True),
    "tiff": encoded(quarters(), "TIFF", save_all=True, append_images=[quarters((30, 40))]),
    "lzw": encoded(quarters(), "TIFF", compression="tiff_lzw"),
    "fax": encoded(quarters().convert("1"), "TIFF", compression="group4"),
    "jpeg_in_tiff": encoded(quarters(), "TIFF", compression="jpeg"),
    "heic": encoded(quarters(), "HEIF"),
    "progressive": encoded(quarters((300, 420)), "JPEG", progressive=True),
    "cmyk": encoded(quarters().convert("CMYK"), "JPEG"),
}
PDFS: dict[str, bytes] = {
    "text": pdf_of_quarters((300, 200, 0), (100, 200, 90), text="TOTAL 12.00"),
    "scan": encoded(quarters((200, 300)), "PDF", save_all=True, append_images=[quarters()]),
    "fax": encoded(quarters((200, 300)).convert("1"), "PDF"),
    "locked": encrypted_pdf(""),
}


def damaged(data: bytes, seed: int) -> bytes:
    """Cut every third file; flip one to forty bits of the others, half of those where the structure is."""
    dice = random.Random(seed)
    if seed % 3 == 0:
        return data[: dice.randrange(1, len(data))]
    broken = bytearray(data)
    reach = min(len(broken), 700) if seed % 2 else len(broken)
    for _ in range(dice.choice((1, 3, 10, 40))):
        broken[dice.randrange(reach)] ^= 1 << dice.randrange(8)
    return bytes(broken)


def open_or_refuse(path: Path) -> tuple[str, int]:
    """Return the reason or "opened", and the number of pages; both doors into the file must hold."""
    with contextlib.suppress(UnreadableFileError):
        inspect_file(path, LIMITS)
    n_pages = 0
    try:
        for page in open_pages(path, LIMITS):
            n_pages += 1
            assert page.image.pixels.shape[2] == 3
            assert max(page.image.size) <= LIMITS.long_side
    except UnreadableFileError as error:
        return error.code, n_pages
    return "opened", n_pages


@pytest.mark.parametrize("seed", range(N_OTHERS))
def test_damaged_picture_opens_or_is_refused_with_a_reason(tmp_path: Path, seed: int) -> None:
    samples = {path.name: path.read_bytes() for path in sorted(SAMPLES.glob("*.jpg"))}
    wholes = [*WHOLE.values(), *samples.values()]
    path = tmp_path / "file"
    path.write_bytes(damaged(wholes[seed % len(wholes)], seed))
    outcome, n_pages = open_or_refuse(path)
    assert outcome != "opened" or n_pages > 0


@pytest.mark.parametrize("seed", range(N_PDFS))
def test_damaged_pdf_opens_or_is_refused_with_a_reason(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(damaged(list(PDFS.values())[seed % len(PDFS)], 1000 + seed))
    outcome, n_pages = open_or_refuse(path)
    assert outcome != "opened" or n_pages > 0


@pytest.mark.parametrize("name", [*WHOLE, *(f"pdf_{name}" for name in PDFS)])
def test_file_before_the_damage_opens(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(PDFS[name.removeprefix("pdf_")] if name.startswith("pdf_") else WHOLE[name])
    assert open_or_refuse(path)[0] == "opened"


def test_every_cut_through_a_small_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for kind in ("PNG", "WEBP", "TIFF", "HEIF", "JPEG"):
        data = encoded(quarters((24, 24)), kind)
        for kept in range(0, len(data) - 1, 7):
            path.write_bytes(data[:kept])
            assert open_or_refuse(path)[0] != "opened", (kind, kept)
