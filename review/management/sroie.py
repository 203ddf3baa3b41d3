"""The folder layout of the receipt sets: img/NNN.jpg with its truth in key/NNN.json (and boxes, which are not used)."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from inference.types.hints import pointer
from review.actions.regression_sets import LabelledFile


@dataclass(slots=True)
class Layout:
    """What a folder holds: labelled files by name, and what is wrong with it, in words for whoever made it."""

    files: list[LabelledFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_sroie(folder: Path) -> Layout:
    """Read the folder's keys; every image needs a key and every key an image. Values are kept as printed.

    A field that a key leaves out is unknown; null or an empty text says that the page shows none.
    """
    layout = Layout()
    for part in ("img", "key"):
        if not (folder / part).is_dir():
            layout.problems.append(f"There is no folder {folder / part}.")
    if layout.problems:
        return layout
    images = {path.stem: path for path in sorted((folder / "img").iterdir()) if not path.name.startswith(".")}
    keys = {path.stem: path for path in sorted((folder / "key").glob("*.json"))}
    layout.problems += [f"{images[stem]} has no key/{stem}.json." for stem in sorted(images.keys() - keys.keys())]
    layout.problems += [f"{keys[stem]} has no image in img/." for stem in sorted(keys.keys() - images.keys())]
    for stem in sorted(images.keys() & keys.keys()):
        try:
            layout.files.append(LabelledFile(images[stem].name, images[stem], _truth(keys[stem])))
        except ValueError as error:
            layout.problems.append(f"{keys[stem]}: {error}")
    return layout


def _truth(path: Path) -> dict[str, str | None]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError("this is no JSON in UTF-8.") from None
    if not isinstance(data, dict):
        raise ValueError("this must be one object, field to value.")
    wrong = [key for key, value in data.items() if value is not None and not isinstance(value, str)]
    if wrong:
        raise ValueError(f"these values must be strings, as printed, or null: {', '.join(wrong)}.")
    return {pointer("", key): (value.strip() or None) if value is not None else None for key, value in data.items()}
