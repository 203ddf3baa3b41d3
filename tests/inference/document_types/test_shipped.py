import pytest
from jsonschema import Draft202012Validator

from inference.document_types import SHIPPED, shipped_document_type, shipped_schema
from inference.types import FieldSpec, ValueType, validate_document_type, validate_values


def leaves(name: str) -> list[FieldSpec]:
    spec = shipped_document_type(name)
    return [*spec.fields, *(column for group in spec.groups for column in group.columns)]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_types_are_valid(name: str) -> None:
    schema = shipped_schema(name)
    validate_document_type(schema)
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_types_speak_english_and_chinese_everywhere(name: str) -> None:
    spec = shipped_document_type(name)
    labels = [spec.labels, *(group.labels for group in spec.groups), *(leaf.labels for leaf in leaves(name))]
    assert all(set(label) >= {"en", "zh"} for label in labels)
    assert all(any(ord(character) > 0x2E80 for character in label["zh"]) for label in labels)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_fields_have_keywords_in_both_languages(name: str) -> None:
    for leaf in leaves(name):
        assert any(word.isascii() for word in leaf.keywords), leaf.path
        assert any(not word.isascii() for word in leaf.keywords), leaf.path


@pytest.mark.parametrize("name", SHIPPED)
def test_no_keyword_speaks_for_and_against_the_same_field(name: str) -> None:
    for leaf in leaves(name):
        assert not set(leaf.keywords) & set(leaf.keywords_against), leaf.path


@pytest.mark.parametrize("name", SHIPPED)
def test_keywords_are_lower_case_and_listed_once(name: str) -> None:
    for leaf in leaves(name):
        for words in (leaf.keywords, leaf.keywords_against, leaf.keywords_inside):
            assert len(set(words)) == len(words), leaf.path
            assert [word.lower() for word in words] == list(words), leaf.path


def test_receipt_has_the_four_fields_that_others_script_against() -> None:
    spec = shipped_document_type("receipt")
    assert {field.path: field.value_type for field in spec.fields} == {
        "/company": ValueType.NAME,
        "/date": ValueType.DATE,
        "/address": ValueType.ADDRESS,
        "/total": ValueType.AMOUNT,
    }
    assert all(field.is_required for field in spec.fields)
    assert spec.groups == ()
    assert spec.locale == "en-MY"


def test_invoice_has_single_fields_and_line_items() -> None:
    spec = shipped_document_type("invoice")
    assert [field.path for field in spec.fields] == [
        "/number", "/date", "/seller", "/buyer", "/net", "/tax", "/gross",
    ]  # fmt: skip
    (items,) = spec.groups
    assert items.path == "/line_items"
    assert [column.path for column in items.columns] == ["/description", "/quantity", "/unit_price", "/amount"]


def test_a_wrong_total_costs_more_than_a_wrong_name() -> None:
    cost = {field.path: field.error_cost for field in shipped_document_type("receipt").fields}
    assert cost["/total"] > cost["/date"] > cost["/company"]


def test_canonical_values_satisfy_the_receipt_schema() -> None:
    values = {"company": "A", "date": "2018-03-19", "address": "B", "total": "12.50"}
    assert validate_values(shipped_schema("receipt"), values) == []
    found = validate_values(shipped_schema("receipt"), {**values, "total": None})
    assert [(item.field_path, item.code) for item in found] == [("/total", "required")]


def test_each_call_returns_a_schema_of_its_own() -> None:
    shipped_schema("receipt")["properties"].clear()
    assert shipped_schema("receipt")["properties"]


@pytest.mark.parametrize("name", ["", "contract", "../receipt"])
def test_an_unknown_name_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        shipped_schema(name)
    with pytest.raises(KeyError):
        shipped_document_type(name)
