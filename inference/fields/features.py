"""What a scorer sees of a span: plain numbers, each about 0-1, named so that a person can read them."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from inference.fields.keywords import NO_EVIDENCE, KeywordEvidence, KeywordIndex
from inference.fields.layout import Run
from inference.fields.normalise import TYPED, folded
from inference.fields.rules import compiled
from inference.fields.spans import Span
from inference.fields.sums import NO_SUPPORT, Printed, support
from inference.types import BBox, FieldSpec, ValueType

Positions = npt.NDArray[np.intp]
NUMERIC = frozenset({ValueType.AMOUNT, ValueType.NUMBER})
FAR_ABOVE = 3.0
SAME_SIZE = 1.25
OPEN_ENDS = (",", "&", "、")
ASIDE = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)?\)?\W*")
DECIMALS = re.compile(r"[.,] ?\d\d\D*$")


class FeatureMaker:
    """Features of one field's spans over a document's pages."""

    def __init__(self, spec: FieldSpec, index: KeywordIndex, spans: Sequence[Span]) -> None:
        self._spec = spec
        self._index = index
        self._spans = spans
        self._for = index.positions(spec.keywords)
        self._against = index.positions(spec.keywords_against)
        self._inside = index.positions(spec.keywords_inside)
        self._keyword_texts = {folded(word) for word in (*spec.keywords, *spec.keywords_against, *spec.keywords_inside)}
        self._kinds: dict[str, str] = {}
        self._evidence: dict[str, KeywordEvidence] = {}
        self._taken: dict[Run, list[tuple[int, int]]] = {}
        for span in spans:
            self._taken.setdefault(span.run, []).append((span.start, span.end))
        index.prepare(self._texts())
        self._counts = Counter(span.normalised.value for span in spans)
        sizes = sorted({self._size(span) for span in spans if _has_decimals(span.text)})
        self._ranks = {size: position / max(len(sizes) - 1, 1) for position, size in enumerate(sizes)}
        labelled = [span for span in spans if self._left(span)[0].for_it > 0]
        self._keyword_rows = sorted({_row_of(span) for span in labelled})
        self._largest = max((self._size(span) for span in labelled if _has_decimals(span.text)), default=0.0)
        self._row_counts = Counter(_row_of(span) for span in spans)
        self._support = support(filter(None, map(self._printed, spans)))

    def _texts(self) -> list[str]:
        texts = [run.text for page in {span.page for span in self._spans} for run in page.runs]
        return texts + [self._own_label(span) for span in self._spans]

    def _size(self, span: Span) -> float:
        if self._spec.value_type not in NUMERIC or span.normalised.value is None:
            return 0.0
        return abs(float(Decimal(span.normalised.value)))

    def _printed(self, span: Span) -> Printed | None:
        """Return a span as an amount with decimals, which others may speak for; None for any other."""
        value = span.normalised.value
        if self._spec.value_type not in NUMERIC or value is None or not _has_decimals(span.text):
            return None
        return Printed(round(Decimal(value) * 100), _row_of(span))

    def _weigh(self, text: str) -> KeywordEvidence:
        known = self._evidence.get(text)
        if known is None:
            known = self._index.evidence(text, self._for, self._against) if text else NO_EVIDENCE
            self._evidence[text] = known
        return known

    def _own_label(self, span: Span) -> str:
        """Return the text between the previous value in the same run and this one."""
        ends = [end for _, end in self._taken[span.run] if end <= span.start]
        return span.run.text[max(ends, default=0) : span.start].strip() if span.start else ""

    def _left(self, span: Span) -> tuple[KeywordEvidence, KeywordEvidence]:
        """Return the evidence of the nearest text left of a span, and of the rest of its row further left."""
        row = span.page.rows[span.run.row]
        own = self._own_label(span)
        texts = [own] if own else []
        texts += [run.text for run in reversed(row[: span.run.column])]
        labels = [text for text in texts if any(character.isalpha() for character in text)]
        if not labels:
            return NO_EVIDENCE, NO_EVIDENCE
        is_next = texts[0] is labels[0] and (bool(own) or span.run.column > 0)
        between = texts[: texts.index(labels[0])]
        is_near = is_next or all(len(text) <= 3 for text in between)
        far = [self._weigh(text) for text in labels[1 if is_near else 0 :]]
        rest = KeywordEvidence(
            max((item.for_it for item in far), default=0.0), max((item.against_it for item in far), default=0.0)
        )
        return (self._weigh(labels[0]) if is_near else NO_EVIDENCE), rest

    def _above(self, span: Span) -> KeywordEvidence:
        above = span.page.above(span.run)
        if above is None:
            return NO_EVIDENCE
        distance = (span.bbox.y0 - above.bbox.y1) / span.page.text_height
        return self._weigh(above.text) if distance < FAR_ABOVE else NO_EVIDENCE

    def features(self, span: Span) -> dict[str, float]:
        """Return all features of one span."""
        left, row = self._left(span)
        above = self._above(span)
        box = span.page.within_content(span.bbox)
        centre_x, centre_y = box.center
        value = span.normalised.value
        features = {
            "keyword_left": left.for_it,
            "keyword_row": row.for_it,
            "keyword_above": above.for_it,
            "against_left": left.against_it,
            "against_row": row.against_it,
            "against_above": above.against_it,
            "region": region_closeness(box, self._spec.region),
            "top": 1.0 - centre_y,
            "centred": 1.0 - min(abs(centre_x - 0.5) * 2, 1.0),
            "right": box.x1,
            "first_page": 1.0 if span.page.page_number == 1 else 0.0,
            "text_size": min(span.run.bbox.height / span.page.text_height, 3.0) / 3.0,
            "ocr_score": span.ocr_score,
            "has_value": float(value is not None or bool(span.normalised.alternatives)),
            "findings": min(len(span.normalised.findings), 2) / 2.0,
            "repeated": min(self._counts[value] - 1, 3) / 3.0 if value is not None else 0.0,
            "pattern": self._pattern(span),
        }
        if self._spec.value_type in TYPED:
            features |= self._typed(span)
        else:
            features |= self._wording(span)
        return features

    def _pattern(self, span: Span) -> float:
        if self._spec.pattern is None:
            return 0.5
        return 1.0 if compiled(self._spec.pattern).search(span.text) else 0.0

    def _typed(self, span: Span) -> dict[str, float]:
        size = self._size(span)
        printed = self._printed(span)
        supported = self._support.get(printed, NO_SUPPORT) if printed is not None else NO_SUPPORT
        share = (span.end - span.start) / max(len(span.run.text), 1)
        return {
            "rank": self._ranks.get(size, 0.5),
            "near_largest": max(1.0 - 10.0 * abs(1.0 - size / self._largest), 0.0) if self._largest else 0.5,
            "later": self._later(span),
            "shares_row": min(self._row_counts[_row_of(span)] - 1, 2) / 2.0,
            "above_zero": float(size > 0 and not (span.normalised.value or "").startswith("-")),
            "decimals": float(_has_decimals(span.text)),
            "paid": float(supported.is_paid),
            "adds_up": float(supported.is_sum),
            "fills_run": share,
            "digits": min(sum(character.isdigit() for character in span.text), 12) / 12.0,
        }

    def _later(self, span: Span) -> float:
        """Return the share of the rows with a keyword that stand above this one; 0 where it has none itself."""
        if _row_of(span) not in self._keyword_rows:
            return 0.0
        return self._keyword_rows.index(_row_of(span)) / max(len(self._keyword_rows) - 1, 1)

    def _wording(self, span: Span) -> dict[str, float]:
        """Return what the span's own lines, and the lines before and after it, are made of."""
        lines = [
            span.text if len(span.runs) == 1 else span.run.text[span.start :],
            *(run.text for run in span.runs[1:]),
        ]
        kinds = [self._line_kind(line) for line in lines]
        heights = [run.bbox.height for run in span.runs]
        letters = sum(character.isalpha() for character in span.text)
        before, after = span.page.above(span.run), span.page.next_line(span.runs[-1])
        return {
            "lines": len(lines) / 6.0,
            "inside_any": float("inside" in kinds),
            "inside_lines": kinds.count("inside") / 6.0,
            "plain_lines": kinds.count("plain") / 6.0,
            "against_lines": kinds.count("against") / 6.0,
            "inside_first": float(kinds[0] == "inside"),
            "inside_last": float(kinds[-1] == "inside"),
            "inside_before": self._is_inside(before),
            "inside_after": self._is_inside(after),
            "keyword_own": max(self._weigh(line).for_it for line in lines),
            "bare_keyword": float(folded(span.text) in self._keyword_texts),
            "letters": letters / max(len(span.text.replace(" ", "")), 1),
            "length": min(len(span.text), 60) / 60.0,
            "size_spread": min(max(max(heights) / max(min(heights), 1e-6) - SAME_SIZE, 0.0), 1.0),
            "starts_late": float(before is not None and before.text.endswith(OPEN_ENDS) and span.start == 0),
            "ends_open": float(span.text.endswith(OPEN_ENDS) or span.text.count("(") > span.text.count(")")),
            "labelled": float(span.start > 0),
            "alone_in_row": float(len(span.page.rows[span.run.row]) == 1),
        }

    def _line_kind(self, line: str) -> str:
        """Return whether a line is made of the field's words, of words against it (or is a mere aside), or neither."""
        if line not in self._kinds:
            self._kinds[line] = self._new_line_kind(line)
        return self._kinds[line]

    def _new_line_kind(self, line: str) -> str:
        if self._weigh(line).against_it > 0 or ASIDE.fullmatch(line):
            return "against"
        return "inside" if self._index.strength(line, self._inside) > 0 else "plain"

    def _is_inside(self, run: Run | None) -> float:
        return float(run is not None and self._line_kind(run.text) == "inside")


def _row_of(span: Span) -> tuple[int, int]:
    return span.page.page_number, span.run.row


def _has_decimals(text: str) -> bool:
    return DECIMALS.search(text) is not None


def region_closeness(box: BBox, region: BBox | None) -> float:
    """Return 1 where the box's middle lies in the region, falling to 0 half a page away; 0.5 without a region."""
    if region is None:
        return 0.5
    x, y = box.center
    dx = max(region.x0 - x, x - region.x1, 0.0)
    dy = max(region.y0 - y, y - region.y1, 0.0)
    return max(1.0 - 2.0 * float(np.hypot(dx, dy)), 0.0)
