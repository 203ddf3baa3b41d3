"""Receipts are grouped as a snapshot groups them, and counted by what binds them."""

import shutil
from pathlib import Path

import pytest

from inference.fields.grouping import Looked, folded
from tests.bench.groups import grouped, main, row, ways
from tests.bench.receipts import SAMPLES
from tests.bench.stored_readings import load
from tests.inference.fields.pages import reading


def test_vendor_and_look_bind_receipts_and_pairs_by_look_are_counted() -> None:
    receipts = [
        Looked("1", "ACME", ("0" * 16,)),
        Looked("2", "Acme.", ("f" * 16,)),
        Looked("3", "Other", ("0" * 15 + "1",)),
        Looked("4", "Third", ("f0" * 8,)),
    ]
    found, n_pairs = grouped(receipts)
    assert n_pairs == 1
    # Neither of 1 and 3 has words: they share them.
    assert found["1"] == found["2"] == found["3"] != found["4"]
    assert row("all", found, n_pairs) == ("all", 4, 2, 1, 3, 1)


def test_the_stored_receipts_fall_into_the_groups_that_the_docs_state() -> None:
    by_vendor = [Looked(one.name, one.values.get("/company", "")) for one in load()]
    assert row("vendor", *grouped(by_vendor))[1:5] == (100, 58, 42, 8)


def test_each_way_but_the_first_is_told_one_thing_only() -> None:
    (word,) = reading(("TOTAL", 100, 100)).words
    asked = Looked("1", "ACME", ("0" * 16,), (word,))
    assert ways([asked]) == {
        "all three": [asked],
        "vendor": [Looked("1", vendor="ACME")],
        "layout": [Looked("1", words=(word,))],
    }


def test_groups_and_sides_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = load()[24:36]
    (tmp_path / "img").mkdir()
    for truth in stored:
        shutil.copy(SAMPLES / "047.jpg", tmp_path / "img" / f"{truth.name}.jpg")
    monkeypatch.setattr("tests.bench.stored_readings.load", lambda: stored)
    main(tmp_path)
    _header, together, vendor, layout, sides = capsys.readouterr().out.splitlines()
    groups, pairs = ([int(line.split()[at]) for line in (together, vendor, layout)] for at in (-4, -1))
    assert groups[1] == len({folded(one.values["/company"]) for one in stored})
    assert 0 < groups[0] < groups[1] <= 12
    # All pictures are one; the look proposes pairs where it is asked.
    assert pairs[0] > 0 == pairs[1] == pairs[2]
    assert sum(int(side.split()[1]) for side in sides.split(", ")) == 12
