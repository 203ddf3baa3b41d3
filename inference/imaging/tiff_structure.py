"""The chain of directories of a TIFF (classic and big), read just far enough to see whether it is whole."""

import mmap
import struct
from dataclasses import dataclass

_VALUE_FORMATS = {3: "H", 4: "I", 16: "Q"}
_DATA_PAIRS = ((273, 279), (324, 325))
_MAX_DIRECTORIES = 10_000


@dataclass(frozen=True, slots=True)
class _Layout:
    """Byte order and field widths: classic has 2-byte counts and 4-byte offsets, big has 8-byte ones."""

    order: str
    is_big: bool

    @property
    def count(self) -> str:
        return self.order + ("Q" if self.is_big else "H")

    @property
    def offset(self) -> str:
        return self.order + ("Q" if self.is_big else "I")

    @property
    def entry(self) -> str:
        return self.order + ("HHQ8s" if self.is_big else "HHI4s")


def is_tiff_cut_short(data: bytes | mmap.mmap) -> bool:
    """Return whether a directory, a strip or a tile of the TIFF lies beyond the end of `data`."""
    layout = _Layout("<" if data[:2] == b"II" else ">", data[2:4] in (b"+\0", b"\0+"))
    seen: set[int] = set()
    try:
        (position,) = struct.unpack_from(layout.offset, data, 8 if layout.is_big else 4)
        while position and position not in seen and len(seen) < _MAX_DIRECTORIES:
            seen.add(position)
            position = _check_directory(data, position, layout)
    except (struct.error, EOFError):
        return True
    return False


def _check_directory(data: bytes | mmap.mmap, position: int, layout: _Layout) -> int:
    """Return where the next directory is (0: nowhere); raise EOFError or struct.error when this one is not whole."""
    (n_entries,) = struct.unpack_from(layout.count, data, position)
    position += struct.calcsize(layout.count)
    step = struct.calcsize(layout.entry)
    if position + n_entries * step > len(data):
        raise EOFError
    columns: dict[int, tuple[int, ...]] = {}
    wanted = {tag for pair in _DATA_PAIRS for tag in pair}
    for start in range(position, position + n_entries * step, step):
        tag, kind, n_values, inline = struct.unpack_from(layout.entry, data, start)
        if tag in wanted and kind in _VALUE_FORMATS:
            columns[tag] = _values(data, kind, n_values, inline, layout)
    for offsets, sizes in _DATA_PAIRS:
        ends = (start + size for start, size in zip(columns.get(offsets, ()), columns.get(sizes, ()), strict=False))
        if any(end > len(data) for end in ends):
            raise EOFError
    following: int = struct.unpack_from(layout.offset, data, position + n_entries * step)[0]
    return following


def _values(data: bytes | mmap.mmap, kind: int, n_values: int, inline: bytes, layout: _Layout) -> tuple[int, ...]:
    size = n_values * struct.calcsize("<" + _VALUE_FORMATS[kind])
    form = f"{layout.order}{n_values}{_VALUE_FORMATS[kind]}"
    if size <= len(inline):
        return struct.unpack_from(form, inline)
    (position,) = struct.unpack_from(layout.offset, inline)
    if position + size > len(data):
        raise EOFError
    return struct.unpack_from(form, data, position)
