import copy

import pytest

from inference.errors import DocumentTypeError
from inference.types import (
    BBox,
    ValueType,
    parse_document_type,
    validate_document_type,
)
from tests.inference.types.schemas import a_schema, label, with_leaf


def problems_of(schema: object) -> dict[str, str]:
    with pytest.raises(DocumentTypeError) as caught:
        validate_document_type(schema)
    return dict(caught.value.problems)


def test_a_full_schema_is_accepted_and_left_alone() -> None:
    schema = a_schema()
    before = copy.deepcopy(schema)
    validate_document_type(schema)
    assert schema == before


def test_fields_keep_schema_order_and_nested_objects_become_paths() -> None:
    spec = parse_document_type(a_schema())
    assert [field.path for field in spec.fields] == ["/name", "/total", "/party/phone"]
    assert [group.path for group in spec.groups] == ["/items"]
    assert [column.path for column in spec.groups[0].columns] == ["/text", "/count"]


def test_every_hint_reaches_the_spec() -> None:
    total = parse_document_type(a_schema()).spec_of("/total")
    assert total is not None
    assert total.value_type is ValueType.AMOUNT
    assert total.error_cost == 20.0
    assert total.keywords == ("total", "合计")
    assert total.keywords_against == ("subtotal",)
    assert total.keywords_inside == ("RM",)
    assert total.region == BBox(0.5, 0.4, 1.0, 1.0)
    assert total.pattern == r"\d"
    assert total.labels == {"en": "Total", "zh": "字段"}
    assert total.locale == "en-MY"
    assert not total.is_required


def test_type_level_hints_reach_the_spec() -> None:
    spec = parse_document_type(a_schema())
    assert (spec.locale, spec.output_limit, spec.labels["en"]) == ("en-MY", 512, "Thing")


def test_defaults_hold_where_hints_are_absent() -> None:
    schema = {
        "type": "object",
        "x-label": label(),
        "properties": {
            "a": {"type": "string", "x-label": label()},
            "n": {"type": ["integer", "null"], "x-label": label()},
        },
    }
    spec = parse_document_type(schema)
    text, number = spec.fields
    assert (spec.locale, spec.output_limit) == ("en", 1024)
    assert (text.value_type, number.value_type) == (ValueType.TEXT, ValueType.NUMBER)
    assert (text.max_lines, text.error_cost, text.region, text.pattern) == (1, 1.0, None, None)
    assert not text.is_high_value


def test_a_field_may_be_marked_high_value() -> None:
    assert parse_document_type(with_leaf(**{"x-high-value": True})).fields[0].is_high_value


def test_json_schema_pattern_is_the_hint_when_there_is_no_other() -> None:
    spec = parse_document_type(with_leaf(pattern="^A"))
    assert spec.fields[0].pattern == "^A"
    spec = parse_document_type(with_leaf(pattern="^A", **{"x-pattern": "B"}))
    assert spec.fields[0].pattern == "B"


def test_a_field_is_required_only_when_everything_around_it_is() -> None:
    schema = a_schema()
    assert not parse_document_type(schema).fields[2].is_required
    schema["required"].append("party")
    assert parse_document_type(schema).fields[2].is_required
    assert parse_document_type(schema).fields[0].is_required


def test_group_and_columns_know_whether_they_are_required() -> None:
    group = parse_document_type(a_schema()).groups[0]
    assert group.is_required
    assert [column.is_required for column in group.columns] == [True, False]


def test_spec_of_finds_columns_by_row_path() -> None:
    spec = parse_document_type(a_schema())
    assert spec.spec_of("/items/12/count") is spec.groups[0].columns[1]
    assert spec.spec_of("/items/12/absent") is None
    assert spec.spec_of("/items/count") is None
    assert spec.spec_of("/nothing") is None


def test_names_with_slashes_and_tildes_are_escaped_in_paths() -> None:
    schema = a_schema(required=[])
    schema["properties"] = {"a/b~c": {"type": "string", "x-label": label()}}
    assert parse_document_type(schema).fields[0].path == "/a~1b~0c"


@pytest.mark.parametrize("schema", [None, [], "object", 3, True])
def test_only_an_object_is_a_document_type(schema: object) -> None:
    assert problems_of(schema) == {"": "a document type must be a JSON object"}


