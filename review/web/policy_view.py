"""The policy page's rows: each field's thresholds, what they did, and what others would have done."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from review import words
from review.models import DocumentType, RoutingPolicy
from review.selectors.document_types import active_policy
from review.selectors.learning import Reads, reads_of
from review.selectors.schemas import spec_of
from review.selectors.what_if import ErrorEstimate, PolicyOutcome, RoutedDocuments, parse_rules

SHARES = ("audit_auto_share", "audit_sampled_share", "full_examination_share")


@dataclass(frozen=True, slots=True)
class Bands:
    """A row of counts by band with their shares of all; of documents also how many people look at, on average."""

    name: str
    counts: tuple[int, int, int]
    n_looked_at: float | None = None

    @property
    def n(self) -> int:
        """All of them."""
        return sum(self.counts)

    @property
    def stored_share(self) -> float | None:
        """The share that is stored without waiting for a person."""
        return (self.counts[0] + self.counts[1]) / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field: the thresholds in the form, its bands now and then, and the error of what is stored unseen."""

    path: str
    label: str
    auto: str
    review: str
    now: Bands | None
    then: Bands | None
    error_now: ErrorEstimate | None
    error_then: ErrorEstimate | None
    error_cost: float


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """All that the page shows of one document type."""

    active: RoutingPolicy | None
    rules: Mapping[str, Any]
    fields: list[FieldRow]
    shares: list[tuple[str, str]]
    documents: list[Bands]
    headline: FieldRow | None
    n_days: int
    is_cut: bool
    is_changed: bool
    engine: str
    has_other_engines: bool
    uncalibrated: list[Reads]
    floor_share: float | None

    @property
    def n_documents(self) -> int:
        """How many documents the figures are about."""
        return self.documents[0].n

    def plain(self) -> Iterator[list[object]]:
        """Yield the figures as rows: documents, then each field, in force and in the form, with the error."""
        for which, bands in zip(("in_force", "in_form"), self.documents, strict=True):
            yield ["", which, *bands.counts, None, None, None, None, bands.n_looked_at]
        for field in self.fields:
            outcomes = (("in_force", field.now, field.error_now), ("in_form", field.then, field.error_then))
            for which, counted, error in outcomes:
                known = [error.point, error.lower, error.upper, error.n] if error and error.is_enough else [None] * 4
                if counted is not None:
                    yield [field.path, which, *counted.counts, *known, None]

    @property
    def chart(self) -> dict[str, Any]:
        """Return what the chart draws: rows with their names, and the bands with theirs."""
        rows = {"now": gettext("in force"), "then": gettext("in the form")}
        return {
            "rows": [{"name": rows[bands.name], "counts": bands.counts} for bands in self.documents],
            "bands": [str(words.BAND_NAMES[band]) for band in ("auto", "sampled", "review")],
        }


def rules_in(data: QueryDict, paths: list[str]) -> dict[str, Any]:
    """Return the rules that a form says, as plain data; what is no number stays a text, which is then refused."""
    default = {"auto": _number(data.get("auto:", "")), "review": _number(data.get("review:", ""), missing="")}
    fields = {}
    for path in paths:
        limits = {
            "auto": _number(data.get(f"auto:{path}", "")),
            "review": _number(data.get(f"review:{path}", ""), missing=""),
        }
        if limits != default:
            fields[path] = limits
    shares = {name: _number(data.get(name, ""), missing="") for name in SHARES}
    return {"default": default, "fields": fields, **shares}


def field_paths(document_type: DocumentType) -> list[tuple[str, str, float]]:
    """Return path, label and error cost of every field, columns of tables with `*` for the row."""
    version = document_type.active_version
    if version is None:
        return []
    spec = spec_of(version)
    found = [(field.path, words.label_of(field.labels, field.path), field.error_cost) for field in spec.fields]
    for group in spec.groups:
        name = words.label_of(group.labels, group.path)
        for column in group.columns:
            label = f"{name}: {words.label_of(column.labels, column.path)}"
            found.append((f"{group.path}/*{column.path}", label, column.error_cost))
    return found


