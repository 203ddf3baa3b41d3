"""Draws that can be repeated: whether a document is looked at depends on nothing but its keys.

A stored random number would do for one process; a hash needs no memory. A retried task, another host or an auditor
years later computes the same draw, so nobody can draw again until a document they dislike is left alone, and the
recorded inclusion probability stays the true one.
"""

import hashlib
import json
from enum import StrEnum


class Purpose(StrEnum):
    """What a draw decides. Draws for different purposes are independent."""

    AUDIT = "audit"
    FULL_EXAMINATION = "full_examination"
    SECOND_REVIEW = "second_review"
    SEEDED = "seeded"
    ADJUDICATION_ORDER = "adjudication_order"
    CALIBRATION = "calibration"
    """Which documents a calibrator learns from; the others are left to certify thresholds on what it says."""
    THINNING = "thinning"
    SHADOW = "shadow"
    """Which documents the challenger of a roll-out reads as well."""
    DISAGREEMENT = "disagreement"
    """Which of those on which it differs a person looks at."""
    CANARY = "canary"
    """Which documents the challenger reads for real."""


def draw(document_key: str, policy_key: str, salt: str, purpose: str) -> float:
    """Return a number uniform in [0, 1) that is always the same for the same four arguments.

    `document_key` must identify the document for ever (its id or its sha256), `policy_key` the policy's version.
    """
    # As JSON the four are delimited without ambiguity: ("a", "bc") and ("ab", "c") are different messages.
    message = json.dumps([document_key, policy_key, salt, purpose], ensure_ascii=True).encode("ascii")
    # 53 bits fill a double's mantissa exactly; more would round some draws up to 1.0.
    return (int.from_bytes(hashlib.sha256(message).digest()[:8]) >> 11) / 2**53
