"""What the PDF process and its parent say to each other. Standard library only: the child must start fast.

Each message is a fixed header, and after a `PAGE` the raster itself (height rows of width × 3 bytes, RGB).
"""

import struct
from enum import IntEnum

HEADER = struct.Struct(">BIII")


class Message(IntEnum):
    """The first byte of a header; what its three numbers mean stands beside each."""

    READY = 1  # nothing: the libraries are loaded and the limits are set
    COUNT = 2  # number of pages
    PAGE = 3  # page number (from 1), width, height
    DONE = 4  # nothing
    FAILED = 5  # index into FAILURES


FAILURES = ("damaged", "encrypted", "no_pages", "too_many_pages", "too_many_pixels", "memory_limit")
