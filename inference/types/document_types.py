"""A document type is a JSON Schema (2020-12) with `x-` hints: validated with exact messages, parsed to specs."""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from inference.errors import DocumentTypeError
from inference.types.cross_rules import CrossRule, parse_rules, with_messages
from inference.types.fields import FieldSpec, GroupSpec, ValueType
from inference.types.geometry import BBox
from inference.types.hints import CONTAINER_HINTS, LEAF_HINTS, TYPE_HINTS, Problem, check_regex, hint_problems, pointer
from inference.types.rule_problems import rule_problems

LEAF_TYPES = ("string", "number", "integer")
COMBINERS = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if")
DEFAULT_LOCALE = "en"
DEFAULT_OUTPUT_LIMIT = 1024


@dataclass(frozen=True, slots=True)
class DocumentTypeSpec:
    """A parsed document type: single `fields`, repeated `groups`, `rules` between them, what holds for all of them.

    `locale` decides day-first dates and decimal marks; `output_limit` bounds a language model's answer, in tokens.
    """

    fields: tuple[FieldSpec, ...]
    groups: tuple[GroupSpec, ...] = ()
    locale: str = DEFAULT_LOCALE
    output_limit: int = DEFAULT_OUTPUT_LIMIT
    labels: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[CrossRule, ...] = ()

    def spec_of(self, field_path: str) -> FieldSpec | None:
        """Return the spec behind a field path ("/total", "/line_items/3/amount"), or None."""
        for spec in self.fields:
            if spec.path == field_path:
                return spec
        for group in self.groups:
            row = re.match(re.escape(group.path) + r"/\d+(?=/)", field_path)
            if row:
                rest = field_path[row.end() :]
                return next((column for column in group.columns if column.path == rest), None)
        return None


class SchemaProblem(NamedTuple):
    """One way in which values break their schema. `message` never repeats the value itself."""

    field_path: str
    code: str
    message: str


def _types_of(node: Mapping[str, Any]) -> set[str]:
    declared = node.get("type", [])
    names = {declared} if isinstance(declared, str) else set(declared)
    return names - {"null"}


def _kind(node: Mapping[str, Any]) -> str:
    """Return "object", "array", "leaf" or "" (unsupported)."""
    types = _types_of(node)
    if types in ({"object"}, {"array"}):
        return types.pop()
    return "leaf" if types and types <= set(LEAF_TYPES) else ""


def _required_problems(node: Mapping[str, Any], base: str) -> Iterator[Problem]:
    for position, name in enumerate(node.get("required", [])):
        if name not in node.get("properties", {}):
            yield pointer(base, "required", position), f"required names {name!r}, which is no property"


def _missing_label(node: Mapping[str, Any], base: str) -> Iterator[Problem]:
    if "x-label" not in node:
        yield pointer(base, "x-label"), 'x-label is missing: say what people should read, as {"en": …, "zh": …}'


def _leaf_problems(node: Mapping[str, Any], base: str) -> Iterator[Problem]:
    yield from _missing_label(node, base)
    yield from hint_problems(node, base, LEAF_HINTS)
    if "x-id-scheme" in node and node.get("x-value-type") != ValueType.ID:
        yield pointer(base, "x-id-scheme"), 'x-id-scheme needs "x-value-type": "id"'
    if "pattern" in node and (message := check_regex(node["pattern"])):
        yield pointer(base, "pattern"), f"pattern {message}"


def _array_problems(node: Mapping[str, Any], base: str) -> Iterator[Problem]:
    yield from _missing_label(node, base)
    yield from hint_problems(node, base, CONTAINER_HINTS)
    items = node.get("items")
    if not isinstance(items, Mapping) or _kind(items) != "object":
        yield pointer(base, "items"), "a repeated group needs items of type object whose properties are its columns"
        return
    yield from hint_problems(items, pointer(base, "items"), CONTAINER_HINTS)
    yield from _properties_problems(items, pointer(base, "items"), allow_nesting=False)


def _properties_problems(node: Mapping[str, Any], base: str, *, allow_nesting: bool) -> Iterator[Problem]:
    """Walk one object's properties; inside a repeated group (`allow_nesting` false) only leaves may stand."""
    properties = node.get("properties")
    if not properties:
        yield pointer(base, "properties"), "an object needs at least one property"
        return
    yield from _required_problems(node, base)
    for name, child in properties.items():
        at = pointer(base, "properties", name)
        if not isinstance(child, Mapping):
            yield at, "must be an object that describes the field"
            continue
        combiner = next((key for key in COMBINERS if key in child), None)
        if combiner:
            yield pointer(at, combiner), f"{combiner} is not supported in a document type"
            continue
        match _kind(child):
            case "leaf":
                yield from _leaf_problems(child, at)
            case "object" if allow_nesting:
                yield from hint_problems(child, at, CONTAINER_HINTS)
                yield from _properties_problems(child, at, allow_nesting=True)
            case "array" if allow_nesting:
                yield from _array_problems(child, at)
            case "object" | "array":
                yield pointer(at, "type"), "a row of a repeated group may hold only single values"
            case _:
                yield pointer(at, "type"), f"type must be {', '.join(LEAF_TYPES)}, object or array (null may be added)"


def _schema_problems(schema: Mapping[str, Any]) -> list[Problem]:
    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=FormatChecker())
    problems = []
    for error in meta.iter_errors(schema):
        leaf = _deepest(error)
        problems.append((pointer("", *leaf.absolute_path), f"not valid JSON Schema: {leaf.message}"))
    return list(dict.fromkeys(problems))


def _deepest(error: ValidationError) -> ValidationError:
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return error