def test_invalid_json_schema_is_reported_at_its_place() -> None:
    schema = a_schema()
    schema["properties"]["name"]["minLength"] = -1
    problems = problems_of(schema)
    assert list(problems) == ["/properties/name/minLength"]
    assert problems["/properties/name/minLength"].startswith("not valid JSON Schema: ")


def test_an_unknown_json_type_is_invalid_schema() -> None:
    schema = a_schema()
    schema["properties"]["name"]["type"] = "text"
    assert "/properties/name/type" in problems_of(schema)


@pytest.mark.parametrize("root", ["array", "string", ["object", "array"]])
def test_root_must_be_an_object(root: object) -> None:
    assert problems_of(a_schema(type=root))["/type"] == 'the root must have "type": "object"'


@pytest.mark.parametrize("properties", [{}, None])
def test_a_type_without_fields_is_refused(properties: object) -> None:
    schema = a_schema(required=[])
    schema.pop("properties")
    if properties is not None:
        schema["properties"] = properties
    assert problems_of(schema) == {"/properties": "an object needs at least one property"}


@pytest.mark.parametrize(
    ("hint", "suggestion"),
    [
        ("x-keyword", "x-keywords"),
        ("x-valuetype", "x-value-type"),
        ("x-maxlines", "x-max-lines"),
        ("x-lable", "x-label"),
        ("x-keywords-agains", "x-keywords-against"),
        ("x-errorcost", "x-error-cost"),
    ],
)
def test_a_misspelt_hint_names_the_one_that_was_meant(hint: str, suggestion: str) -> None:
    message = problems_of(with_leaf(**{hint: ["a"]}))[f"/properties/name/{hint}"]
    assert message.startswith(f"{hint}: unknown hint (did you mean {suggestion!r}?)")
    assert "allowed here: " in message


def test_a_strange_hint_lists_what_is_allowed_without_guessing() -> None:
    message = problems_of(with_leaf(**{"x-qqqqqqqq": 1}))["/properties/name/x-qqqqqqqq"]
    assert "did you mean" not in message
    assert "x-keywords" in message


@pytest.mark.parametrize("hint", ["x-locale", "x-output-limit"])
def test_a_type_level_hint_has_no_effect_on_a_field(hint: str) -> None:
    assert "has no effect here" in problems_of(with_leaf(**{hint: "en"}))[f"/properties/name/{hint}"]


def test_a_field_hint_has_no_effect_on_a_group() -> None:
    schema = a_schema()
    schema["properties"]["items"]["x-keywords"] = ["item"]
    assert "has no effect here" in problems_of(schema)["/properties/items/x-keywords"]


def test_unknown_value_type_suggests_a_known_one() -> None:
    message = problems_of(with_leaf(**{"x-value-type": "ammount"}))["/properties/name/x-value-type"]
    assert message.startswith("x-value-type unknown value type 'ammount' (did you mean 'amount'?); known: ")
    assert "currency" in message


@pytest.mark.parametrize(
    ("region", "why"),
    [
        ([0, 0, 1], "must be four numbers"),
        ("all", "must be four numbers"),
        ([0, 0, 1, True], "must be four numbers"),
        ([0, 0, 1, 1.2], "between 0 and 1"),
        ([-0.1, 0, 1, 1], "between 0 and 1"),
        ([0.5, 0, 0.5, 1], "x0 < x1"),
        ([0, 0.9, 1, 0.1], "y0 < y1"),
    ],
)
def test_a_bad_region_says_what_is_wrong(region: object, why: str) -> None:
    assert why in problems_of(with_leaf(**{"x-region": region}))["/properties/name/x-region"]


