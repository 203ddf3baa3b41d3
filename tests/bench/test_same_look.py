"""The figures of the look are counted rightly: pairs, equal bits, turned copies, on drawn pages."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from inference.imaging.similarity import perceptual_hash
from inference.types import PageImage, hamming_distance
from tests.bench.same_look import (
    CORNERS,
    DEGREES,
    FINE_DISTANCE,
    alike,
    fine_hash,
    has_same_values,
    main,
    shares_found,
    turned,
)


def drawn(seed: int) -> PageImage:
    """A page whose look is decided by the seed: blocks of grey."""
    blocks = np.random.default_rng(seed).integers(0, 256, (8, 8), dtype=np.uint8)
    return PageImage(np.repeat(np.kron(blocks, np.ones((20, 20), np.uint8))[:, :, None], 3, axis=2), 1)


def put(folder: Path, name: str, page: PageImage, **values: str) -> Path:
    path = folder / "img" / f"{name}.jpg"
    for part in ("img", "key"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    Image.fromarray(page.pixels).save(path)
    (folder / "key" / f"{name}.json").write_text(json.dumps(values), encoding="utf-8")
    return path


def test_pairs_look_the_same_up_to_the_bits_allowed() -> None:
    one, two, three = (Path(name) for name in "123")
    looks = {one: "00", two: "07", three: "ff"}
    assert alike(looks, 3) == [(one, two)]
    assert alike(looks, 2) == []
    assert alike(looks, 8) == [(one, two), (one, three), (two, three)]


def test_the_finer_hash_has_four_times_the_bits_and_knows_a_page_again() -> None:
    page, other = drawn(1), drawn(2)
    assert len(fine_hash(page)) == 4 * len(perceptual_hash(page)) == 64
    brighter = PageImage(page.pixels // 2 + 100, 1)
    assert hamming_distance(fine_hash(page), fine_hash(brighter)) <= FINE_DISTANCE
    assert hamming_distance(fine_hash(page), fine_hash(other)) > 2 * FINE_DISTANCE


def test_a_turned_page_keeps_its_frame_and_shows_the_lid_in_its_corners() -> None:
    grey = PageImage(np.full((200, 100, 3), 128, np.uint8), 1)
    white, black = (turned(grey, 2, corner) for corner in CORNERS)
    assert white.size == black.size == grey.size
    assert white.pixels[0, 0].mean() > 200
    assert black.pixels[0, 0].mean() < 50
    assert abs(int(white.pixels[100, 50, 0]) - 128) < 5


def test_of_turned_copies_those_within_the_bits_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.same_look.turned", lambda page, degrees, _: page if degrees < 2 else drawn(99))
    rows = list(shares_found([drawn(1), drawn(99)]))
    assert [row[:2] for row in rows] == [(degrees, corner) for degrees in DEGREES for corner in CORNERS]
    assert {row[0]: row[2:] for row in rows} == {0.3: ("100%",) * 2, 1.0: ("100%",) * 2, 2.0: ("50%",) * 2}


def test_values_are_the_same_where_date_and_total_are(tmp_path: Path) -> None:
    one = put(tmp_path, "1", drawn(1), date="1/2", total="3.00", company="A")
    other = put(tmp_path, "2", drawn(1), date="1/2", total="3.00", company="B")
    third = put(tmp_path, "3", drawn(1), date="1/2", total="4.00", company="A")
    assert has_same_values(one, other)
    assert not has_same_values(one, third)


def test_the_figures_of_a_folder_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "train", "1", drawn(1), date="1/2", total="3.00")
    put(tmp_path / "train", "2", drawn(1), date="1/2", total="4.00")
    put(tmp_path / "train", "3", drawn(3), date="1/2", total="3.00")
    put(tmp_path / "train", "6", drawn(6), date="1/2", total="5.00")
    put(tmp_path / "train", "7", drawn(6), date="1/2", total="6.00")
    put(tmp_path / "test", "4", drawn(2), date="1/2", total="3.00")
    put(tmp_path / "test", "5", drawn(1), date="1/2", total="3.00")
    main(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "7 receipts: 4 pairs look the same, 4 of them in every bit",
        "of these pairs 4 look the same to the finer hash, too",
        "of 5 receipts of train 2 look like one of 2 of test",
        "the same date and total: train/img/1.jpg, test/img/5.jpg",
    ]
    assert lines[4].startswith("of 2 receipts, turned")
    assert len(lines) == 6 + len(DEGREES) * len(CORNERS)
