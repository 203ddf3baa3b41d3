"""A document's pages together with what a language model answered on them: what fields and rows are both read from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from inference.answers.merge import MergedValues, merge_pages
from inference.fields.folding import FoldedPage
from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout
from inference.fields.locate import document_keywords
from inference.types import DocumentTypeSpec, PageReading

REPAIRED = "answer_repaired"
SECOND_LOOK_FAILED = "second_look_failed"


@dataclass(frozen=True, eq=False)
class AnsweredDocument:
    """`readings` are the pages in order, some or all with an answer; `merged` is what the answers say together."""

    spec: DocumentTypeSpec
    readings: Sequence[PageReading]
    pages: Sequence[FoldedPage]
    index: KeywordIndex
    merged: MergedValues

    @classmethod
    def of(cls, readings: Sequence[PageReading], spec: DocumentTypeSpec) -> "AnsweredDocument":
        """Lay the pages' words out and merge the answers."""
        pages = [FoldedPage(PageLayout(reading, number)) for number, reading in enumerate(readings, 1)]
        index = document_keywords(spec)
        index.prepare(run.text for page in pages for run in page.layout.runs)
        answers = [None if reading.answer is None else _with_texts(reading.answer.values) for reading in readings]
        return cls(spec, readings, pages, index, merge_pages(answers, spec))

    @property
    def layouts(self) -> list[PageLayout]:
        """The pages' words in rows."""
        return [page.layout for page in self.pages]

    @property
    def is_repaired(self) -> bool:
        """Whether any page's answer had to be mended before it could be read: then something may be lost, too."""
        return any(reading.answer is not None and reading.answer.is_repaired for reading in self.readings)

    def said(self, path: str) -> tuple[str, FoldedPage] | None:
        """Return the text claimed for a field path and the page that it was claimed on."""
        if path not in self.merged.values:
            return None
        text, page_number = self.merged.values[path]
        return text, self.pages[page_number - 1]

    def findings(self, path: str) -> tuple[str, ...]:
        """Return the codes that hold for a claim whatever it says."""
        _, page_number = self.merged.values[path]
        answer = self.readings[page_number - 1].answer
        findings = list(self.merged.findings.get(path, ()))
        if answer is not None and answer.is_repaired:
            findings.append(REPAIRED)
        if answer is not None and answer.has_second_look_failed:
            findings.append(SECOND_LOOK_FAILED)
        return tuple(findings)

    def token_evidence(self, path: str) -> Mapping[str, float]:
        """Return what the tokens of a claim say, under the names given at `PageAnswer`; nothing where none do."""
        _, page_number = self.merged.values[path]
        answer = self.readings[page_number - 1].answer
        return {} if answer is None else answer.evidence.get(self.merged.page_paths[path], {})


def _with_texts(value: Any) -> Any:  # noqa: ANN401
    """Write numbers out so that no locale takes their decimal point for a thousands mark."""
    match value:
        case Mapping():
            return {key: _with_texts(item) for key, item in value.items()}
        case list():
            return [_with_texts(item) for item in value]
        case bool():
            return value
        case int() | float() | Decimal():
            text = format(Decimal(str(value)), "f")
            return f"{text}0" if len(text.partition(".")[2]) == 3 else text
        case _:
            return value
