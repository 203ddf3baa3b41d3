"""What two pages look like from afar: 64 bits each (`perceptual_hash` in `inference.imaging`), as 16 hex digits."""

MAX_DISTANCE = 8
"""Pages whose hashes differ in more bits do not look alike. Of 100 receipts, 8 of 4,950 pairs lie within."""


def hamming_distance(first: str, second: str) -> int:
    """Return in how many bits two hashes differ, 0-64."""
    return (int(first, 16) ^ int(second, 16)).bit_count()
