"""The rows of repeated groups that a language model answered: each cell is grounded beside its neighbours."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz.distance import Levenshtein

from inference.fields.answer_score import CELL_WEIGHTS, NOT_GROUNDED, answer_confidence, place_evidence
from inference.fields.answered_document import AnsweredDocument
from inference.fields.folding import FoldedPage
from inference.fields.ground import Place, ground
from inference.fields.groups import locate_groups
from inference.fields.normalise import TYPED, Normalised, folded, normalise
from inference.fields.rows_left_out import ROWS_LEFT_OUT, has_rows_left_out
from inference.fields.rules import findings_of
from inference.fields.score import CAPPED_BY_FINDING
from inference.fields.spans import Span, typed_spans
from inference.types import FieldReading, FieldSpec, GroupSpec

FAR = 4


@dataclass(slots=True)
class _Cell:
    """One cell as claimed, all places where its value stands, and in the end the one that belongs to its row."""

    path: str
    spec: FieldSpec
    text: str
    normalised: Normalised
    page: FoldedPage
    places: list[Place] = field(default_factory=list)
    place: Place | None = None


def read_rows(document: AnsweredDocument) -> Iterator[FieldReading]:
    """Yield one reading a cell, row by row; a column without a value in a row is left out unless it is required.

    Where printed rows are missing in the answer, every cell of the group has the finding "rows_left_out"; a group
    without any cell then has one reading of its own, at the group's path and without a value.
    """
    located = [one for one in locate_groups(document.layouts, document.spec, document.index) if one.bbox is not None]
    for group in document.spec.groups:
        cells = list(_cells(document, group, located))
        if has_rows_left_out(group, cells, located):
            yield from map(_with_rows_left_out, cells or [FieldReading(group.path, None, None, None, {})])
        else:
            yield from cells


def _with_rows_left_out(reading: FieldReading) -> FieldReading:
    confidence = None if reading.confidence is None else min(reading.confidence, CAPPED_BY_FINDING)
    return replace(reading, confidence=confidence, findings=(*reading.findings, ROWS_LEFT_OUT))


def _cells(document: AnsweredDocument, group: GroupSpec, located: Sequence[FieldReading]) -> Iterator[FieldReading]:
    rows = _rows(document, group)
    _ground(rows)
    for number, cells in enumerate(rows):
        by_column = {cell.spec.path: cell for cell in cells}
        for column in group.columns:
            path = f"{group.path}/{number}{column.path}"
            if column.path in by_column:
                yield _reading(document, by_column[column.path], cells, located)
            elif column.is_required:
                yield FieldReading(path, None, None, None, {}, ("not_found",))


def _rows(document: AnsweredDocument, group: GroupSpec) -> list[list[_Cell]]:
    rows: list[list[_Cell]] = []
    for path in document.merged.values:
        row, _, column = path.removeprefix(f"{group.path}/").partition("/")
        spec = next((one for one in group.columns if one.path == f"/{column}"), None)
        said = document.said(path)
        if spec is None or said is None or not path.startswith(f"{group.path}/"):
            continue
        rows.extend([] for _ in range(int(row) + 1 - len(rows)))
        text, page = said
        rows[int(row)].append(_Cell(path, spec, text, normalise(text, spec.value_type, spec.locale), page))
    return rows


def _ground(rows: Sequence[Sequence[_Cell]]) -> None:
    """Give each cell its place: the rows come down the page one after the other, the cells of a row stand level."""
    values: dict[tuple[int, str], list[Span]] = {}
    last: tuple[int, int] = (0, -1)
    for cells in rows:
        for cell in cells:
            layout = cell.page.layout
            key = layout.page_number, cell.spec.path
            if key not in values:
                values[key] = typed_spans(layout, cell.spec) if cell.spec.value_type in TYPED else []
            cell.places = ground(cell.text, cell.normalised, cell.spec, cell.page, values[key])
        anchor = _anchor(cells, last)
        if anchor is None:
            continue
        last = anchor.span.page.page_number, _lines(anchor.span)[0]
        for cell in cells:
            cell.place = min(cell.places, key=lambda place: _distance(place.span, anchor.span), default=None)


def _anchor(cells: Sequence[_Cell], last: tuple[int, int]) -> Place | None:
    """Return a place of the row's rarest value: the one that has the others nearest, below the row before it."""
    grounded = [cell for cell in cells if any(place.is_grounded for place in cell.places)]
    rarest = min(grounded, key=lambda cell: (len(cell.places), -len(cell.text)), default=None)
    if rarest is None:
        return None

    def strain(place: Place) -> tuple[int, int]:
        apart = sum(
            min(min((_distance(other.span, place.span) for other in cell.places), default=FAR), FAR) for cell in cells
        )
        here = place.span.page.page_number, _lines(place.span)[0]
        return apart + (0 if here > last else FAR), here[1]

    return min((place for place in rarest.places if place.is_grounded), key=strain)


def _lines(span: Span) -> tuple[int, int]:
    rows = [run.row for run in span.runs]
    return min(rows), max(rows)


def _distance(one: Span, other: Span) -> int:
    """Return how many lines apart two spans of a page stand, 0 where they are level."""
    (first, last), (top, bottom) = _lines(one), _lines(other)
    return max(first - bottom, top - last, 0)


def _reading(
    document: AnsweredDocument, cell: _Cell, cells: Sequence[_Cell], located: Sequence[FieldReading]
) -> FieldReading:
    place = cell.place
    evidence = place_evidence(place, cell.spec)
    if place is not None:
        evidence |= _level_evidence(place, [other.place for other in cells if other is not cell])
        evidence |= _table_evidence(cell, place, located)
    evidence |= document.token_evidence(cell.path)
    findings = list(findings_of(cell.spec, cell.text, cell.normalised))
    if cell.normalised.value is not None and (place is None or not place.is_grounded):
        findings.append(NOT_GROUNDED)
    findings += document.findings(cell.path)
    return FieldReading(
        field_path=cell.path,
        raw_text=cell.text,
        value=cell.normalised.value,
        confidence=answer_confidence(evidence, findings, CELL_WEIGHTS),
        evidence=evidence,
        findings=tuple(findings),
        page_number=cell.page.layout.page_number,
        bbox=place.span.bbox if place is not None else None,
    )


def _level_evidence(place: Place, others: Sequence[Place | None]) -> Mapping[str, float]:
    """Name how near the next cell of the row stands: "in_row" is 1 on the same line, 0 from four lines on."""
    apart = [_distance(place.span, other.span) for other in others if other is not None and other.is_grounded]
    return {"in_row": 1.0 - min(*apart, FAR) / FAR} if apart else {}


def _table_evidence(cell: _Cell, place: Place, located: Sequence[FieldReading]) -> Mapping[str, float]:
    """Name whether the table that the words make has this value in this column and row, where it has one at all."""
    middle = place.span.bbox.center[1]
    theirs = [
        one
        for one in located
        if one.bbox is not None
        and one.page_number == cell.page.layout.page_number
        and one.field_path.endswith(cell.spec.path)
        and one.bbox.y0 <= middle <= one.bbox.y1
    ]
    value = cell.normalised.value
    if not theirs or value is None:
        return {}
    if cell.spec.value_type in TYPED:
        return {"readers_agree": float(any(one.value == value for one in theirs))}
    likeness = [Levenshtein.normalized_similarity(folded(value), folded(one.value or "")) for one in theirs]
    return {"readers_agree": max(likeness)}
