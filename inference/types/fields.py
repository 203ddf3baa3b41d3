"""What a document type asks for (`FieldSpec`, `GroupSpec`) and what a reading answers (`FieldReading`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from inference.types.geometry import BBox


class ValueType(StrEnum):
    """How a field's printed text becomes a value (see `inference.fields.normalise`)."""

    TEXT = "text"
    NAME = "name"
    ADDRESS = "address"
    AMOUNT = "amount"
    NUMBER = "number"
    DATE = "date"
    ID = "id"
    PHONE = "phone"
    CURRENCY = "currency"


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One leaf of a document type's schema with its `x-` hints.

    `path` is a JSON Pointer; inside a repeated group it is relative to the row ("/amount").
    `keywords` stand near the value, `keywords_against` near what is not the value (or in it), `keywords_inside` are
    words that such values are made of. `region` is where the field is usually printed, as shares of the printed area;
    `pattern` a regular expression that is found in the raw text.
    `error_cost` is what one wrong value costs, in any unit that is the same for all fields; `is_high_value` asks for a
    second reading of its pages, where a language model reads (R7); `is_personal` values are left out of data sets, or
    masked there, when that is asked for. `rule_messages` maps the code of each cross-field
    rule that names the field ("rule:rows_add_up") to what people are told when it is broken, by language. `id_scheme`
    names the scheme of a tax or registration number ("cn.uscc"), whose check digits are looked at.
    """

    path: str
    value_type: ValueType
    is_required: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    keywords_against: tuple[str, ...] = ()
    keywords_inside: tuple[str, ...] = ()
    region: BBox | None = None
    pattern: str | None = None
    max_lines: int = 1
    error_cost: float = 1.0
    is_high_value: bool = False
    is_personal: bool = False
    locale: str = "en"
    rule_messages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    id_scheme: str | None = None


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """A repeated group (`type: array` of objects): `path` of the array and the columns of one row."""

    path: str
    columns: tuple[FieldSpec, ...]
    is_required: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One span of words that may be the value of a field, with the features a scorer sees and its score in 0-1.

    `value` is the normalised value, or None where the text does not normalise.
    """

    text: str
    value: str | None
    page_number: int
    bbox: BBox
    features: Mapping[str, float]
    score: float


@dataclass(frozen=True, slots=True)
class FieldReading:
    """What a reading claims for one field.

    `value` is a string in canonical form (amounts as plain decimals "1234.50", dates as ISO 8601), or None when
    nothing was found or the text did not normalise; `raw_text` is the text as printed. `confidence` is in 0-1, or
    None when there is nothing to be confident of. `evidence` maps the name of each piece of evidence to its number;
    `findings` are codes of what is wrong ("date_ambiguous", "pattern_mismatch", …).

    What is wrong with a repeated group that has no cell to bear it is a reading at the path of the group, without a
    value and a confidence.
    """

    field_path: str
    raw_text: str | None
    value: str | None
    confidence: float | None
    evidence: Mapping[str, float]
    findings: tuple[str, ...] = ()
    page_number: int | None = None
    bbox: BBox | None = None
    candidates: tuple[Candidate, ...] = ()

    def candidates_as_json(self) -> list[dict[str, Any]]:
        """Return the candidates as plain JSON data, best first."""
        return [
            {
                "text": candidate.text,
                "value": candidate.value,
                "page_number": candidate.page_number,
                "bbox": list(candidate.bbox),
                "features": dict(candidate.features),
                "score": candidate.score,
            }
            for candidate in self.candidates
        ]