def validate_document_type(schema: object) -> None:
    """Raise DocumentTypeError with every problem of `schema`, each with its JSON Pointer; return when it is usable."""
    if not isinstance(schema, Mapping):
        raise DocumentTypeError([("", "a document type must be a JSON object")])
    problems = _schema_problems(schema)
    if not problems:
        if _types_of(schema) != {"object"}:
            problems.append(("/type", 'the root must have "type": "object"'))
        problems += [(f"/{key}", f"{key} is not supported in a document type") for key in COMBINERS if key in schema]
        problems += _missing_label(schema, "")
        problems += hint_problems(schema, "", TYPE_HINTS)
        problems += _properties_problems(schema, "", allow_nesting=True)
        problems += rule_problems(schema)
    if problems:
        raise DocumentTypeError(problems)


def _field_spec(node: Mapping[str, Any], path: str, locale: str, *, is_required: bool) -> FieldSpec:
    fallback = ValueType.TEXT if "string" in _types_of(node) else ValueType.NUMBER
    region = node.get("x-region")
    return FieldSpec(
        path=path,
        value_type=ValueType(node.get("x-value-type", fallback)),
        is_required=is_required,
        labels=dict(node["x-label"]),
        keywords=tuple(node.get("x-keywords", ())),
        keywords_against=tuple(node.get("x-keywords-against", ())),
        keywords_inside=tuple(node.get("x-keywords-inside", ())),
        region=BBox(*(float(part) for part in region)) if region else None,
        pattern=node.get("x-pattern", node.get("pattern")),
        max_lines=node.get("x-max-lines", 1),
        error_cost=float(node.get("x-error-cost", 1.0)),
        is_high_value=node.get("x-high-value", False),
        is_personal=node.get("x-personal", False),
        locale=locale,
        id_scheme=node.get("x-id-scheme"),
    )


def _walk(
    node: Mapping[str, Any], base: str, locale: str, fields: list[FieldSpec], groups: list[GroupSpec], *, within: bool
) -> None:
    """Collect specs in schema order; a field is required only where everything around it is too (`within`)."""
    for name, child in node["properties"].items():
        path = pointer(base, name)
        is_required = within and name in node.get("required", ())
        match _kind(child):
            case "object":
                _walk(child, path, locale, fields, groups, within=is_required)
            case "array":
                items = child["items"]
                columns = tuple(
                    _field_spec(column, pointer("", key), locale, is_required=key in items.get("required", ()))
                    for key, column in items["properties"].items()
                )
                groups.append(GroupSpec(path, columns, is_required, dict(child["x-label"])))
            case _:
                fields.append(_field_spec(child, path, locale, is_required=is_required))


def parse_document_type(schema: Mapping[str, Any]) -> DocumentTypeSpec:
    """Turn a schema into specs; raise DocumentTypeError when `validate_document_type` would."""
    validate_document_type(schema)
    locale = schema.get("x-locale", DEFAULT_LOCALE)
    fields: list[FieldSpec] = []
    groups: list[GroupSpec] = []
    _walk(schema, "", locale, fields, groups, within=True)
    rules = parse_rules(schema)
    return DocumentTypeSpec(
        fields=tuple(with_messages(spec, spec.path, rules) for spec in fields),
        groups=tuple(_group_with_messages(group, rules) for group in groups),
        rules=rules,
        locale=locale,
        output_limit=schema.get("x-output-limit", DEFAULT_OUTPUT_LIMIT),
        labels=dict(schema["x-label"]),
    )


def _group_with_messages(group: GroupSpec, rules: Sequence[CrossRule]) -> GroupSpec:
    columns = (with_messages(column, f"{group.path}/*{column.path}", rules) for column in group.columns)
    return replace(group, columns=tuple(columns))


def _as_numbers(node: Mapping[str, Any], instance: Any) -> Any:  # noqa: ANN401
    """Return a copy whose canonical number strings are numbers wherever the schema asks for numbers."""
    if isinstance(instance, Mapping):
        children = node.get("properties", {})
        return {key: _as_numbers(children.get(key, {}), value) for key, value in instance.items()}
    if isinstance(instance, list):
        return [_as_numbers(node.get("items", {}), row) for row in instance]
    types = _types_of(node)
    if isinstance(instance, str) and types and types <= {"number", "integer"}:
        try:
            number = Decimal(instance)
        except InvalidOperation:
            return instance
        if not number.is_finite():
            return instance
        return int(number) if number == number.to_integral_value() else float(number)
    return copy.copy(instance)


def _message(error: ValidationError) -> str:
    """Say which rule is broken without repeating the value: these messages may be logged."""
    match error.validator:
        case "required":
            return "is required and absent"
        case "additionalProperties":
            return "has properties that the document type does not know"
        case _:
            return f"breaks {error.validator}: {error.validator_value!r}"


def validate_values(schema: Mapping[str, Any], values: Mapping[str, Any]) -> list[SchemaProblem]:
    """Check a document's values (canonical strings, nested as the schema says) against its type (B2).

    `code` is the broken JSON Schema keyword ("required", "pattern", "minimum", …). A null counts as absent.
    """
    present = _without_nulls(_as_numbers(schema, values))
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    problems = []
    for error in validator.iter_errors(present):
        path = pointer("", *error.absolute_path)
        if error.validator == "required":
            known = error.validator_value
            absent = [name for name in known if name not in error.instance]
            problems += [SchemaProblem(pointer(path, name), "required", _message(error)) for name in absent]
        else:
            problems.append(SchemaProblem(path, str(error.validator), _message(error)))
    return sorted(set(problems))


def _without_nulls(instance: Any) -> Any:  # noqa: ANN401
    if isinstance(instance, Mapping):
        return {key: _without_nulls(value) for key, value in instance.items() if value is not None}
    if isinstance(instance, list):
        return [_without_nulls(row) for row in instance]
    return instance
