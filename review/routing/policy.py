"""A policy's rules: thresholds by field and the rates of looking (V1). Plain JSON in the database, strict here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeGuard

from review.routing.directed import DirectedRule
from review.routing.paths import column_path


class PolicyError(ValueError):
    """Rules that cannot be used. `problems` lists (JSON Pointer into the rules, message) pairs, each exact."""

    code = "invalid_policy"

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{pointer or '/'}: {message}" for pointer, message in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Two limits on confidence, each in 0-1: below `review` a person looks; from `auto` on the value is stored.

    `auto` None means never automatic, not even at confidence 1: the state of a field with too few labels (K3). With a
    `review` of 1 as well, the state of a field that no labels vouch for, a person looks at every value.
    """

    auto: float | None
    review: float

    def is_doubtful(self, confidence: float) -> bool:
        """Whether a person looks at a value of this confidence, in 0-1."""
        return confidence < self.review or (self.auto is None and self.review >= 1)

    def as_json(self) -> dict[str, float | None]:
        """Return {"auto": …, "review": …}."""
        return {"auto": self.auto, "review": self.review}


@dataclass(frozen=True, slots=True)
class Directed:
    """Audits of the sampled band that go where there is something to learn; see `review.routing.directed`.

    Whatever the interest, a document is audited with at least `floor_share` of the band's rate. `scale` is the interest
    at which it is audited with the rate itself. Both in (0, 1].
    """

    floor_share: float
    scale: float

    def as_json(self) -> dict[str, float]:
        """Return {"floor_share": …, "scale": …}."""
        return {"floor_share": self.floor_share, "scale": self.scale}


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """What `decide` goes by.

    `fields` maps a field path to its thresholds; in the path of a repeated group's column the row is `*`
    ("/line_items/*/amount"). `default` holds for every other field. The shares are probabilities in (0, 1]: 0 is
    refused since a value stored unseen must have had a chance of being looked at, or no estimate can speak for it.
    `directed` says where the audits of the sampled band go; None: everywhere alike.
    Raises PolicyError, whichever way it is built.
    """

    default: Thresholds = Thresholds(auto=0.95, review=0.6)
    fields: Mapping[str, Thresholds] = field(default_factory=dict)
    audit_auto_share: float = 0.02
    audit_sampled_share: float = 0.20
    full_examination_share: float = 0.10
    salt: str = "stet"
    directed: Directed | None = None

    def __post_init__(self) -> None:
        # A copy that nobody can write to: rules are shared between decisions.
        object.__setattr__(self, "fields", MappingProxyType(dict(self.fields)))
        problems = _problems(self.as_json())
        if problems:
            raise PolicyError(problems)

    def thresholds_for(self, field_path: str) -> Thresholds:
        """Return the thresholds of a field: by its exact path, else with each row number as `*`, else the default."""
        exact = self.fields.get(field_path)
        if exact is not None:
            return exact
        return self.fields.get(column_path(field_path), self.default)

    def sampled_share(self, interest: float | None) -> float:
        """Return the probability in (0, 1] that a document of the sampled band is audited.

        `interest` in 0-1 is that of the document, None where it is not known: then it is the band's rate.
        """
        if self.directed is None or interest is None:
            return self.audit_sampled_share
        rate = self.audit_sampled_share
        rule = DirectedRule(rate, rate * self.directed.floor_share, self.directed.scale)
        return rule.inclusion_probability(interest)

    @property
    def least_sampled_share(self) -> float:
        """The least of these probabilities."""
        return self.sampled_share(0.0)

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data; `from_json` is its inverse. Audits that go everywhere alike are not mentioned."""
        directed = {} if self.directed is None else {"directed": self.directed.as_json()}
        return {
            **directed,
            "default": self.default.as_json(),
            "fields": {path: thresholds.as_json() for path, thresholds in self.fields.items()},
            "audit_auto_share": self.audit_auto_share,
            "audit_sampled_share": self.audit_sampled_share,
            "full_examination_share": self.full_examination_share,
            "salt": self.salt,
        }

    @classmethod
    def from_json(cls, data: object) -> "PolicyRules":
        """Build rules from JSON data; a key left out keeps its default. Raise PolicyError with every problem found."""
        problems = _problems(data)
        if problems or not isinstance(data, Mapping):
            raise PolicyError(problems)
        values = dict(data)
        if "default" in values:
            values["default"] = Thresholds(**values["default"])
        values["fields"] = {path: Thresholds(**limits) for path, limits in values.get("fields", {}).items()}
        if values.get("directed") is not None:
            values["directed"] = Directed(**values["directed"])
        return cls(**values)


# A look is the unit of cost; an audit of a stored value is worth while at a quarter of the risk that demands a look.
_AUDIT_LEVERAGE = 4.0
_REVIEW_BOUNDS = (0.5, 0.99)


def thresholds_for_cost(error_cost: float) -> Thresholds:
    """Return thresholds for a field of which one wrong value costs as much as `error_cost` looks.

    Storing a value unseen at confidence p risks (1 - p) * cost, looking at it costs 1: below 1 - 1/cost a look is the
    cheaper. From there up to a quarter of that risk the value is sampled. This takes the confidence at its word; a
    policy made from examined values replaces it as soon as there are enough of them.
    """
    lowest, highest = _REVIEW_BOUNDS
    review = min(max(1.0 - 1.0 / max(error_cost, 1.0), lowest), highest)
    return Thresholds(auto=round(1.0 - (1.0 - review) / _AUDIT_LEVERAGE, 4), review=round(review, 4))


def rules_for_costs(error_costs: Mapping[str, float]) -> PolicyRules:
    """Return the rules that a document type starts with: thresholds by what an error in each field costs.

    `error_costs` maps field paths (rows as `*`) to costs; any other field is taken to cost one look.
    """
    return PolicyRules(
        default=thresholds_for_cost(1.0),
        fields={path: thresholds_for_cost(cost) for path, cost in error_costs.items()},
    )


_SHARES = ("audit_auto_share", "audit_sampled_share", "full_examination_share")
_KEYS = ("default", "fields", *_SHARES, "salt", "directed")


def _problems(data: object) -> list[tuple[str, str]]:
    if not isinstance(data, Mapping):
        return [("", "must be an object")]
    problems = [(_pointer(key), "is not a known key") for key in data if key not in _KEYS]
    if "default" in data:
        problems += _threshold_problems("/default", data["default"])
    fields = data.get("fields", {})
    if not isinstance(fields, Mapping):
        problems.append(("/fields", "must be an object"))
    else:
        for path, limits in fields.items():
            if not isinstance(path, str) or not path.startswith("/"):
                problems.append((f"/fields{_pointer(path)}", "must be a field path that starts with /"))
            problems += _threshold_problems(f"/fields{_pointer(path)}", limits)
    for key in _SHARES:
        if key in data and not (_is_number(data[key]) and 0 < data[key] <= 1):
            problems.append((f"/{key}", "must be a number above 0 and at most 1"))
    if data.get("directed") is not None:
        problems += _directed_problems(data["directed"])
    if "salt" in data and not (isinstance(data["salt"], str) and data["salt"]):
        problems.append(("/salt", "must be a text that is not empty"))
    return problems


def _threshold_problems(pointer: str, limits: object) -> list[tuple[str, str]]:
    if not isinstance(limits, Mapping):
        return [(pointer, "must be an object with the keys auto and review")]
    problems = [(pointer + _pointer(key), "is not a known key") for key in limits if key not in ("auto", "review")]
    problems += [(f"{pointer}/{key}", "is required") for key in ("auto", "review") if key not in limits]
    if problems:
        return problems
    auto, review = limits["auto"], limits["review"]
    if auto is not None and not _is_share(auto):
        problems.append((f"{pointer}/auto", "must be a number from 0 to 1, or null for never"))
    if not _is_share(review):
        problems.append((f"{pointer}/review", "must be a number from 0 to 1"))
    if not problems and auto is not None and review > auto:
        problems.append((f"{pointer}/review", "must not be above auto"))
    return problems


def _directed_problems(directed: object) -> list[tuple[str, str]]:
    names = ("floor_share", "scale")
    if not isinstance(directed, Mapping) or set(directed) != set(names):
        return [("/directed", "must be an object with the keys floor_share and scale")]
    return [
        (f"/directed/{name}", "must be a number above 0 and at most 1")
        for name in names
        if not (_is_number(directed[name]) and 0 < directed[name] <= 1)
    ]


def _is_number(value: object) -> TypeGuard[float]:
    # bool is an int to Python, yet `true` in a policy is a mistake.
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_share(value: object) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _pointer(key: object) -> str:
    return "/" + str(key).replace("~", "~0").replace("/", "~1")
