"""Document types told apart by their first page: how often rightly, how often surely, and what of a page of no type.

`--receipts FOLDER` holds folders as SROIE's with `key/NAME.json` and `readings/NAME.json` (see `tests.bench.text`); a
receipt's trade is told by words in its company's name, which makes types that differ by little. `--types FOLDER` holds
a folder of PDF files for each further type; their words are the text that the files bring, line by line. The folder
`other` in it, if any, is of no type. Whatever is asked was never learned from: five folds, by company where it says so.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

from inference.types import BBox, PageReading, Word
from review.accuracy.intervals import wilson
from review.learning.classifier import N_FOLDS, TooFewTypesError, TypedPage, fit_classifier
from tests.bench.report import Budget, finish, ratio

TRADES: Mapping[str, tuple[str, ...]] = {
    "hardware": ("HARDWARE", "D.I.Y", "PAPAN", "ELECTRICAL"),
    "restaurant": ("RESTO", "RESTAU", "SEAFOOD", "CAFE", "KITCHEN", "FOOD", "PIZZA", "UNIHAKKA", "CUISINE", "THAI"),
    "market": ("MART", "AEON", "PASAR", "CASH & CARRY", "MARKET", "GROCER"),
    "stationery": ("STATIONER", "BOOK"),
}
OTHER = "other"
HEADER = ("what", "types", "pages", "right", "95 %", "decided", "right where decided", "wrongly decided")


@dataclass(frozen=True, slots=True)
class Sample:
    """A page with its type ("" for a receipt of no known trade) and the group that stays on one side: its company."""

    name: str
    group: str
    kind: str
    reading: PageReading


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said of a page: whether the likeliest type was its own, and whether the classifier was sure."""

    is_right: bool
    is_sure: bool
    is_familiar: bool


def receipts(folder: Path) -> Iterator[Sample]:
    """Yield the receipts below a folder."""
    for key in sorted(folder.glob("*/key/*.json")):
        company = json.loads(key.read_text(encoding="utf-8"))["company"].upper()
        found = json.loads((key.parent.parent / "readings" / key.name).read_text(encoding="utf-8"))
        trade = next((name for name, words in TRADES.items() if any(word in company for word in words)), "")
        yield Sample(f"{key.parent.parent.name}-{key.stem}", company, trade, _reading_of(found))


def _reading_of(found: Mapping[str, object]) -> PageReading:
    width, height = found["size"]  # type: ignore[misc]  # JSON of a known shape
    words = [_word(line["text"], line["box"], width, height, line["score"]) for line in found["lines"]]  # type: ignore[attr-defined, has-type]
    return PageReading(width, height, tuple(words), 0.0)  # type: ignore[has-type]


def _word(text: str, corners: Sequence[Sequence[float]], width: float, height: float, score: float) -> Word:
    across, down = [x / width for x, _ in corners], [y / height for _, y in corners]
    sides = (min(across), min(down), max(across), max(down))
    return Word(text, BBox(*(min(max(side, 0.0), 1.0) for side in sides)), score)


