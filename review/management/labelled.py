"""Truth as other programs write it: a table of values, and the export of Label Studio."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from inference.types.hints import pointer
from review.actions.regression_sets import LabelledFile
from review.management.sroie import Layout

TABLE = "truth.csv"
TASKS = "tasks.json"
NOTHING = "null"


def read_csv(folder: Path) -> Layout:
    """Read truth.csv beside its files: a column `file`, and a column for each field, by name or by path.

    An empty cell is unknown; the word null says that the page shows none. Values are kept as printed.
    """
    layout = Layout()
    try:
        with (folder / TABLE).open(encoding="utf-8-sig", newline="") as table:
            rows = list(csv.DictReader(table))
    except FileNotFoundError:
        layout.problems.append(f"There is no file {folder / TABLE}.")
        return layout
    except (ValueError, csv.Error):
        layout.problems.append(f"{folder / TABLE}: this is no CSV in UTF-8.")
        return layout
    if rows and "file" not in rows[0]:
        layout.problems.append(f'{folder / TABLE}: there is no column "file".')
        return layout
    for number, row in enumerate(rows, 2):
        path = folder / (row.get("file") or "")
        if not path.is_file() or folder.resolve() not in path.resolve().parents:
            layout.problems.append(f"{TABLE}, line {number}: there is no file {row.get('file')!r} in the folder.")
            continue
        if None in row or None in row.values():
            layout.problems.append(f"{TABLE}, line {number}: it has more or fewer cells than the first line.")
            continue
        layout.files.append(LabelledFile(path.name, path, _cells(row)))
    return layout


def _cells(row: Mapping[str, str]) -> dict[str, str | None]:
    cells = {name: cell.strip() for name, cell in row.items() if name != "file"}
    return {_path_of(name): None if cell == NOTHING else cell for name, cell in cells.items() if cell}


def read_label_studio(folder: Path) -> Layout:
    """Read tasks.json, Label Studio's JSON export, beside its pictures.

    Of each task the first annotation that was not cancelled counts: its texts are the values, in the fields that
    `meta.field_path` of the region names, or else its label ("line_items.amount" is the field without a row).
    """
    layout = Layout()
    try:
        tasks = json.loads((folder / TASKS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        layout.problems.append(f"There is no file {folder / TASKS}.")
        return layout
    except ValueError:
        layout.problems.append(f"{folder / TASKS}: this is no JSON in UTF-8.")
        return layout
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        layout.problems.append(f"{folder / TASKS}: this must be a list of tasks.")
        return layout
    pictures = {path.name: path for path in sorted(folder.rglob("*")) if path.is_file()}
    for number, task in enumerate(tasks, 1):
        name = _picture_of(task.get("data", {}))
        if name not in pictures:
            layout.problems.append(f"{TASKS}, task {number}: its picture {name!r} is not in the folder.")
            continue
        annotations = [one for one in task.get("annotations", []) if not one.get("was_cancelled")]
        if annotations:
            layout.files.append(LabelledFile(name, pictures[name], _values(annotations[0].get("result", []))))
    return layout


def _picture_of(data: Mapping[str, Any]) -> str:
    """Return the file name that the first address among the data of a task ends with."""
    address = next((str(value) for value in data.values() if isinstance(value, str) and "." in value), "")
    parts = urlsplit(address)
    inner = parse_qs(parts.query).get("d", [parts.path])[0]
    return unquote(inner).replace("\\", "/").rpartition("/")[2]


def _values(results: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """Return the texts by field: a region's box and text share an id, its label says what it is."""
    paths: dict[str, str] = {}
    texts: dict[str, str] = {}
    for result in results:
        region, value = str(result.get("id")), result.get("value", {})
        given = result.get("meta", {}).get("field_path")
        if given:
            paths[region] = given[0] if isinstance(given, list) else str(given)
        labels = next((value[key] for key in value if key.endswith("labels") and value[key]), None)
        if labels:
            paths.setdefault(region, _path_of(str(labels[0])))
        if "text" in value:
            text = value["text"]
            texts[region] = "\n".join(text) if isinstance(text, list) else str(text)
    return {paths[region]: text.strip() or None for region, text in texts.items() if region in paths}


def _path_of(name: str) -> str:
    return name if name.startswith("/") else pointer("", *name.split("."))
