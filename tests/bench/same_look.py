"""Which receipts a perceptual hash takes for one look, and which copies that were turned it still finds.

    .venv/bin/python -m tests.bench.same_look FOLDER

The folder has `train/` and `test/`, each with `img/NAME.jpg` and `key/NAME.json` (what is printed).
"""

import io
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from inference.bench import image_files
from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from inference.imaging.similarity import perceptual_hash
from inference.types import MAX_DISTANCE, PageImage, hamming_distance
from tests.bench.report import table, write

PARTS = ("train", "test")
ONE_IN = 4
DEGREES = (0.3, 1.0, 2.0)
CORNERS = ("white", "black")
"""What stands behind a page that lies askew: the lid of a scanner is either."""
QUALITY = 90
_FINE_SIDE = 32
_FINE_BLOCK = 16
FINE_DISTANCE = _FINE_BLOCK**2 // 8
"""The same share of the bits as MAX_DISTANCE of 64."""

Look = Callable[[PageImage], str]


def fine_hash(page: PageImage) -> str:
    """Return 256 bits in hex: as `perceptual_hash` makes them, of four times as many frequencies."""
    grey = cv2.cvtColor(page.pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    small = cv2.resize(grey, (_FINE_SIDE, _FINE_SIDE), interpolation=cv2.INTER_AREA)
    low = cv2.dct(small)[:_FINE_BLOCK, :_FINE_BLOCK].ravel()
    return np.packbits(low > np.median(low[1:])).tobytes().hex()


HASHES: Mapping[str, tuple[Look, int]] = {
    "8 x 8": (perceptual_hash, MAX_DISTANCE),
    "16 x 16": (fine_hash, FINE_DISTANCE),
}


def first_page(path: Path) -> PageImage:
    """Return the first page as intake opens it; raise UnreadableFileError."""
    return next(open_pages(path, Limits())).image


def turned(page: PageImage, degrees: float, corner: str) -> PageImage:
    """Return the page turned within its frame and encoded anew, as if it had lain askew on a scanner."""
    image = Image.fromarray(page.pixels).rotate(degrees, Image.Resampling.BICUBIC, fillcolor=corner)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return PageImage(np.asarray(Image.open(buffer).convert("RGB"), dtype=np.uint8), page.page_number)


def alike(looks: Mapping[Path, str], most: int = MAX_DISTANCE) -> list[tuple[Path, Path]]:
    """Return the pairs of files whose hashes differ in at most so many bits."""
    return [
        (one, other)
        for (one, first), (other, second) in itertools.combinations(looks.items(), 2)
        if hamming_distance(first, second) <= most
    ]


def shares_found(pages: Sequence[PageImage]) -> Iterator[tuple[object, ...]]:
    """Yield for each kind of copy the degrees, the corner and the share of the pages that each hash finds."""
    for degrees, corner in itertools.product(DEGREES, CORNERS):
        n_found = dict.fromkeys(HASHES, 0)
        for page in pages:
            copy = turned(page, degrees, corner)
            for name, (look, most) in HASHES.items():
                n_found[name] += hamming_distance(look(page), look(copy)) <= most
        yield (degrees, corner, *(f"{n / len(pages):.0%}" for n in n_found.values()))


def has_same_values(one: Path, other: Path) -> bool:
    """Whether two receipts are labelled with the same date and the same total."""
    first, second = (_printed(path) for path in (one, other))
    return all(first.get(name) == second.get(name) for name in ("date", "total"))


def _printed(path: Path) -> dict[str, str]:
    text = (path.parent.parent / "key" / f"{path.stem}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def main(folder: Path) -> None:
    """Print which pairs of the folder look the same, then which copies are found."""
    train, test = (image_files(folder / part / "img") for part in PARTS)
    looks, fine = dict[Path, str](), dict[Path, str]()
    for path in (*train, *test):
        page = first_page(path)
        looks[path], fine[path] = perceptual_hash(page), fine_hash(page)
    pairs = alike(looks)
    n_same = sum(looks[one] == looks[other] for one, other in pairs)
    write(f"{len(looks)} receipts: {len(pairs)} pairs look the same, {n_same} of them in every bit")
    n_fine = sum(hamming_distance(fine[one], fine[other]) <= FINE_DISTANCE for one, other in pairs)
    write(f"of these pairs {n_fine} look the same to the finer hash, too")
    # Pairs are in the order of the files, train before test.
    n_train = len({one for one, other in pairs if one in train and other in test})
    write(f"of {len(train)} receipts of train {n_train} look like one of {len(test)} of test")
    for one, other in pairs:
        if has_same_values(one, other):
            write(f"the same date and total: {one.relative_to(folder)}, {other.relative_to(folder)}")
    pages = [first_page(path) for path in (*train, *test)[::ONE_IN]]
    write(f"of {len(pages)} receipts, turned and encoded anew, each hash finds:")
    write(table(("degrees", "corners", *HASHES), list(shares_found(pages))))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