def policy_page(
    document_type: DocumentType,
    routed: RoutedDocuments,
    wished: dict[str, Any] | None,
    newest: Sequence[RoutingPolicy] = (),
) -> PolicyPage:
    """Return the page for rules that a form wishes, or for the active ones; raise InvalidInputError for wrong rules.

    `newest`: the type's newest policies, where they are at hand; the active one is likely among them.
    """
    active = active_policy(document_type, newest)
    stands = active[1] if active is not None else parse_rules({})
    # Salt and direction of the draws are no part of the form: a new policy draws in the same way.
    kept = {"salt": stands.salt} | ({"directed": stands.directed.as_json()} if stands.directed is not None else {})
    rules = parse_rules({**wished, **kept}) if wished is not None else stands
    now, then = routed.under(stands), routed.under(rules)
    fields = [
        _row((path, label, cost), rules.thresholds_for(path).as_json(), now, then)
        for path, label, cost in [("", "", 0.0), *field_paths(document_type)]
    ]
    fields[0] = _row(("", "", 0.0), rules.default.as_json(), now, then)
    plain = rules.as_json()
    (reads,) = reads_of([(document_type, routed.engine)])
    known = [field for field in fields if field.error_then is not None and field.error_then.point is not None]
    return PolicyPage(
        active=active[0] if active is not None else None,
        rules=plain,
        fields=fields,
        shares=[(name, _text(plain[name])) for name in SHARES],
        documents=[_documents("now", now), _documents("then", then)],
        headline=max(known, key=lambda field: field.error_cost, default=None),
        n_days=routed.n_days,
        is_cut=routed.is_cut,
        is_changed=rules != stands,
        engine=str(routed.engine or ""),
        has_other_engines=routed.has_others,
        uncalibrated=[reads] if reads.is_uncalibrated else [],
        floor_share=stands.directed.floor_share if stands.directed is not None else None,
    )


def _row(
    field: tuple[str, str, float], limits: Mapping[str, float | None], now: PolicyOutcome, then: PolicyOutcome
) -> FieldRow:
    path, label, cost = field
    return FieldRow(
        path=path,
        label=label,
        auto=_text(limits["auto"]),
        review=_text(limits["review"]),
        now=_bands(label, now.bands.fields[path]) if path in now.bands.fields else None,
        then=_bands(label, then.bands.fields[path]) if path in then.bands.fields else None,
        error_now=now.errors.get(path),
        error_then=then.errors.get(path),
        error_cost=cost,
    )


def _bands(name: str, counts: Any) -> Bands:  # noqa: ANN401 - counts of the routing room, which pages do not enter
    return Bands(name, (counts.n_auto, counts.n_sampled, counts.n_review))


def _documents(name: str, outcome: PolicyOutcome) -> Bands:
    return replace(_bands(name, outcome.bands.documents), n_looked_at=outcome.bands.n_looked_at)


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _number(text: str, *, missing: str | None = None) -> float | str | None:
    """Return the number that a text is, `missing` for none; any other text as it is."""
    if not text.strip():
        return missing
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def problem_in_words(problem: Mapping[str, str], document_type: DocumentType) -> str:
    """Return what is wrong with rules: which field, then what."""
    pointer, message = problem["pointer"], words.say(words.POLICY_PROBLEMS, problem["message"])
    labels = {path.replace("~", "~0").replace("/", "~1"): label for path, label, _cost in field_paths(document_type)}
    parts = pointer.split("/")
    name = labels.get(parts[2], "") if len(parts) > 2 and parts[1] == "fields" else ""
    name = name or words.say(words.POLICY_PARTS, parts[1] if len(parts) > 1 else "")
    return f"{name}: {message}"
