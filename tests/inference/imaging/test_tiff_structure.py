import struct

import pytest

from inference.imaging.tiff_structure import is_tiff_cut_short


def tiff(order: str, entries: list[tuple[int, int, int, int]], *, following: int = 0) -> bytes:
    """A classic TIFF of one directory; each entry is (tag, type, count, value or offset)."""
    mark = b"II" if order == "<" else b"MM"
    body = b"".join(struct.pack(order + "HHII", *entry) for entry in entries)
    return struct.pack(order + "2sHIH", mark, 42, 8, len(entries)) + body + struct.pack(order + "I", following)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("n_bytes", "is_cut"), [(10, False), (11, True)])
def test_strip_may_reach_the_last_byte_and_no_further(order: str, n_bytes: int, is_cut: bool) -> None:
    empty = len(tiff(order, [(273, 4, 1, 0), (279, 4, 1, 0)]))
    data = tiff(order, [(273, 4, 1, empty), (279, 4, 1, n_bytes)]) + bytes(10)
    assert is_tiff_cut_short(data) is is_cut


def test_tile_beyond_the_end_is_seen() -> None:
    assert is_tiff_cut_short(tiff("<", [(324, 4, 1, 5_000), (325, 4, 1, 10)]))


def test_list_of_strips_beyond_the_end_is_seen() -> None:
    assert is_tiff_cut_short(tiff("<", [(273, 4, 1_000_000, 8), (279, 4, 1, 1)]))


def test_second_directory_beyond_the_end_is_seen() -> None:
    assert is_tiff_cut_short(tiff("<", [(256, 4, 1, 1)], following=4_000))
    assert not is_tiff_cut_short(tiff("<", [(256, 4, 1, 1)], following=0))


@pytest.mark.parametrize("n_bytes", [4, 7, 9, 12])
def test_header_alone_is_cut(n_bytes: int) -> None:
    assert is_tiff_cut_short(tiff("<", [(256, 4, 1, 1)])[:n_bytes])
