"""A folder of labelled receipts as the public sets are laid out, with pictures that a script answers for."""

import json
from pathlib import Path
from typing import Any

from tests.review.conftest import picture

TRUTH: dict[str, Any] = {"company": "BOOK TA .K (TAMAN DAYA) SDN BHD", "date": "25/12/2018", "total": "RM9.00"}


def make_folder(folder: Path, truths: dict[str, dict[str, Any]] | None = None) -> Path:
    """img/NAME.jpg and key/NAME.json for each truth, two of them where none are given."""
    for part in ("img", "key", "box"):
        (folder / part).mkdir(parents=True)
    for name, truth in (truths or {"001": TRUTH, "002": TRUTH | {"total": "10.00"}}).items():
        (folder / "img" / f"{name}.jpg").write_bytes(picture(name))
        (folder / "key" / f"{name}.json").write_text(json.dumps(truth, ensure_ascii=False), encoding="utf-8")
    return folder