def pdf_files(folder: Path, kind: str) -> Iterator[Sample]:
    """Yield the first pages of the PDF files of a folder that bring text; two of a file's content count once."""
    seen = set[str]()
    for path in sorted(folder.glob("*.pdf")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        reading = _text_of(path) if digest not in seen else None
        seen.add(digest)
        if reading is not None and len(reading.words) >= 5:
            yield Sample(f"{kind}-{path.name}", path.name, kind, reading)


def _text_of(path: Path) -> PageReading | None:
    try:
        document = pypdfium2.PdfDocument(path)
        page = document[0]
        text, (width, height) = page.get_textpage(), page.get_size()
        words = []
        for number in range(text.count_rects()):
            left, bottom, right, top = text.get_rect(number)
            line = text.get_text_bounded(left, bottom, right, top).strip()
            if line:
                corners = ((left, height - top), (right, height - bottom))
                words.append(_word(line, corners, width, height, 1.0))
    except pypdfium2.PdfiumError:
        return None
    return PageReading(round(width), round(height), tuple(words), 0.0)


def asked(samples: Sequence[Sample], fold_by: Callable[[Sample], str]) -> list[Answer]:
    """Ask of each page what was learned without its fold."""
    labels = {kind: number for number, kind in enumerate(sorted({one.kind for one in samples}))}
    answers = []
    for fold in range(N_FOLDS):
        is_out = [_fold(fold_by(one)) == fold for one in samples]
        pages = [
            TypedPage(one.name, one.reading, labels[one.kind])
            for one, out in zip(samples, is_out, strict=True)
            if not out
        ]
        model, _metrics = fit_classifier(pages, 0)
        for one, out in zip(samples, is_out, strict=True):
            guess = model.guess(one.reading) if out else None
            if guess is not None:
                answers.append(Answer(guess.label == labels[one.kind], guess.is_sure, guess.is_familiar))
    return answers


def asked_of_strangers(samples: Sequence[Sample], strangers: Sequence[Sample]) -> list[Answer]:
    """Ask of pages of no type that was learned; none of the answers can be right."""
    labels = {kind: number for number, kind in enumerate(sorted({one.kind for one in samples}))}
    model, _metrics = fit_classifier([TypedPage(one.name, one.reading, labels[one.kind]) for one in samples], 0)
    guesses = [model.guess(one.reading) for one in strangers]
    return [Answer(is_right=False, is_sure=guess.is_sure, is_familiar=guess.is_familiar) for guess in guesses if guess]


def _fold(name: str) -> int:
    return hashlib.sha256(name.encode()).digest()[0] % N_FOLDS


def row(what: str, n_types: int, answers: Sequence[Answer]) -> list[object]:
    """Return a line of the table; a page is wrongly decided when it was surely called what it is not."""
    n, n_right = len(answers), sum(one.is_right for one in answers)
    sure = [one for one in answers if one.is_sure]
    bounds = wilson(n_right, n)
    return [
        what, n_types, n, round(ratio(n_right, n), 3), f"{bounds.lower:.3f}-{bounds.upper:.3f}",
        round(ratio(len(sure), n), 3), round(ratio(sum(one.is_right for one in sure), len(sure)), 3),
        round(ratio(sum(not one.is_right for one in sure), n), 3),
    ]  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench classifier", description=__doc__)
    parser.add_argument("--receipts", type=Path, required=True, help="a folder with folders of receipts")
    parser.add_argument("--types", type=Path, help="a folder with a folder of PDF files for each further type")
    options = parser.parse_args(arguments)
    every = list(receipts(options.receipts))
    trades = [one for one in every if one.kind]
    table = [
        row("trades of receipts", len(TRADES), asked(trades, lambda one: one.name)),
        row("trades, company never seen", len(TRADES), asked(trades, lambda one: one.group)),
    ]
    budgets = [Budget("trades: right where decided", float(str(table[0][6])), 0.97, is_floor=True)]
    if options.types is not None:
        table += _of_types(every, options.types)
        budgets.append(Budget("kinds: right where decided", float(str(table[2][6])), 0.97, is_floor=True))
    figures = {"rows": [dict(zip(HEADER, line, strict=True)) for line in table]}
    return finish("classifier", HEADER, table, budgets, figures)


def _of_types(every: Sequence[Sample], folder: Path) -> Iterator[list[object]]:
    kinds = {path.name: list(pdf_files(path, path.name)) for path in sorted(folder.iterdir()) if path.is_dir()}
    strangers = kinds.pop(OTHER, [])
    kinds["receipt"] = [Sample(one.name, one.group, "receipt", one.reading) for one in every]
    samples = [one for pages in kinds.values() for one in pages]
    yield row(", ".join(kinds), len(kinds), asked(samples, lambda one: one.name))
    if strangers:
        yield row("of no type", len(kinds), asked_of_strangers(samples, strangers))
    for left_out, pages in kinds.items():
        rest = [one for one in samples if one.kind != left_out]
        try:
            yield row(f"{left_out} where it is no type", len(kinds) - 1, asked_of_strangers(rest, pages))
        except TooFewTypesError:
            continue
