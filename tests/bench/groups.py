"""How whole groups split real receipts: by vendor, by layout and by the look of their pages, as a snapshot does it.

    .venv/bin/python -m tests.bench.groups FOLDER

The folder has `img/NAME.jpg` of the stored receipts (the test part; names of vendors as the truth has them).
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from inference.fields.grouping import Grouping, Looked, split_groups
from inference.imaging.similarity import perceptual_hash
from tests.bench import stored_readings
from tests.bench.planting import Truth
from tests.bench.report import table, write
from tests.bench.same_look import first_page

SHARES = (("train", 0.8), ("validation", 0.1), ("test", 0.1))
SEED = "bench"


def looked(truth: Truth, look: str) -> Looked:
    """Return what decides on a receipt's group."""
    return Looked(truth.name, truth.values.get("/company", ""), (look,), truth.reading.words)


def grouped(receipts: Sequence[Looked]) -> tuple[dict[str, str], int]:
    """Return the group of each receipt, and how many pairs were proposed by the look of their pages."""
    grouping = Grouping()
    for one in receipts:
        grouping.add(one)
    pairs = list(grouping.near_looks())
    grouping.join_looks(pairs, {one.key: one.words for one in receipts})
    return grouping.groups(), len(pairs)


def ways(receipts: Sequence[Looked]) -> dict[str, list[Looked]]:
    """Return the receipts with all that binds them, and with the vendor or the layout alone."""
    return {
        "all three": list(receipts),
        "vendor": [replace(one, looks=(), words=()) for one in receipts],
        "layout": [replace(one, looks=(), vendor="") for one in receipts],
    }


def row(what: str, groups: Mapping[str, str], n_pairs: int) -> tuple[object, ...]:
    """Return a row of the table."""
    sizes = Counter(groups.values()).values()
    return what, len(groups), len(sizes), sum(size == 1 for size in sizes), max(sizes), n_pairs


HEADER = ("grouped by", "receipts", "groups", "of one", "largest", "pairs by look")


def main(folder: Path) -> None:
    """Print the groups by all, by vendor alone, by layout alone; then the sides that the groups go to."""
    receipts = [
        looked(truth, perceptual_hash(first_page(folder / "img" / f"{truth.name}.jpg")))
        for truth in stored_readings.load()
    ]
    write(table(HEADER, [row(what, *grouped(way)) for what, way in ways(receipts).items()]))
    groups, _ = grouped(receipts)
    sides = Counter(split_groups(groups, SHARES, SEED).values())
    write(", ".join(f"{side} {sides[side]} of {share:.0%}" for side, share in SHARES))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
