"""Repeated groups as printed tables: a header row names the columns, their x positions sort the cells, rows follow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout
from inference.fields.normalise import TYPED, find_values, normalise
from inference.fields.rules import findings_of
from inference.types import BBox, DocumentTypeSpec, FieldReading, FieldSpec, GroupSpec, ValueType, Word

MIN_COLUMNS = 2
MAX_ROW_GAP = 4.0
NUMERIC = frozenset({ValueType.AMOUNT, ValueType.NUMBER})


@dataclass(frozen=True)
class Header:
    """One cell of a header row: `spec` is the column it names, or None for a column that nobody asked for."""

    bbox: BBox
    spec: FieldSpec | None
    strength: float


def locate_groups(pages: Sequence[PageLayout], spec: DocumentTypeSpec, index: KeywordIndex) -> Iterator[FieldReading]:
    """Yield one reading a cell, row by row; a column without a cell in a row is left out unless it is required."""
    for group in spec.groups:
        number = 0
        for page in pages:
            found = find_header(page, group, index)
            if found is None:
                continue
            row_number, headers = found
            for cells in body_rows(page, row_number, headers, spec, index):
                yield from _row_readings(group, number, headers, cells, page)
                number += 1


def find_header(page: PageLayout, group: GroupSpec, index: KeywordIndex) -> tuple[int, list[Header]] | None:
    """Return the row that names the most of a group's columns, with its cells from the left, or None."""
    best: tuple[int, list[Header]] | None = None
    best_score = 0.0
    for number, row in enumerate(page.rows):
        headers = [header for run in row for header in _header_cells(run.words, run.text, run.bbox, group, index)]
        headers = _one_each(headers)
        named = [header for header in headers if header.spec is not None]
        score = sum(header.strength for header in named)
        if len(named) >= min(MIN_COLUMNS, len(group.columns)) and score > best_score:
            best, best_score = (number, headers), score
    return best


def _header_cells(words: Sequence[Word], text: str, bbox: BBox, group: GroupSpec, index: KeywordIndex) -> list[Header]:
    whole = _name(text, bbox, group, index)
    if len(words) == 1:
        return [whole]
    parts = [_name(word.text, word.bbox, group, index) for word in words]
    n_named = len({part.spec.path for part in parts if part.spec is not None})
    return parts if n_named > 1 else [whole]


def _name(text: str, bbox: BBox, group: GroupSpec, index: KeywordIndex) -> Header:
    """Say which column a header cell names: the one whose longest keyword is found in it."""
    best, strength = None, 0.0
    for column in group.columns:
        found = index.evidence(text, index.positions(column.keywords), index.positions(column.keywords_against))
        if found.for_it > strength:
            best, strength = column, found.for_it
    return Header(bbox, best, strength)


def _one_each(headers: Sequence[Header]) -> list[Header]:
    """Let the strongest cell keep a column that two cells name."""
    strongest: dict[str, Header] = {}
    for header in headers:
        if header.spec is not None:
            kept = strongest.get(header.spec.path)
            if kept is None or header.strength > kept.strength:
                strongest[header.spec.path] = header
    return [
        header if header.spec is None or strongest[header.spec.path] is header else Header(header.bbox, None, 0.0)
        for header in headers
    ]


def body_rows(
    page: PageLayout, header_row: int, headers: Sequence[Header], spec: DocumentTypeSpec, index: KeywordIndex
) -> Iterator[list[list[Word]]]:
    """Yield the words of each row by column, down to a total, a wide gap, or the end of the page.

    A row without any number continues the text of the row before it.
    """
    totals = index.positions([word for field in spec.fields if field.value_type in NUMERIC for word in field.keywords])
    numeric = _numeric_columns(headers)
    pending: list[list[Word]] | None = None
    bottom = max(header.bbox.y1 for header in headers)
    for row in page.rows[header_row + 1 :]:
        words = [word for run in row for word in run.words]
        if min(word.bbox.y0 for word in words) - bottom > MAX_ROW_GAP * page.text_height:
            break
        bottom = max(word.bbox.y1 for word in words)
        cells = _cells(words, headers)
        n_filled = sum(any(_has_digit(word) for word in cells[column]) for column in numeric)
        if n_filled == 1 and len(row) > 1 and index.strength(row[0].text, totals) > 0:
            break
        if n_filled:
            if pending is not None:
                yield pending
            pending = cells
        elif pending is not None:
            pending = [before + after for before, after in zip(pending, cells, strict=True)]
    if pending is not None:
        yield pending