def test_a_bad_regular_expression_is_refused_in_either_place() -> None:
    assert "is not a regular expression" in problems_of(with_leaf(**{"x-pattern": "(a"}))["/properties/name/x-pattern"]
    assert "/properties/name/pattern" in problems_of(with_leaf(pattern="(a"))


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        ("x-error-cost", 0),
        ("x-error-cost", "high"),
        ("x-error-cost", True),
        ("x-max-lines", 0),
        ("x-max-lines", 1.5),
        ("x-max-lines", True),
        ("x-keywords", "total"),
        ("x-keywords", ["total", ""]),
        ("x-keywords-against", [1]),
        ("x-pattern", 3),
        ("x-label", "Total"),
        ("x-label", {"zh": "合计"}),
        ("x-label", {"en": " "}),
    ],
)
def test_a_hint_of_the_wrong_shape_is_refused(hint: str, value: object) -> None:
    assert list(problems_of(with_leaf(**{hint: value}))) == [f"/properties/name/{hint}"]


@pytest.mark.parametrize(
    ("hint", "value"), [("x-locale", "english"), ("x-locale", "EN-my"), ("x-locale", 1), ("x-output-limit", 0)]
)
def test_a_wrong_type_level_hint_is_refused(hint: str, value: object) -> None:
    assert list(problems_of(a_schema(**{hint: value}))) == [f"/{hint}"]


@pytest.mark.parametrize("locale", ["en", "en-MY", "zh-CN", "zh-Hant-TW", "es-419"])
def test_language_tags_are_accepted(locale: str) -> None:
    assert parse_document_type(a_schema(**{"x-locale": locale})).locale == locale


def test_missing_labels_are_reported_for_type_field_group_and_column() -> None:
    schema = a_schema()
    del schema["x-label"]
    del schema["properties"]["name"]["x-label"]
    del schema["properties"]["items"]["x-label"]
    del schema["properties"]["items"]["items"]["properties"]["text"]["x-label"]
    assert sorted(problems_of(schema)) == [
        "/properties/items/items/properties/text/x-label",
        "/properties/items/x-label",
        "/properties/name/x-label",
        "/x-label",
    ]


def test_required_must_name_properties_at_every_level() -> None:
    schema = a_schema(required=["name", "nam"])
    schema["properties"]["items"]["items"]["required"] = ["price"]
    problems = problems_of(schema)
    assert problems["/required/1"] == "required names 'nam', which is no property"
    assert "/properties/items/items/required/0" in problems


def test_all_problems_are_listed_at_once() -> None:
    schema = with_leaf(**{"x-keyword": ["a"], "x-region": [0], "x-value-type": "nombre"})
    schema["required"] = ["absent"]
    assert len(problems_of(schema)) == 4


@pytest.mark.parametrize(
    ("node", "at"),
    [
        ({"type": "boolean", "x-label": {"en": "A"}}, "/properties/name/type"),
        ({"x-label": {"en": "A"}}, "/properties/name/type"),
        ({"type": ["string", "object"], "x-label": {"en": "A"}}, "/properties/name/type"),
        ({"$ref": "#/properties/total"}, "/properties/name/$ref"),
        ({"anyOf": [{"type": "string"}]}, "/properties/name/anyOf"),
        (True, "/properties/name"),
        ({"type": "array", "x-label": {"en": "A"}, "items": {"type": "string"}}, "/properties/name/items"),
        ({"type": "array", "x-label": {"en": "A"}}, "/properties/name/items"),
        ({"type": "object", "properties": {}}, "/properties/name/properties"),
    ],
)
def test_unsupported_shapes_are_refused_where_they_stand(node: object, at: str) -> None:
    schema = a_schema()
    schema["properties"]["name"] = node
    assert at in problems_of(schema)


@pytest.mark.parametrize("inner", ["object", "array"])
def test_rows_hold_only_single_values(inner: str) -> None:
    schema = a_schema()
    rows = schema["properties"]["items"]["items"]["properties"]
    rows["deep"] = {"type": inner, "x-label": label(), "properties": {"a": {"type": "string", "x-label": label()}}}
    at = "/properties/items/items/properties/deep/type"
    assert problems_of(schema) == {at: "a row of a repeated group may hold only single values"}


def test_parse_refuses_what_validation_refuses() -> None:
    with pytest.raises(DocumentTypeError):
        parse_document_type({"type": "object"})


def test_the_error_message_is_readable_and_coded() -> None:
    error = DocumentTypeError([("", "first"), ("/a", "second")])
    assert str(error) == "/: first; /a: second"
    assert error.code == "invalid_document_type"
