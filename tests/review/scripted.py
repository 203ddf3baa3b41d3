"""What the scripted engine reads where a test says nothing else, and by what a script names a page. Knows no Django."""

from inference.imaging.hashing import content_hash
from inference.imaging.pages import decode_page

WORDS = [
    ["BOOK TA K SDN BHD", 0.1, 0.02, 0.6, 0.05, 0.99],
    ["Date: 25/12/2018", 0.1, 0.2, 0.5, 0.23, 0.99],
    ["Total", 0.1, 0.6, 0.3, 0.63, 0.99],
    ["9.00", 0.7, 0.6, 0.8, 0.63, 0.99],
]
"""The words of a receipt, each with its box and how sure the engine is of it."""


def hash_of(data: bytes) -> str:
    """The content hash of the one page of a picture."""
    return content_hash(decode_page(data))
