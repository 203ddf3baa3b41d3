"""Which documents a calibrator learns from, and which are left to certify thresholds on what it says."""

from review.routing.sampling import Purpose, draw

CALIBRATION_SHARE = 0.3


def is_for_calibration(document_key: str, salt: str) -> bool:
    """Whether calibrators of a document type learn from a document; `salt` names the type, and is the same for ever."""
    return draw(document_key, "", salt, Purpose.CALIBRATION) < CALIBRATION_SHARE
