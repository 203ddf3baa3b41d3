"""Claims of workers that have died."""

from review.actions._claims import process_mark

DEAD = f"{process_mark(2**22 + 1)}{'0' * 16}"
"""A claim of a process that no system has."""
