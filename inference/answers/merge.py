"""The answers for single pages become the answer for a document, each value with the page that it came from (S6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inference.answers.leaves import leaves
from inference.fields.normalise import comparable
from inference.types import DocumentTypeSpec, FieldSpec, GroupSpec
from inference.types.hints import pointer

PAGES_DISAGREE = "pages_disagree"


@dataclass(frozen=True, slots=True)
class MergedValues:
    """What the pages say together.

    `values` maps a field path of the document ("/total", "/line_items/3/amount") to (text as the model wrote it, page
    number from 1); what no page knows is absent. `page_paths` maps the same paths to the path in that page's own
    answer, where rows are counted anew: the key of `PageAnswer.evidence`. `findings` maps a path to codes.
    """

    values: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    findings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    page_paths: Mapping[str, str] = field(default_factory=dict)


def merge_pages(answers: Sequence[Mapping[str, Any] | None], spec: DocumentTypeSpec) -> MergedValues:
    """Merge the `values` of the pages' answers, in page order; None stands for a page without an answer.

    Of a single field the first page that has it is believed; another page that says something else is a finding. The
    rows of a repeated group are counted on from page to page; a row without any value is none.
    """
    pages = [
        (number, {path: str(value) for path, value in leaves(dict(answer)) if value is not None})
        for number, answer in enumerate(answers, start=1)
        if answer is not None
    ]
    values: dict[str, tuple[str, int]] = {}
    findings: dict[str, tuple[str, ...]] = {}
    page_paths: dict[str, str] = {}
    for one in spec.fields:
        said = [(page[one.path], number) for number, page in pages if one.path in page]
        if said:
            values[one.path] = said[0]
            page_paths[one.path] = one.path
            if _do_disagree([text for text, _ in said], one):
                findings[one.path] = (PAGES_DISAGREE,)
    for group in spec.groups:
        for path, on_page, text, number in _rows(group, pages):
            values[path] = (text, number)
            page_paths[path] = on_page
    return MergedValues(values, findings, page_paths)


def _do_disagree(texts: Sequence[str], spec: FieldSpec) -> bool:
    return len({comparable(text, spec.value_type, spec.locale) for text in texts}) > 1


def _rows(group: GroupSpec, pages: Sequence[tuple[int, Mapping[str, str]]]) -> list[tuple[str, str, str, int]]:
    """Return (path in the document, path on the page, text, page number) of each cell of a group."""
    cells: list[tuple[str, str, str, int]] = []
    n_rows = 0
    for number, page in pages:
        numbers: dict[str, int] = {}
        for on_page, text in page.items():
            if not on_page.startswith(f"{group.path}/"):
                continue
            row, _, column = on_page[len(group.path) + 1 :].partition("/")
            position = n_rows + numbers.setdefault(row, len(numbers))
            cells.append((f"{pointer(group.path, position)}/{column}", on_page, text, number))
        n_rows += len(numbers)
    return cells
