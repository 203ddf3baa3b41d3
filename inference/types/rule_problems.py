"""What is wrong with the `x-rules` of a document type: every problem with its JSON Pointer and the remedy."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inference.types.cross_rules import ANY_ROW, RuleKind, is_in_rows, parse_tolerance
from inference.types.fields import ValueType
from inference.types.hints import Problem, check_count, check_label, did_you_mean, pointer

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
NUMERIC = frozenset({ValueType.AMOUNT, ValueType.NUMBER})
DATES = frozenset({ValueType.DATE})
# Kind -> (keys that must be there, keys that may be), beside rule, name and message.
KEYS: Mapping[RuleKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    RuleKind.SUM: (("of", "equals"), ("tolerance",)),
    RuleKind.PRODUCT: (("of", "equals"), ("tolerance",)),
    RuleKind.IN_ORDER: (("of",), ()),
    RuleKind.NOT_IN_FUTURE: (("field",), ("days",)),
}
FEWEST_OPERANDS = {RuleKind.SUM: 1, RuleKind.PRODUCT: 2, RuleKind.IN_ORDER: 2}


def rule_problems(schema: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with a schema's `x-rules`, each with its JSON Pointer; whatever else the schema holds."""
    rules = schema.get("x-rules", [])
    if not isinstance(rules, list):
        return [("/x-rules", "x-rules must be a list of rules")]
    known = dict(_declared(schema, ""))
    problems: list[Problem] = []
    names: set[str] = set()
    for number, rule in enumerate(rules):
        at = pointer("/x-rules", number)
        if not isinstance(rule, Mapping):
            problems.append((at, "a rule must be an object"))
            continue
        problems += _name_problems(rule, at, names)
        problems += _rule_problems(rule, at, known)
    return problems


def _declared(node: Mapping[str, Any], base: str) -> Iterator[tuple[str, object]]:
    """Yield every field path with its value type as written; what is no valid schema is passed over."""
    properties = node.get("properties")
    for name, child in properties.items() if isinstance(properties, Mapping) else ():
        path = pointer(base, name)
        if not isinstance(child, Mapping):
            continue
        if isinstance(items := child.get("items"), Mapping):
            yield from _declared(items, f"{path}/*")
        elif "properties" in child:
            yield from _declared(child, path)
        else:
            types = child.get("type", ())
            fallback = ValueType.TEXT if "string" in types else ValueType.NUMBER
            yield path, child.get("x-value-type", fallback)


def _name_problems(rule: Mapping[str, Any], at: str, names: set[str]) -> Iterator[Problem]:
    name = rule.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield pointer(at, "name"), "name must be lower-case letters, digits and _, at most 40, such as rows_add_up"
    elif name in names:
        yield pointer(at, "name"), f"another rule is named {name!r} already"
    else:
        names.add(name)
    if (message := check_label(rule.get("message"))) is not None:
        yield pointer(at, "message"), f"message {message}"


def _rule_problems(rule: Mapping[str, Any], at: str, known: Mapping[str, object]) -> Iterator[Problem]:
    named = rule.get("rule")
    kinds = [str(kind) for kind in RuleKind]
    if not isinstance(named, str) or named not in kinds:
        yield pointer(at, "rule"), f"unknown rule {named!r}{did_you_mean(named, kinds)}; known: {', '.join(kinds)}"
        return
    kind = RuleKind(named)
    needed, optional = KEYS[kind]
    allowed = ("rule", "name", "message", *needed, *optional)
    for key in rule:
        if key not in allowed:
            yield pointer(at, key), f"{named} has no {key!r}{did_you_mean(key, allowed)}; known: {', '.join(allowed)}"
    missing = [key for key in needed if key not in rule]
    for key in missing:
        yield pointer(at, key), f"{named} needs {key!r}"
    if "tolerance" in rule and parse_tolerance(rule["tolerance"]) is None:
        yield pointer(at, "tolerance"), 'tolerance must be a number from 0 on, such as "0.01"'
    if "days" in rule and rule["days"] != 0 and check_count(rule["days"]) is not None:
        yield pointer(at, "days"), "days must be an integer from 0 on"
    if not missing:
        yield from _path_problems(kind, rule, at, known)


def _path_problems(kind: RuleKind, rule: Mapping[str, Any], at: str, known: Mapping[str, object]) -> Iterator[Problem]:
    fewest = FEWEST_OPERANDS.get(kind, 0)
    operands = rule.get("of", [])
    if not isinstance(operands, list) or len(operands) < fewest:
        yield pointer(at, "of"), f"of must be a list of at least {fewest} field paths"
        return
    named = [(pointer(at, "of", number), path) for number, path in enumerate(operands)]
    named += [(pointer(at, key), rule[key]) for key in ("equals", "field") if key in rule]
    wanted = DATES if kind.is_of_dates else NUMERIC
    is_sound = True
    for place, path in named:
        if path not in known if isinstance(path, str) else True:
            yield place, f"no field has the path {path!r}{did_you_mean(path, known)}"
            is_sound = False
        elif known[path] not in wanted:
            what = " or ".join(sorted(str(value_type) for value_type in wanted))
            yield place, f"{path} must have the x-value-type {what} for {kind}"
            is_sound = False
    if is_sound and (message := _row_problem(kind, [path for _, path in named])) is not None:
        yield at, message


def _row_problem(kind: RuleKind, paths: Sequence[str]) -> str | None:
    """Return why a rule's columns cannot be taken row by row, or None."""
    is_by_row = any(map(is_in_rows, paths)) if kind.is_of_dates else is_in_rows(paths[-1])
    groups = {path.partition(ANY_ROW)[0] for path in paths if is_in_rows(path)}
    if is_by_row and len(groups) > 1:
        return f"a rule within rows may name columns of one group only, not of {', '.join(sorted(groups))}"
    if kind is RuleKind.PRODUCT and groups and not is_by_row:
        return 'a product of columns needs a column as its result: "equals" with a "*"'
    return None