def _has_digit(word: Word) -> bool:
    return any(character.isdigit() for character in word.text)


def _numeric_columns(headers: Sequence[Header]) -> list[int]:
    numeric = [
        column for column, header in enumerate(headers) if header.spec is not None and header.spec.value_type in NUMERIC
    ]
    return numeric or [column for column, header in enumerate(headers) if header.spec is not None]


def _cells(words: Sequence[Word], headers: Sequence[Header]) -> list[list[Word]]:
    cells: list[list[Word]] = [[] for _ in headers]
    for word in words:
        for part in _split(word, headers):
            cells[_column_of(part.bbox, headers)].append(part)
    return cells


def _split(word: Word, headers: Sequence[Header]) -> list[Word]:
    """Cut a word that runs under several headers at its spaces: readers join neighbouring cells."""
    tokens = word.text.split()
    covered = [header for header in headers if _shared(word.bbox, header.bbox) > 0.5 * header.bbox.width]
    if len(tokens) < 2 or len(covered) < 2:
        return [word]
    step, at, parts = word.bbox.width / max(len(word.text), 1), 0, []
    for token in tokens:
        at = word.text.index(token, at)
        x0 = word.bbox.x0 + at * step
        parts.append(Word(token, BBox(x0, word.bbox.y0, x0 + len(token) * step, word.bbox.y1), word.score))
        at += len(token)
    return parts


def _shared(one: BBox, other: BBox) -> float:
    return min(one.x1, other.x1) - max(one.x0, other.x0)


def _column_of(box: BBox, headers: Sequence[Header]) -> int:
    """Return the header that a cell lines up with: at its left edge, its right edge or its middle."""

    def distance(column: int) -> float:
        header = headers[column].bbox
        edges = min(abs(box.x0 - header.x0), abs(box.x1 - header.x1), abs(box.center[0] - header.center[0]))
        return edges - max(_shared(box, header), 0.0)

    return min(range(len(headers)), key=distance)


def _row_readings(
    group: GroupSpec, number: int, headers: Sequence[Header], cells: Sequence[Sequence[Word]], page: PageLayout
) -> Iterator[FieldReading]:
    by_path = {header.spec.path: column for column, header in enumerate(headers) if header.spec is not None}
    for spec in group.columns:
        path = f"{group.path}/{number}{spec.path}"
        column = by_path.get(spec.path)
        if column is not None and cells[column]:
            yield _cell_reading(spec, path, cells[column], headers[column], page)
        elif spec.is_required:
            yield FieldReading(path, None, None, None, {}, ("not_found",))


def _cell_reading(spec: FieldSpec, path: str, words: Sequence[Word], header: Header, page: PageLayout) -> FieldReading:
    text = " ".join(word.text.strip() for word in words)
    normalised = normalise(text, spec.value_type, spec.locale)
    if normalised.value is None and spec.value_type in TYPED:
        found = find_values(text, spec.value_type, spec.locale)
        normalised = found[0].normalised if len(found) == 1 else normalised
    box = BBox.around([word.bbox for word in words])
    findings = findings_of(spec, text, normalised)
    in_line = 1.0 - min(abs(_column_offset(box, header.bbox)) * 4.0, 1.0)
    evidence = {"keyword": header.strength, "ocr_score": min(word.score for word in words), "alignment": in_line}
    confidence = evidence["ocr_score"] * (0.5 + 0.25 * header.strength + 0.25 * in_line)
    return FieldReading(
        field_path=path,
        raw_text=text,
        value=normalised.value,
        confidence=min(confidence, 0.5) if findings else confidence,
        evidence=evidence,
        findings=findings,
        page_number=page.page_number,
        bbox=box,
    )


def _column_offset(box: BBox, header: BBox) -> float:
    return min(box.x0 - header.x0, box.x1 - header.x1, box.center[0] - header.center[0], key=abs)
